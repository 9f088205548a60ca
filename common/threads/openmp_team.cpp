// SPDX-License-Identifier: BSD-3-Clause
#include "common/threads/openmp_team.hpp"

#include <omp.h>

#include <algorithm>

namespace ringside {

OpenMpTeam::OpenMpTeam() noexcept : threads_(omp_get_max_threads()) {}

std::uint64_t OpenMpTeam::pieces(std::uint64_t units, std::uint64_t) const noexcept {
  return std::clamp<std::uint64_t>(units, 1, static_cast<std::uint64_t>(threads_));
}

void OpenMpTeam::share_out(std::uint64_t pieces, Job job) noexcept {
  // A parallel region of one thread takes 0.6 us: libgomp allocates a team, and wakes it with a system call.
  if (pieces <= 1 || threads_ == 1) {
    for (std::uint64_t piece = 0; piece < pieces; ++piece) job.call(job.work, piece, 0);
    return;
  }
#pragma omp parallel for schedule(static, 1) num_threads(threads_)
  for (std::uint64_t piece = 0; piece < pieces; ++piece) job.call(job.work, piece, omp_get_thread_num());
}

}  // namespace ringside
