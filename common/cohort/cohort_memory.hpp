// SPDX-License-Identifier: BSD-3-Clause
// The memory that the processes of a cohort share in addition to the memory of the hand-off (docs/publish/mpi.md). This
// memory shows which parts of a step are written, and why the cohort failed. The memory exists as long as the cohort.
// All processes of a cohort run the same release of Ringside.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "common/handoff/handoff_layout.hpp"

namespace ringside {

/// Describes one process's part of the step in one buffer. Each PartLine has a cache line of its own (64 bytes), so
/// that no two processes write to the same line.
struct alignas(64) PartLine {
  std::uint64_t iteration = 0;
  std::int64_t generate_ns = 0;
  std::int64_t idle_ns = 0;
  std::int64_t written_at_ns = 0;  // CLOCK_MONOTONIC
};

/// The reason why a member cannot continue. Each member has its own line.
struct alignas(64) FailureLine {
  std::uint32_t code = 0;  // an ExitCode
  char line[1020] = {};
};

struct CohortHead {
  // 0: no member has failed. Otherwise, this is 1 + the index of the member that failed first, and the FailureLine of
  // that member is complete.
  alignas(64) std::atomic<std::uint32_t> failed{0};

  // The state of the whole run. The first member receives this state from other nodes and writes it here; the other
  // members read it.
  alignas(64) std::atomic<std::uint64_t> global_iteration{0};
  std::atomic<std::uint64_t> global_persisted{0};
  std::atomic<std::uint64_t> waited{0};  // encoded as in messages between nodes (mpi/counters.hpp)

  // The member that publishes a step writes these words. No other member publishes until all have arrived at the next
  // step.
  alignas(64) std::int64_t complete_at_ns = 0;  // when the newest published step was complete (CLOCK_MONOTONIC)
  std::atomic<std::int64_t> idle_ns{0};         // the node's total wait for its analyzer

  /// The number of parts that all processes together have written into a buffer since the beginning.
  struct alignas(64) Arrived {
    std::atomic<std::uint64_t> parts{0};
  };
  Arrived arrived[kMaxBuffers];
};
static_assert(std::is_standard_layout_v<CohortHead> && sizeof(CohortHead) == 3 * 64 + 64 * kMaxBuffers);
static_assert(sizeof(PartLine) == 64 && sizeof(FailureLine) == 1024);

/// The memory contains a CohortHead, then one FailureLine for each member, then the PartLines: one for each member for
/// buffer 0, one for each member for buffer 1, ...
constexpr std::size_t part_lines_offset(std::size_t members) noexcept {
  return sizeof(CohortHead) + members * sizeof(FailureLine);
}
constexpr std::size_t cohort_memory_bytes(std::size_t members, std::size_t buffers) noexcept {
  return part_lines_offset(members) + members * buffers * sizeof(PartLine);
}

}  // namespace ringside
