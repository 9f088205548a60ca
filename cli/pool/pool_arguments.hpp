// SPDX-License-Identifier: BSD-3-Clause
// Arguments of the commands that read a pool: iteration numbers, the pool or journal for a name (which may be a ranks
// file or a folder with the rings of several nodes, docs/publish/mpi.md), and summaries of `ringside run`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/json/json.hpp"
#include "common/ring/ring_recovery.hpp"

namespace ringside {

/// Parses `text`. Throws Error (exit code 2), whose text names `option` and what would be accepted.
std::uint64_t parse_iteration(const std::string& text, const std::string& option,
                              const std::string& accepted = "a number");

/// The iterations between --from and --to.
struct IterationRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  bool contains(std::uint64_t iteration) const noexcept { return iteration >= first && iteration <= last; }
};

/// from, to: the values of these options; empty: no bound. Throws Error (exit code 2).
IterationRange parse_range(const std::string& from, const std::string& to);

/// "kept are 3 to 10", for a message about an iteration that is not kept. Requires at least one kept iterate.
std::string kept_iterations(const Recovery& recovery);

/// The continuation of that message: "; the pool's archive keeps iteration 14: give PATH as the pool", if the archive,
/// to which triggers copied steps, has iterations of the range. Else "".
std::string in_the_archive(const std::string& pool, const Recovery& recovery, const IterationRange& range);

/// `name` itself, or the only pool that it names: the ranks of one node have one pool. Throws Error: exit code 2 for
/// the rings of several nodes, with the names of their pools; the error of RingSet if they cannot be used.
std::string one_pool_of(const std::string& name);

/// `name` itself, or the only pool that it names. For the rings of several nodes: the journal of the whole run, which
/// is beside the pool of the first node. Throws Error like one_pool_of; but for the rings of several nodes, only if
/// this journal does not exist.
std::string one_journal_of(const std::string& name);

/// The file's text if the file begins like a JSON object; else empty, because the file may be a pool. expected: the
/// files that the command accepts, for messages. Throws Error: exit code 2 if the file cannot be opened, or is a text
/// of more than 1 MiB; 3 if reading fails.
std::optional<std::string> read_json_object(const std::string& path, std::string_view expected);

/// Throws Error (exit code 2) with the file's name if the text is not JSON.
Json parse_summary(const std::string& text, const std::string& path);

/// Throws Error (exit code 2) with the file's name if it is not a summary of a run.
void check_summary(const Json& summary, const std::string& path);

}  // namespace ringside
