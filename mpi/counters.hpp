// SPDX-License-Identifier: BSD-3-Clause
// The first ranks of the nodes exchange three numbers about steps. They use a reduction for which no rank waits
// (docs/publish/mpi.md).
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/cohort/cohort_memory.hpp"
#include "mpi/job.hpp"

namespace ringside::mpi {

/// The node whose analyzer kept its ranks waiting longest, and the time of this wait. Both are in one number, so that a
/// maximum can be computed: microseconds × 2²⁰ + node.
struct Waited {
  std::uint32_t node = 0;
  std::int64_t ns = 0;

  std::int64_t packed() const noexcept { return ns / 1000 << 20 | node; }
  static Waited of(std::uint64_t packed) noexcept {
    return {static_cast<std::uint32_t>(packed & 0xfffff), static_cast<std::int64_t>(packed >> 20) * 1000};
  }
};
static_assert(kMostNodes <= 1 << 20);

/// The counters of a first rank. Only one thread uses an object of this class.
class Counters {
 public:
  /// firsts: must outlive this object. buffers: the number of buffers of the attachment. shown: receives the results.
  /// resumed_from: the iteration that every node already holds; 0: none.
  Counters(const Communicator& firsts, std::uint32_t buffers, std::uint64_t resumed_from, CohortHead& shown);
  ~Counters();
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;

  /// Stores the iteration of a step.
  void note_step(std::uint64_t step, std::uint64_t iteration) noexcept {
    iterations_[step % iterations_.size()] = iteration;
  }

  /// If the last exchange is over, takes its result and begins the next one. committed, persisted: numbers of steps.
  void advance(std::uint64_t committed, std::uint64_t persisted, Waited waited) noexcept;

  /// Ends all exchanges. Waits for the other first ranks, which must call this function, too. Returns MPI's code for
  /// the first fault on any first rank.
  int finish() noexcept;

 private:
  static constexpr std::uint64_t kMostBehind = 1024;  // the most commits by which a persisted step may lag

  std::uint64_t iteration_of(std::uint64_t steps) const noexcept {
    return steps == 0 ? resumed_from_ : iterations_[(steps - 1) % iterations_.size()];
  }
  /// The data that MPI reads and writes during an exchange.
  struct Exchange {
    std::array<std::int64_t, 3> sent{};
    std::array<std::int64_t, 3> received{};
  };

  void begin() noexcept;
  void take_in() noexcept;

  MPI_Comm comm_;
  const std::uint64_t resumed_from_;
  CohortHead& shown_;
  std::vector<std::uint64_t> iterations_;  // the iterations of the last steps, by step
  std::unique_ptr<Exchange> exchange_ = std::make_unique<Exchange>();
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::int64_t begun_ = 0;
  int fault_ = MPI_SUCCESS;
};

}  // namespace ringside::mpi
