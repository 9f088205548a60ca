// SPDX-License-Identifier: BSD-3-Clause
// The step from which a run continues: the newest that every node's ring holds intact (docs/publish/mpi.md). The first
// ranks agree on it before any of them attaches.
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

/// The newest step of a run, up to iteration `most`, with a payload that verifies.
std::optional<KeptSlot> newest_intact(const RingReader& reader, const Id128& run_id, std::uint64_t most);

/// The kept steps of the newest run of one ring.
class KeptIterations {
 public:
  /// Empty if there is no pool at `path`, or an unfinished or empty one. Throws Error as RingReader::open.
  explicit KeptIterations(const std::string& path);

  const Id128& run_id() const noexcept { return run_id_; }
  bool empty() const noexcept { return iterations_.empty(); }
  /// The newest kept iteration up to `most` whose payload verifies; 0: none.
  std::uint64_t newest_intact(std::uint64_t most) const;
  /// "holds iterations 92 to 99", "holds no step"
  std::string text() const;

 private:
  std::string path_;
  Id128 run_id_;
  std::vector<std::uint64_t> iterations_;  // ascending
};

/// The greatest iteration that all ranks propose. newest_intact(limit): a rank's newest one up to the limit; 0: none;
/// the limit itself: the rank accepts any. All ranks get the same result, or the Error that it throws on one of them,
/// after `name`. Collective.
std::uint64_t least_agreed(const Job& job, const std::string& name,
                           const std::function<std::uint64_t(std::uint64_t limit)>& newest_intact);

/// The iteration, or 0: no ring has a step. pool: the path of this node's. All ranks get the same result or Error: exit
/// code 2 if only some rings hold steps, if these are of different runs, or if the rings hold no common intact
/// iteration. Collective.
std::uint64_t newest_common_iteration(const Job& job, const std::string& pool);

}  // namespace ringside::mpi
