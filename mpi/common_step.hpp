// SPDX-License-Identifier: BSD-3-Clause
// The step from which a run continues: the newest step that every node's ring holds intact (docs/publish/mpi.md). The
// first ranks of the nodes agree on this step before any of them attaches.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/kernels/hash.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "mpi/job.hpp"

namespace ringside::mpi {

/// The newest step of a run, up to iteration `most`, whose payload verifies.
std::optional<KeptSlot> newest_intact(const RingReader& reader, const Id128& run_id, std::uint64_t most);

/// The kept steps of the newest run of one ring.
class KeptIterations {
 public:
  /// Empty if no pool exists at `path`, or if the pool is unfinished or empty. Throws Error as RingReader::open does.
  explicit KeptIterations(const std::string& path);

  const Id128& run_id() const noexcept { return run_id_; }
  bool empty() const noexcept { return iterations_.empty(); }
  /// The newest kept iteration up to `most` whose payload verifies; 0 if there is none.
  std::uint64_t newest_intact(std::uint64_t most) const;
  /// A text such as "holds iterations 92 to 99" or "holds no step".
  std::string text() const;

 private:
  std::string path_;
  Id128 run_id_;
  std::vector<std::uint64_t> iterations_;  // ascending
};

/// The greatest iteration that all ranks propose. newest_intact(limit) returns the newest iteration up to the limit
/// that the rank holds intact; 0 if the rank holds none; or the limit itself if the rank accepts any iteration. All
/// ranks get the same result. If newest_intact throws an Error on one rank, all ranks throw it, with `name` before its
/// text. Collective.
std::uint64_t least_agreed(const Job& job, const std::string& name,
                           const std::function<std::uint64_t(std::uint64_t limit)>& newest_intact);

/// The newest iteration that all rings hold intact; 0 if no ring holds a step. pool: the path of this node's pool. All
/// ranks get the same result or Error: exit code 2 if only some rings hold steps, if the rings hold different runs, or
/// if they have no common intact iteration. Collective.
std::uint64_t newest_common_iteration(const Job& job, const std::string& pool);

}  // namespace ringside::mpi
