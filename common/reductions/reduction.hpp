// SPDX-License-Identifier: BSD-3-Clause
// The reductions of every iterate: norms, extremes, the change against the previous iterate, a histogram, the largest
// entries. One pass over memory computes all of them, in blocks that fit the first-level cache: one loop computes all
// sums and extremes of a block, and the other reductions read the block while it is in that cache. Results do not
// depend on the number of threads or on the instruction set: each sum of a block consists of 16 running sums, which are
// added in a fixed order, and blocks are combined in their order with compensated addition. docs/inside/kernels.md
// defines the results, also for NaN and infinity, and describes how to add a reduction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "common/kernels/copy.hpp"
#include "common/reductions/kernels/reduction_record.hpp"

namespace ringside {

/// The number of blocks in a piece for an elastic team: 1 MiB of f64, which are swept in about 40 us.
inline constexpr std::uint64_t kReductionBlocksInPiece = 128;

class Team;

/// A copy of some rows, and the hash64 of its bytes.
struct StagedRows {
  const double* rows;
  std::uint64_t hash;
};

/// Computes `Reductions` with a team, or with all OpenMP threads that the process has when the object is made. The
/// iterate is either in memory (`reduce`) or is being copied chunk by chunk (`begin`, chunks, `finish`); both ways give
/// the same bits. Allocates at construction only: 64 bytes for each 1024 rows, and about 280 KiB for each thread. rows:
/// at least 1.
class Reducer {
 public:
  /// The largest number of rows that are copied at a time.
  static constexpr std::size_t kMostRows = kCopyChunkBytes / sizeof(double);
  static_assert(kMostRows % kReductionBlockRows == 0);

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

  /// Use these functions if the threads that copy the iterate also make the first sweep. Between `begin` and `finish`,
  /// each row must be passed exactly once to one of the functions below. Any thread may pass rows, in any order, in
  /// chunks of whole blocks (except the last chunk). thread: the thread's number in the team; no two threads may use
  /// the same number at the same time.
  void begin(const double* previous) noexcept;
  std::size_t threads() const noexcept;

  /// Copies `rows` rows (at most kMostRows) from `from` to `to` (64-byte aligned) with non-temporal stores, like
  /// copy_nontemporal_hashed, and reduces them in the same pass. The bytes that are stored, hashed and reduced are the
  /// same, even if another process writes to `from` meanwhile.
  std::uint64_t copy_nontemporal(std::size_t thread, double* to, const double* from, std::uint64_t first_row,
                                 std::size_t rows) noexcept;
  /// Like copy_nontemporal, but the caller must store the copy, which is valid until this thread's next call.
  StagedRows stage(std::size_t thread, const double* from, std::uint64_t first_row, std::size_t rows) noexcept;
  /// Reduces rows without copying them. x: the whole iterate; any number of rows.
  void sweep(std::size_t thread, const double* x, std::uint64_t first_row, std::uint64_t rows) noexcept;

  /// Sweeps the iterate, which is now complete at x, another `passes - 1` times. The result stays valid until the next
  /// call.
  const Reductions& finish(const double* x, int passes) noexcept;

 private:
  struct Workspace;
  std::unique_ptr<Team> own_team_;  // used if no team was given
  std::unique_ptr<Workspace> workspace_;
};

}  // namespace ringside
