// SPDX-License-Identifier: BSD-3-Clause
// The ranks of a run: all ranks, the ranks of this rank's node, and the first ranks of the nodes. If one rank fails,
// all ranks receive the failure, so that a collective call ends in the same way on every rank.
#pragma once

#include <mpi.h>

#include <functional>
#include <string>

#include "common/platform/error.hpp"

namespace ringside::mpi {

inline constexpr int kMostNodes = 1 << 20;

/// Throws Error (exit code 2) unless MPI is initialised and may be called from this thread.
void check_may_call();

/// Throws Error (exit code 3) with MPI's own text unless `code` is MPI_SUCCESS.
void check(int code, const char* function);

/// A duplicate of a communicator. Calls with it return errors instead of ending the job. The destructor does not free
/// it, because freeing is collective.
class Communicator {
 public:
  Communicator() = default;
  explicit Communicator(MPI_Comm owned);
  void free() noexcept;

  MPI_Comm get() const noexcept { return comm_; }
  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  bool is_first() const noexcept { return rank_ == 0; }

  /// Runs `work` on every rank. If it throws an Error on some ranks, every rank throws the Error of the first of these
  /// ranks. The Error's line then begins with `name` ("rank 3") and ": " unless `name` is empty. Collective; `work`
  /// must not use this communicator.
  void together(const std::string& name, const std::function<void()>& work) const;

  /// Returns the first rank's text.
  std::string text_of_first(const std::string& text) const;
  template <class T>
  T value_of_first(T value) const {
    check(MPI_Bcast(&value, sizeof value, MPI_BYTE, 0, comm_), "MPI_Bcast");
    return value;
  }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 0;
};

struct Job {
  /// Throws Error on all ranks, or on none. Collective.
  explicit Job(MPI_Comm ranks);
  /// Ranks that share memory and `socket` form a node. Collective.
  void find_nodes(const std::string& socket);
  void free() noexcept;

  /// "rank 3"
  std::string name() const;
  /// A text such as "node 1 (ranks 2 to 3)".
  std::string node_name() const;

  Communicator all;
  Communicator node;    // the ranks of this rank's node
  Communicator firsts;  // the first ranks of the nodes; other ranks cannot use it
  int node_index = 0;   // nodes are numbered in the order of their first ranks
  int nodes = 0;
  int node_last_rank = 0;  // the rank in `all` of the node's last rank

 private:
  int node_first_rank_ = 0;
};

}  // namespace ringside::mpi
