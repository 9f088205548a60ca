// SPDX-License-Identifier: BSD-3-Clause
// The rings of an earlier job. A job with other ranks or nodes continues from their newest step (docs/publish/mpi.md,
// "Resuming with other ranks or nodes"). The rings are only read: each rank copies the parts that it needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/handoff/handoff_layout.hpp"
#include "common/kernels/hash.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "common/ranks/ranks_file.hpp"
#include "common/node_rings/assembly.hpp"
#include "common/node_rings/ring_set.hpp"
#include "mpi/job.hpp"
#include "mpi/rank_options.hpp"

namespace ringside::mpi {

class EarlierRings {
 public:
  /// path: a folder or a ranks file; only the first rank's path is used. own_pool: the pool of this node; only the
  /// value of the node's first rank is used. options: the options of this job; its scalars are the solver's own
  /// scalars. Agrees on the newest step that all rings hold intact. All ranks succeed, or throw the same Error: exit
  /// code 2 if rings are missing, have another problem, other variables or scalars, have no common step, or belong to
  /// this job; 3 if a ring is in use. Collective.
  EarlierRings(const Job& job, const std::string& path, const std::string& own_pool, const RankOptions& options);

  const Id128& run_id() const noexcept { return ranks_.run_id; }
  std::uint64_t iteration() const noexcept { return iteration_; }
  /// The scalars of the step, in the order of this job's scalars.
  const KeptScalars& scalars() const noexcept { return scalars_; }

  /// Copies the entries of a box of this job, row-major. Reads verify the hash, so the bytes belong to the verified
  /// step. Throws Error: exit code 2 or 3 if a pool cannot be read or another file has its path, 3 if the step was
  /// overwritten, 5 if the step is damaged. After an Error, the content of `to` must not be used.
  void copy(std::size_t variable, const Box& box, std::byte* to);

 private:
  /// A pool, and the step's place in it.
  struct Place {
    std::string pool;
    std::uint64_t commit_seq = 0;
    std::uint64_t payload_hash = 0;
  };
  /// A ring from which this rank copies.
  struct Reading {
    RingReader reader;
    KeptSlot slot;
  };

  void find_rings(const Job& job, const std::string& path, const std::string& own_pool, const RankOptions& options);
  void agree(const Job& job);
  void take_scalars(const Job& job, const std::vector<Scalar>& scalars);
  RingReader open(std::size_t node) const;
  Reading& reading(std::size_t node);
  const std::byte* fetch(std::size_t node, std::size_t variable, std::uint64_t from, std::uint64_t bytes);

  std::optional<RingSet> set_;  // on the first rank, until all agree
  RanksFile ranks_;
  std::vector<Place> places_;   // one for each node
  std::vector<std::optional<Reading>> readings_;
  std::vector<std::byte> fetched_;
  std::optional<Assembly> assembly_;
  std::uint64_t iteration_ = 0;
  KeptScalars scalars_;
};

}  // namespace ringside::mpi
