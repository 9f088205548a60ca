// SPDX-License-Identifier: BSD-3-Clause
#include "tests/kill/pool_check.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "analyzer/pool/ring_replay.hpp"

namespace ringside::testing {
namespace {

std::optional<RingReader> open_finished(const std::string& path) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  try {
    return RingReader::open(path);
  } catch (const UnfinishedPoolError&) {
    return std::nullopt;
  }
}

}  // namespace

PoolCheck check_pool_at_rest(const std::string& path, std::uint64_t acknowledged, const IsIterate& is_iterate,
                             const Published& published) {
  PoolCheck check;
  const auto violated = [&check](const std::string& text) { check.violations.push_back(text); };
  const std::optional<RingReader> reader = open_finished(path);
  if (!reader) {
    if (acknowledged > 0) violated(fmt::format("iteration {} was committed, and there is no pool", acknowledged));
    return check;
  }

  const Recovery recovery = reader->recover();
  const RingGeometry& geometry = reader->ring().geometry();
  check.newest = recovery.newest_iteration();
  if (check.newest < acknowledged) {
    violated(
        fmt::format("an acknowledged commit is lost: iteration {}; the newest kept is {}", acknowledged, check.newest));
  }
  if (!recovery.damaged.empty()) violated(fmt::format("{} headers do not verify", recovery.damaged.size()));
  if (recovery.newest_seq() >= geometry.slot_count() && recovery.kept.size() + 1 < geometry.slot_count()) {
    violated(fmt::format("{} of {} slots hold an iterate, after {} commits", recovery.kept.size(),
                         geometry.slot_count(), recovery.newest_seq()));
  }

  std::vector<double> x(geometry.entries());
  RingReplay replay(reader->ring());
  std::uint64_t before = 0;
  for (const KeptSlot& kept : recovery.kept) {
    const std::uint64_t k = kept.header.iteration;
    // An iteration may come before the next due one if the producer was asked to end at that moment. It may come after
    // the next due one only if other iterations were skipped.
    if (before != 0 && (k <= before || (k > next_due(before, published.every) && !published.skips))) {
      violated(fmt::format("iteration {} follows {}", k, before));
    }
    before = k;
    const ReadResult read = reader->read(kept, x.data());
    if (read.status != ReadStatus::kOk) {
      violated(fmt::format("iteration {} does not verify, chunk {}", k, read.damaged_chunk));
    } else if (read.step.descriptor.iteration != k || !is_iterate(k, x.data(), geometry.entries())) {
      violated(fmt::format("iteration {} is not what the solver wrote", k));
    }
    if (replay.replay(kept).verdict == ReplayVerdict::kDiffers) {
      violated(fmt::format("the reductions recorded of iteration {} are not its own", k));
    }
    ++check.iterates_checked;
  }
  return check;
}

}  // namespace ringside::testing
