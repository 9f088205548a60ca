// SPDX-License-Identifier: BSD-3-Clause
// The bytes that the processes of a team share beside the hand-off's (docs/publish/mpi.md): who has written which part
// of which step, and why the team has failed. They live as long as the team, whose processes are of one release.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "common/handoff/handoff_layout.hpp"

namespace ringside {

/// One process's part of the step in one buffer. 64: a cache line, so that two processes do not share one.
struct alignas(64) PartLine {
  std::uint64_t iteration = 0;
  std::int64_t generate_ns = 0;
  std::int64_t idle_ns = 0;
  std::int64_t written_at_ns = 0;  // CLOCK_MONOTONIC
};

/// Why a member found that the team cannot go on. Each member has its own.
struct alignas(64) FailureLine {
  std::uint32_t code = 0;  // an ExitCode
  char line[1020] = {};
};

struct TeamHead {
  // 0: no member has failed. Else 1 + the index of the member whose FailureLine counts, which is complete.
  alignas(64) std::atomic<std::uint32_t> failed{0};

  // Where the whole run stands, as the first member learns it from other nodes; the others read it.
  alignas(64) std::atomic<std::uint64_t> global_iteration{0};
  std::atomic<std::uint64_t> global_persisted{0};
  std::atomic<std::uint64_t> waited{0};  // as it travels (mpi/counters.hpp)

  // Written by the member that publishes: no other one can, until all have arrived at the step after.
  alignas(64) std::int64_t complete_at_ns = 0;  // when the step published last was complete: CLOCK_MONOTONIC
  std::atomic<std::int64_t> idle_ns{0};         // of all published steps

  /// How many parts were ever written into a buffer, by all processes.
  struct alignas(64) Arrived {
    std::atomic<std::uint64_t> parts{0};
  };
  Arrived arrived[kMaxBuffers];
};
static_assert(std::is_standard_layout_v<TeamHead> && sizeof(TeamHead) == 3 * 64 + 64 * kMaxBuffers);
static_assert(sizeof(PartLine) == 64 && sizeof(FailureLine) == 1024);

/// A TeamHead, the FailureLines by member, then the PartLines: those of buffer 0 by member, those of buffer 1, ...
constexpr std::size_t part_lines_offset(std::size_t members) noexcept {
  return sizeof(TeamHead) + members * sizeof(FailureLine);
}
constexpr std::size_t team_memory_bytes(std::size_t members, std::size_t buffers) noexcept {
  return part_lines_offset(members) + members * buffers * sizeof(PartLine);
}

}  // namespace ringside
