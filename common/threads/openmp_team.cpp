// SPDX-License-Identifier: BSD-3-Clause
#include "common/threads/openmp_team.hpp"

#include <omp.h>

#include <algorithm>

namespace ringside {

OpenMpTeam::OpenMpTeam() : ranges_(static_cast<std::size_t>(omp_get_max_threads())) {}

std::uint64_t OpenMpTeam::pieces(std::uint64_t units, std::uint64_t grain) const noexcept {
  const std::uint64_t threads = ranges_.size();
  if (threads == 1) return 1;
  // With 16 pieces for each thread, a thread waits for at most a sixteenth of its own work at the end.
  const std::uint64_t worth_it = std::min(units / grain, 16 * threads);
  return std::clamp<std::uint64_t>(std::max(worth_it, std::min(units, threads)), 1, 16 * threads);
}

void OpenMpTeam::share_out(std::uint64_t pieces, Job job) noexcept {
  // A parallel region of one thread takes 0.6 us: libgomp allocates a team, and wakes it with a system call.
  if (pieces <= 1 || ranges_.size() == 1) {
    for (std::uint64_t piece = 0; piece < pieces; ++piece) job.call(job.work, piece, 0);
    return;
  }
  for (std::size_t thread = 0; thread < ranges_.size(); ++thread) {
    ranges_[thread].next.store(piece_begin(pieces, thread, ranges_.size()), std::memory_order_relaxed);
    ranges_[thread].end = piece_begin(pieces, thread + 1, ranges_.size());
  }
#pragma omp parallel num_threads(threads())
  {
    const int thread = omp_get_thread_num();
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      Range& range = ranges_[(static_cast<std::size_t>(thread) + i) % ranges_.size()];
      // The load spares the others' cache line once the range is empty.
      while (range.next.load(std::memory_order_relaxed) < range.end) {
        const std::uint64_t piece = range.next.fetch_add(1, std::memory_order_relaxed);
        if (piece < range.end) job.call(job.work, piece, thread);
      }
    }
  }
}

}  // namespace ringside
