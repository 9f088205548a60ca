// SPDX-License-Identifier: BSD-3-Clause
#include "tests/crash/scenarios/scattered_team.hpp"

#include <omp.h>

#include <algorithm>
#include <array>

namespace ringside::crash {
namespace {

constexpr std::uint64_t kMostPieces = 64;

}  // namespace

std::uint64_t ScatteredTeam::pieces(std::uint64_t units, std::uint64_t) const noexcept {
  return std::clamp<std::uint64_t>(units, 1, kMostPieces);
}

void ScatteredTeam::share_out(std::uint64_t pieces, Job job) noexcept {
  std::array<int, kMostPieces> thread_of;
  for (std::uint64_t piece = 0; piece < pieces; ++piece) {
    thread_of[piece] = static_cast<int>(random_.below(static_cast<std::uint64_t>(threads_)));
  }
#pragma omp parallel num_threads(threads_)
  for (std::uint64_t piece = pieces; piece-- > 0;) {
    if (thread_of[piece] == omp_get_thread_num()) job.call(job.work, piece, omp_get_thread_num());
  }
}

}  // namespace ringside::crash
