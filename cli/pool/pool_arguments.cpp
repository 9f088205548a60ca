// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pool/pool_arguments.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "common/files/regular_file.hpp"
#include "common/journal/journal_files.hpp"
#include "common/platform/error.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "common/ranks/node_address.hpp"
#include "common/node_rings/ring_set.hpp"
#include "common/text/decimal.hpp"
#include "common/text/printable.hpp"
#include "common/triggers/pool_freeze.hpp"

namespace ringside {
namespace {

/// The only pool or journal that `name` names. journal: whether the journal of a whole run may be the result.
std::string one_of(const std::string& name, bool journal) {
  if (!names_rings(name)) return name;
  const RingSet set = RingSet::open(name);
  if (set.nodes().size() == 1) {
    set.expect_all();
    return set.nodes().front().path;
  }
  std::string pools;
  for (const NodeRing& node : set.nodes()) {
    const std::string whole = node.path + kGlobalSuffix;
    if (journal && !journal_files_there(whole).empty()) return whole;
    pools += (pools.empty() ? "" : ", ") + node.path;
  }
  throw usage_error("{}: found the rings of {} nodes{}, expected one of their pools: {}", name, set.nodes().size(),
                    journal ? " without a journal of the whole run" : "", pools);
}

}  // namespace

std::uint64_t parse_iteration(const std::string& text, const std::string& option, const std::string& accepted) {
  // Only digits are accepted: a sign, a prefix or a number that is too large could otherwise select another iteration.
  const std::optional<std::uint64_t> iteration = whole_number(text);
  if (!iteration) {
    throw usage_error("{}: found '{}', expected {} (a number is from 0 to {})", option, shortened(text), accepted,
                      std::numeric_limits<std::uint64_t>::max());
  }
  return *iteration;
}

IterationRange parse_range(const std::string& from, const std::string& to) {
  IterationRange range{0, std::numeric_limits<std::uint64_t>::max()};
  if (!from.empty()) range.first = parse_iteration(from, "--from");
  if (!to.empty()) range.last = parse_iteration(to, "--to");
  if (range.first > range.last) {
    throw usage_error("--from {} --to {}: expected a range that does not end before it begins", from, to);
  }
  return range;
}

std::string kept_iterations(const Recovery& recovery) {
  return fmt::format("kept are {} to {}", recovery.kept.front().header.iteration,
                     recovery.kept.back().header.iteration);
}

std::string in_the_archive(const std::string& pool, const Recovery& recovery, const IterationRange& range) {
  try {
    const std::string path = archive_path(pool);
    const RingReader archive = RingReader::open(path, std::chrono::milliseconds(0));
    std::vector<SlotHeader> found;
    for (const KeptSlot& kept : archive.recover().kept) {
      if (range.contains(kept.header.iteration)) found.push_back(kept.header);
    }
    if (found.empty()) return {};
    const bool other_run = std::none_of(recovery.kept.begin(), recovery.kept.end(), [&](const KeptSlot& kept) {
      return kept.header.run_id == found.back().run_id;
    });
    const std::string which = found.size() == 1 ? fmt::format("iteration {}", found.front().iteration)
                                                : fmt::format("{} of them, iterations {} to {}", found.size(),
                                                              found.front().iteration, found.back().iteration);
    return fmt::format("; the pool's archive keeps {}{}: give {} as the pool", which,
                       other_run ? " of another run" : "", path);
  } catch (const Error&) {  // there is no readable archive
    return {};
  }
}

std::string one_pool_of(const std::string& name) {
  return one_of(name, false);
}

std::string one_journal_of(const std::string& name) {
  return one_of(name, true);
}

std::optional<std::string> read_json_object(const std::string& path, std::string_view expected) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;  // a summary has about 2 KiB
  const RegularFile file = open_input(path);
  if (!file.valid()) {
    throw usage_error("{}: cannot be opened: {}; expected {}", path, file.why(), expected);
  }
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t got = 0; (got = read(file.fd.get(), buffer.data(), buffer.size())) != 0;) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw system_error("{}: cannot be read: {}", path, errno_text(errno));
    text.append(buffer.data(), static_cast<std::size_t>(got));
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first != std::string::npos && text[first] != '{') return std::nullopt;
    if (text.size() > kMostBytes) {
      throw usage_error("{}: more than {} bytes; expected {}", path, kMostBytes, expected);
    }
  }
  return text.find('{') == std::string::npos ? std::nullopt : std::optional(text);
}

Json parse_summary(const std::string& text, const std::string& path) {
  Json summary = Json::try_parse(text);
  if (summary.is_discarded()) {
    throw usage_error("{}: found neither a pool nor a summary; expected a pool or a --summary of `ringside run`", path);
  }
  return summary;
}

void check_summary(const Json& summary, const std::string& path) {
  if (summary.is_object() && summary.contains("run_id") && summary.contains("generate_s")) return;
  throw usage_error("{}: this JSON is not a summary of `ringside run`: it has no run_id and generate_s", path);
}

}  // namespace ringside
