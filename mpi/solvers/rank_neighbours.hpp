// SPDX-License-Identifier: BSD-3-Clause
// The other ranks of a job, for a built-in solver (producer/solver/neighbours.hpp): ghosts are exchanged while interior
// rows are computed, and sums are passed from rank to rank (docs/publish/mpi.md).
//
// The communicator's errors are fatal: MPI ends the job, because no rank can continue without the others.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "common/platform/stop_flag.hpp"
#include "producer/solver/neighbours.hpp"

namespace ringside::mpi {

/// The number of a rank among the ranks of its machine.
struct PlaceOnMachine {
  int rank = 0;
  int ranks = 1;
};

/// Rank r has the blocks [border[r], border[r + 1]). There are ranks + 1 borders.
using BlockBorders = std::vector<std::uint64_t>;

class RankNeighbours final : public Neighbours {
 public:
  /// ranks: its errors become fatal. It must outlive this object.
  explicit RankNeighbours(MPI_Comm ranks);

  int rank() const noexcept { return rank_; }
  int ranks() const noexcept { return ranks_; }
  MPI_Comm communicator() const noexcept { return comm_; }
  /// Collective.
  PlaceOnMachine place_on_machine() const;
  /// Sets which rank has which rows. Call this before the inherited functions.
  void have_rows(BlockBorders border) { border_ = std::move(border); }

  /// Returns a flag. If `stop` is set on one rank, this flag is set on all ranks, after the same later call of
  /// `in_order`.
  const volatile int* agree_on(StopFlag stop) noexcept {
    stop_ = stop;
    return &stop_agreed_;
  }

  void word(std::function<Error(const Error&)> worded) override { worded_ = std::move(worded); }
  void together(const std::function<void()>& work) override;
  ColumnEntries entries_in_own_columns(const CsrMatrix& part) override;
  CsrMatrix gathered(const CsrMatrix& part) override;
  void expect(const CsrMatrix& part, std::span<const std::uint64_t> ghosts,
              std::span<const std::uint32_t> place) override;
  void send(const double* own, double* ghosted) noexcept override;
  void receive() noexcept override;

 protected:
  void await_turn(void* state, std::size_t bytes) noexcept override;
  void pass_on(void* state, std::size_t bytes) noexcept override;

 private:
  /// The elements that each exchange sends to a rank, or receives from it: [begin, end) of the list of elements.
  struct Link {
    int rank = 0;
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  static constexpr std::size_t kWorthThreads = std::size_t{1} << 16;  // least number of elements for several threads

  /// A sum as it is passed to the next rank: all its bytes.
  struct Turn {
    std::int64_t stop = 0;
    std::array<std::byte, kMostState> state{};
  };

  int owner_of(std::uint64_t row) const noexcept;

  MPI_Comm comm_;
  std::function<Error(const Error&)> worded_;
  StopFlag stop_;
  int rank_ = 0;
  int ranks_ = 1;
  BlockBorders border_;
  volatile int stop_agreed_ = 0;
  Turn turn_;

  std::vector<Link> to_;
  std::vector<Link> from_;
  std::vector<std::uint32_t> sent_;    // the elements of this rank's vector that are sent
  std::vector<std::uint32_t> ghost_;   // places of received elements, if they are not contiguous from first_ghost_ on
  std::uint64_t first_ghost_ = 0;
  std::vector<double> outgoing_;
  std::vector<double> incoming_;       // used if ghost_ is not empty
  std::vector<MPI_Request> requests_;
  double* ghosted_ = nullptr;          // the ghosts of the exchange in progress
};

}  // namespace ringside::mpi
