// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pool/journal_identity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "analyzer/pool/pool_file.hpp"
#include "common/platform/error.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "common/records/record_message.hpp"
#include "common/ring/ring_recovery.hpp"

namespace ringside {
namespace {

std::set<Id128> ids_of(const std::vector<RunReading>& runs) {
  std::set<Id128> ids;
  for (const RunReading& reading : runs) ids.insert(reading.run.run_id);
  return ids;
}

}  // namespace

void NamedByJournal::add(const wire::Record& record) {
  newest_unix_ns = std::max(newest_unix_ns, record.unix_ns());
  if (const std::optional<Id128> run = id_of(run_id_of(record))) {
    runs.insert(*run);
    newest_run = run;
  }
  if (!record.has_run_started()) return;
  if (const std::optional<Id128> pool = id_of(record.run_started().pool_id())) pools.insert(*pool);
}

JournalIdentity identify(const NamedByJournal& journal, const std::string& pool, const RingView& ring) {
  if (!journal.newest_run || journal.pools.contains(ring.geometry().pool_id)) return {};
  const std::vector<RunReading> runs = ring.runs();
  const std::set<Id128> described = ids_of(runs);
  std::set<Id128> ours = described;
  for (const KeptSlot& kept : recover(ring).kept) ours.insert(kept.header.run_id);
  const auto is_shared = [&](const Id128& run) { return journal.runs.contains(run); };
  if (ours.empty() || std::any_of(ours.begin(), ours.end(), is_shared) || has_owner(pool)) return {};
  const bool is_older = ours.size() == described.size() && std::all_of(runs.begin(), runs.end(), [&](const auto& one) {
                          return one.run.started_realtime_ns > journal.newest_unix_ns;
                        });
  if (is_older) {
    return {.foreign = {},
            .older = fmt::format("the journal beside {} has none of the pool's runs and is older than all of them (it "
                                 "is an earlier journal of this pool, or the journal of another pool)",
                                 pool)};
  }
  return {.foreign = fmt::format(
              "the journal beside {} does not belong to this pool: none of its {} runs (the newest is {}) is one of "
              "the pool's runs{}; expected the journal that was written with the pool; move this journal away",
              pool, journal.runs.size(), to_string(*journal.newest_run),
              runs.empty() ? "" : fmt::format(" (the newest is {})", to_string(runs.back().run.run_id))),
          .older = {}};
}

JournalIdentity identify(const NamedByJournal& journal, const std::string& pool) {
  try {
    const RingReader reader = RingReader::open(pool, std::chrono::milliseconds(0));
    return identify(journal, pool, reader.ring());
  } catch (const Error&) {
    return {};
  }
}

}  // namespace ringside
