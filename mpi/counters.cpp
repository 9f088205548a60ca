// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/counters.hpp"

#include <algorithm>

namespace ringside::mpi {

Counters::Counters(const Communicator& firsts, std::uint32_t buffers, std::uint64_t resumed_from, CohortHead& shown)
    : comm_(firsts.get()), resumed_from_(resumed_from), shown_(shown), iterations_(kMostBehind + buffers) {
  shown_.global_iteration.store(resumed_from, std::memory_order_relaxed);
}

Counters::~Counters() {
  if (request_ != MPI_REQUEST_NULL) (void)exchange_.release();  // MPI still writes to this memory
}

void Counters::advance(std::uint64_t committed, std::uint64_t persisted, Waited waited) noexcept {
  if (fault_ != MPI_SUCCESS) return;  // `finish` reports the fault
  if (request_ != MPI_REQUEST_NULL) {
    int is_over = 0;
    fault_ = MPI_Test(&request_, &is_over, MPI_STATUS_IGNORE);
    if (fault_ != MPI_SUCCESS || !is_over) return;
    take_in();
  }
  // `committed` and `persisted` were read one after the other, so `persisted` may be greater. If the iteration of a
  // persisted step is so old that it cannot be found, the number of the last exchange, which is smaller, is sent again.
  // If no step is persisted, 0 is sent, because the step from which the run continues may not be on a medium.
  // Iterations are sent as negative numbers, so that the maximum gives the minimum over all nodes.
  persisted = std::min(persisted, committed);
  std::int64_t kept_persisted = exchange_->sent[1];
  if (persisted == 0) {
    kept_persisted = 0;
  } else if (committed - persisted < kMostBehind) {
    kept_persisted = -static_cast<std::int64_t>(iteration_of(persisted));
  }
  exchange_->sent = {-static_cast<std::int64_t>(iteration_of(committed)), kept_persisted, waited.packed()};
  begin();
}

void Counters::begin() noexcept {
  fault_ = MPI_Iallreduce(exchange_->sent.data(), exchange_->received.data(), static_cast<int>(exchange_->sent.size()),
                          MPI_INT64_T, MPI_MAX, comm_, &request_);
  ++begun_;
}

void Counters::take_in() noexcept {
  const auto& received = exchange_->received;
  shown_.global_iteration.store(static_cast<std::uint64_t>(-received[0]), std::memory_order_relaxed);
  // Release and acquire ensure that a reader of this number also sees the iteration that was stored above. So the
  // persisted iteration is never ahead of the committed one.
  shown_.global_persisted.store(static_cast<std::uint64_t>(-received[1]), std::memory_order_release);
  shown_.waited.store(static_cast<std::uint64_t>(received[2]), std::memory_order_relaxed);
}

int Counters::finish() noexcept {
  // If one rank has begun one exchange more than another rank, the other rank must take part in that exchange. After a
  // fault, no rank waits.
  const std::array<std::int64_t, 2> own = {begun_, fault_};
  std::array<std::int64_t, 2> most{};
  if (const int fault = MPI_Allreduce(own.data(), most.data(), 2, MPI_INT64_T, MPI_MAX, comm_); fault != MPI_SUCCESS) {
    return fault;
  }
  if (most[1] != MPI_SUCCESS) return static_cast<int>(most[1]);
  while (true) {
    if (request_ != MPI_REQUEST_NULL) {
      fault_ = MPI_Wait(&request_, MPI_STATUS_IGNORE);
      if (fault_ != MPI_SUCCESS) return fault_;
      take_in();
    }
    if (begun_ == most[0]) return MPI_SUCCESS;
    begin();
    if (fault_ != MPI_SUCCESS) return fault_;
  }
}

}  // namespace ringside::mpi
