// SPDX-License-Identifier: BSD-3-Clause
// The other processes among which a problem's rows are shared (docs/publish/mpi.md), as a solver uses them: all
// processes work together while the solver is made, and in each iteration. A process that has all rows uses `alone`,
// which does nothing.
//
// Each process has whole blocks of rows (producer/kernels/block_rows.hpp), and the processes are in the order of their
// rows. Each block's sum is computed by one process, as a single process would compute it, and `in_order` adds the sums
// of all blocks in order. So no bit depends on the number of processes.
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

/// An entry in another process's rows, in a column whose index is a row of this process.
struct ColumnEntry {
  std::uint64_t row = 0;  // a row of this process's part
  double value = 0;       // the entry's value; in a pattern: the number of entries
};

/// Entries in the order of the processes, and within a process in the order of its rows.
struct ColumnEntries {
  std::vector<ColumnEntry> before;  // entries of the processes before this one
  std::vector<ColumnEntry> after;
};

class Neighbours {
 public:
  virtual ~Neighbours() = default;

  // --- while a solver is made: every process makes the same calls ---

  /// Runs `work`, which must not call functions of this object. If it throws an Error in some processes, all processes
  /// throw the Error of the first of these processes, as an AgreedError. (A single process throws the Error unchanged.)
  virtual void together(const std::function<void()>& work) = 0;

  /// From now on `worded` makes the message of AgreedErrors, because only the process that threw knows the place in the
  /// matrix. If `worded` is null, AgreedErrors are unchanged.
  virtual void word(std::function<Error(const Error&)> worded) = 0;

  /// Returns the entries of other processes in the columns whose indices are rows of this process. part: the rows of
  /// this process, with column indices of the whole matrix. A part without values is a pattern.
  virtual ColumnEntries entries_in_own_columns(const CsrMatrix& part) = 0;

  /// Returns the whole matrix in the first process, and an empty one in the others. part: columns as in the whole
  /// matrix. Use this only for messages, because it takes the memory of the whole matrix.
  virtual CsrMatrix gathered(const CsrMatrix& part) = 0;

  /// Enables `send` and `receive`. ghosts: their numbers in the whole matrix. place: the place of element j of the
  /// exchanged vector, for own rows and ghosts; if empty, the place is j.
  virtual void expect(const CsrMatrix& part, std::span<const std::uint64_t> ghosts,
                      std::span<const std::uint32_t> place) = 0;

  // --- in each iteration ---

  /// Begins to exchange a vector: sends elements of `own`, and receives the ghosts in `ghosted`, which has own rows and
  /// ghosts. These ghosts must not be used before `receive` has returned.
  virtual void send(const double* own, double* ghosted) noexcept = 0;
  /// Waits for the ghosts. Call after each `send`.
  virtual void receive() noexcept = 0;

  /// Calls add(sums) in one process after the other; each process continues with the sums of the previous one. Before
  /// the call, `sums` is equal in all processes. On return, every process has the last process's value.
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

  /// Fills `state` with the state of the previous process, if this process is not the first.
  virtual void await_turn(void* state, std::size_t bytes) noexcept = 0;
  /// Sends `state` to the next process, and then fills it with the state of the last process.
  virtual void pass_on(void* state, std::size_t bytes) noexcept = 0;
};

/// A failure on which all processes have agreed. Its message is complete.
class AgreedError : public Error {
 public:
  using Error::Error;
};

/// The neighbours of a process that has all rows.
Neighbours& alone() noexcept;

}  // namespace ringside
