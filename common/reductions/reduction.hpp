// SPDX-License-Identifier: BSD-3-Clause
// The reductions of every iterate: norms, extremes, the change against the previous iterate, a histogram, the largest
// entries. One pass over memory computes all of them, in blocks that fit the first-level cache: one loop computes all
// sums and extremes of a block, and the other reductions read the block while it is in that cache. Results do not
// depend on the number of threads or on the instruction set: each sum of a block consists of 16 running sums, which are
// added in a fixed order, and blocks are combined in their order with compensated addition. docs/inside/kernels.md
// defines the results, also for NaN and infinity, and describes how to add a reduction.
#pragma once

#include <cstdint>
#include <memory>

#include "common/reductions/kernels/reduction_record.hpp"

namespace ringside {

/// The number of blocks in a piece for an elastic team: 1 MiB of f64, which are swept in about 40 us.
inline constexpr std::uint64_t kReductionBlocksInPiece = 128;

class Team;

/// Computes `Reductions` with a team, or with all OpenMP threads that the process has when the object is made.
/// Allocates at construction only: 64 bytes for each 1024 rows, and about 280 KiB for each thread. rows: at least
/// 1.
class Reducer {
 public:
  explicit Reducer(std::uint64_t rows);
  /// `team` must outlive this object.
  Reducer(std::uint64_t rows, Team& team);
  ~Reducer();
  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;

  /// x, previous: `rows` doubles; `previous` may be null (then no change is computed). The iterate is swept `passes`
  /// times (at least 1), and each sweep computes every reduction of x anew. Only the first sweep computes the change,
  /// which reads a second iterate. The result stays valid until the next call.
  const Reductions& reduce(const double* x, const double* previous, int passes) noexcept;

 private:
  struct Workspace;
  std::unique_ptr<Team> own_team_;  // used if no team was given
  std::unique_ptr<Workspace> workspace_;
};

}  // namespace ringside
