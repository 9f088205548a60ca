// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/counters.hpp"

#include <algorithm>

namespace ringside::mpi {

Counters::Counters(const Communicator& firsts, std::uint32_t buffers, TeamHead& shown)
    : comm_(firsts.get()), shown_(shown), iterations_(kMostBehind + buffers) {}

void Counters::advance(std::uint64_t committed, std::uint64_t persisted, Waited waited) noexcept {
  if (fault_ != MPI_SUCCESS) return;  // `finish` reports it
  int is_over = 1;
  if (request_ != MPI_REQUEST_NULL) {
    fault_ = std::max(fault_, MPI_Test(&request_, &is_over, MPI_STATUS_IGNORE));
    if (!is_over) return;
    take_in();
  }
  // Negative: of all nodes the least counts. A persisted step may be older than the iterations kept here: then the last
  // answer stands, which is less.
  const bool is_known = committed - persisted < kMostBehind;
  sent_ = {-static_cast<std::int64_t>(iteration_of(committed)),
           is_known ? -static_cast<std::int64_t>(iteration_of(persisted)) : sent_[1], waited.packed()};
  begin();
}

void Counters::begin() noexcept {
  fault_ = std::max(fault_, MPI_Iallreduce(sent_.data(), received_.data(), static_cast<int>(sent_.size()), MPI_INT64_T,
                                           MPI_MAX, comm_, &request_));
  ++begun_;
}

void Counters::take_in() noexcept {
  shown_.global_iteration.store(static_cast<std::uint64_t>(-received_[0]), std::memory_order_relaxed);
  shown_.global_persisted.store(static_cast<std::uint64_t>(-received_[1]), std::memory_order_relaxed);
  shown_.waited.store(static_cast<std::uint64_t>(received_[2]), std::memory_order_relaxed);
}

void Counters::finish(const Communicator& firsts) {
  check(fault_, "MPI_Iallreduce");
  // A rank may have begun one more exchange than another, which has to take part in it.
  std::int64_t most = 0;
  check(MPI_Allreduce(&begun_, &most, 1, MPI_INT64_T, MPI_MAX, firsts.get()), "MPI_Allreduce");
  while (true) {
    if (request_ != MPI_REQUEST_NULL) {
      check(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait");
      take_in();
    }
    if (begun_ == most) return;
    begin();
    check(fault_, "MPI_Iallreduce");
  }
}

}  // namespace ringside::mpi
