// SPDX-License-Identifier: BSD-3-Clause
// The rings of an earlier job, from whose newest step a job with other ranks or nodes continues (docs/mpi.md, "Resuming
// with other ranks or nodes"). They are only read: each rank copies what it needs of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/handoff/handoff_layout.hpp"
#include "common/kernels/hash.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "common/ranks/ranks_file.hpp"
#include "common/rings/assembly.hpp"
#include "common/rings/ring_set.hpp"
#include "mpi/job.hpp"
#include "mpi/rank_options.hpp"

namespace ringside::mpi {

class EarlierRings {
 public:
  /// path: a folder, or a ranks file; of the first rank. own_pool: of the node, on its first rank. options: of this job; their
  /// scalars are the solver's own. Agrees on the newest step that all rings hold intact. On all ranks it succeeds, or
  /// throws the same Error: exit code 2 if rings are missing, of another problem or other variables, hold no common
  /// step, or are those of this job; 3 if one is in use. Collective.
  EarlierRings(const Job& job, const std::string& path, const std::string& own_pool, const RankOptions& options);

  const Id128& run_id() const noexcept { return ranks_.run_id; }
  std::uint64_t iteration() const noexcept { return iteration_; }
  /// In the order of the scalars of this job; those that the step lacks are not present.
  const KeptScalars& scalars() const noexcept { return scalars_; }

  /// Copies the entries of a box of this job, row-major. Throws Error (exit code 2 or 3) if a pool cannot be read.
  void copy(std::size_t variable, const Box& box, std::byte* to);

  /// Throws Error (exit code 3) if a ring has overwritten the step since, (5) if a pool was truncated. Then nothing of what was
  /// copied may be used.
  void check_still_there() const;

 private:
  /// A ring that this rank reads.
  struct Reading {
    RingReader reader;
    std::optional<KeptSlot> slot;  // of the step
  };

  void find_rings(const Job& job, const std::string& path, const RankOptions& options);
  void check_others(const Job& job, const std::string& own_pool) const;
  void agree(const Job& job);
  std::uint64_t newest_intact(std::size_t node, std::uint64_t most);
  void take_scalars(const Job& job, const std::vector<Scalar>& scalars);
  Reading& reading(std::size_t node);
  std::span<const std::byte> bytes_of(std::size_t node, std::size_t variable);

  std::optional<RingSet> set_;              // on the first rank
  RanksFile ranks_;
  std::vector<std::string> pools_;          // of the nodes
  std::vector<std::uint64_t> commits_;      // of the nodes: where the step is
  std::vector<std::optional<Reading>> readings_;
  std::optional<Assembly> assembly_;
  std::uint64_t iteration_ = 0;
  KeptScalars scalars_;
};

}  // namespace ringside::mpi
