// SPDX-License-Identifier: BSD-3-Clause
// The other processes among which the rows of a problem are shared (docs/publish/mpi.md), as a solver sees them: what
// it does together with them while it is made, and in each iteration. A process that has all rows is `alone`, and does
// nothing here.
//
// Each process has whole blocks of rows (producer/kernels/block_rows.hpp), and the processes are in the order of their
// rows. So a block's sum is made by one process, as a single process would make it, and `in_order` adds the sums of all
// blocks in their order: no bit depends on the number of processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "common/platform/error.hpp"
#include "producer/matrix/csr_matrix.hpp"

namespace ringside {

/// Entries of other processes in one column, which is a row of this process.
struct ColumnEntry {
  std::uint64_t row = 0;  // of this process's part
  double value = 0;       // of one entry; of a pattern: how many entries
};

/// In the order of the processes, and of a process in that of its rows.
struct ColumnEntries {
  std::vector<ColumnEntry> before;  // of the processes before this one
  std::vector<ColumnEntry> after;
};

class Neighbours {
 public:
  virtual ~Neighbours() = default;

  // --- while a solver is made: every process makes the same calls ---

  /// Runs `work`, which calls nothing of this object. If it throws an Error in some processes, all throw that of the
  /// first, as an AgreedError. (A process that is alone throws it as it is.)
  virtual void together(const std::function<void()>& work) = 0;

  /// From then on AgreedErrors are worded(error): only the process that threw knows the place in the matrix. Null: as
  /// they are.
  virtual void word(std::function<Error(const Error&)> worded) = 0;

  /// The entries of others in the columns of this process's rows. part: columns as in the whole; without values: a
  /// pattern.
  virtual ColumnEntries entries_in_own_columns(const CsrMatrix& part) = 0;

  /// The first process gets the whole matrix, the others an empty one. part: columns as in the whole. For messages: it
  /// takes the memory of the whole.
  virtual CsrMatrix gathered(const CsrMatrix& part) = 0;

  /// From then on `send` and `receive` are possible. ghosts: their numbers in the whole. place: where element j of the
  /// vector lies that is exchanged, of own rows and ghosts; empty: at j.
  virtual void expect(const CsrMatrix& part, std::span<const std::uint64_t> ghosts,
                      std::span<const std::uint32_t> place) = 0;

  // --- in each iteration ---

  /// Begins to exchange a vector: sends elements of `own`, and lets the ghosts come to `ghosted`, which has own rows
  /// and ghosts. Until `receive` nobody else uses these ghosts.
  virtual void send(const double* own, double* ghosted) noexcept = 0;
  /// The ghosts have come. After each `send`.
  virtual void receive() noexcept = 0;

  /// Continues `sums`, equal in all processes, with add(sums) in one process after the other. Afterwards all have what
  /// the last one has.
  template <class Sums, class Add>
  void in_order(Sums& sums, const Add& add) noexcept {
    static_assert(std::is_trivially_copyable_v<Sums> && sizeof(Sums) <= kMostState);
    static_assert(std::is_nothrow_invocable_v<const Add&, Sums&>);
    await_turn(&sums, sizeof sums);
    add(sums);
    pass_on(&sums, sizeof sums);
  }

 protected:
  static constexpr std::size_t kMostState = 120;

  /// Fills `state` from the process before this one, if there is one.
  virtual void await_turn(void* state, std::size_t bytes) noexcept = 0;
  /// Gives `state` to the next process, and fills it with the last one's.
  virtual void pass_on(void* state, std::size_t bytes) noexcept = 0;
};

/// A failure that all processes have agreed on: its line is complete.
class AgreedError : public Error {
 public:
  using Error::Error;
};

/// Of a process that has all rows.
Neighbours& alone() noexcept;

}  // namespace ringside
