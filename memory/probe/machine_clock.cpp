// SPDX-License-Identifier: BSD-3-Clause
#include "memory/probe/machine_clock.hpp"

#include <immintrin.h>
#include <sched.h>
#include <x86intrin.h>

#include <algorithm>
#include <chrono>

#include "memory/probe/answer.hpp"

namespace ringside::probe {
namespace {

double now_ns() noexcept {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::uint64_t MachineClock::ticks() noexcept {
  _mm_lfence();
  const std::uint64_t now = __rdtsc();
  _mm_lfence();
  return now;
}

MachineClock::MachineClock() {
  cpu_set_t own;
  CPU_ZERO(&own);
  if (const int cpu = sched_getcpu(); cpu >= 0) {
    CPU_SET(static_cast<unsigned>(cpu), &own);
    (void)sched_setaffinity(0, sizeof own, &own);  // if it fails, figures have more noise, and answers less confidence
  }
  const double begin_ns = now_ns();
  const std::uint64_t begin = ticks();
  while (now_ns() - begin_ns < 2e7) {
  }
  tick_ns_ = (now_ns() - begin_ns) / static_cast<double>(ticks() - begin);

  // Empty measurements: their median is the overhead, and the smallest difference between them is the resolution.
  std::vector<double> empty;
  for (int i = 0; i < 2001; ++i) {
    const std::uint64_t from = ticks();
    empty.push_back(static_cast<double>(ticks() - from) * tick_ns_);
  }
  overhead_ns_ = median(empty);
  std::sort(empty.begin(), empty.end());
  double step = 0;
  for (std::size_t i = 1; i < empty.size() * 9 / 10; ++i) step = std::max(step, empty[i] - empty[i - 1]);
  resolution_ns_ = std::max({step, tick_ns_ * 8, overhead_ns_ / 4});
}

double MachineClock::touch(Address address, Access access) const {
  volatile std::uint64_t* word = word_at(address);
  _mm_mfence();
  const std::uint64_t begin = ticks();
  if (access == Access::kRead) {
    (void)*word;
  } else {
    *word = begin;
    _mm_mfence();
  }
  const std::uint64_t end = ticks();
  return std::max(0.1, static_cast<double>(end - begin) * tick_ns_ - overhead_ns_);
}

}  // namespace ringside::probe
