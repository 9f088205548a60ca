// SPDX-License-Identifier: BSD-3-Clause
#include "memory/probe/real_memory.hpp"

#include <immintrin.h>
#include <sched.h>
#include <sys/mman.h>
#include <x86intrin.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <new>

#include "memory/probe/answer.hpp"

namespace ringside::probe {
namespace {

constexpr std::size_t kHuge = 2 << 20;

std::uint64_t ticks() noexcept {
  _mm_lfence();
  const std::uint64_t now = __rdtsc();
  _mm_lfence();
  return now;
}

double now_ns() noexcept {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

volatile std::uint64_t* word_at(Address address) noexcept {
  return reinterpret_cast<volatile std::uint64_t*>(address);
}

}  // namespace

RealMemory::RealMemory(std::uint64_t most_bytes) : most_bytes_(most_bytes) {
  cpu_set_t own;
  CPU_ZERO(&own);
  if (const int cpu = sched_getcpu(); cpu >= 0) {
    CPU_SET(static_cast<unsigned>(cpu), &own);
    (void)sched_setaffinity(0, sizeof own, &own);  // without it the figures are noisier, and the answers less confident
  }
  const double begin_ns = now_ns();
  const std::uint64_t begin = ticks();
  while (now_ns() - begin_ns < 2e7) {
  }
  tick_ns_ = (now_ns() - begin_ns) / static_cast<double>(ticks() - begin);

  // An empty measurement: its median is the overhead; the steps in which it comes are the resolution.
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

RealMemory::~RealMemory() {
  while (!regions_.empty()) drop_oldest();
}

void RealMemory::drop_oldest() {
  munmap(regions_.front().mapping, regions_.front().bytes);
  mapped_bytes_ -= regions_.front().bytes;
  regions_.pop_front();
}

Address RealMemory::fresh(std::uint64_t bytes) {
  const std::size_t whole = (bytes + kHuge - 1) / kHuge * kHuge;
  const std::size_t mapped = whole + kHuge;
  while (!regions_.empty() && mapped_bytes_ + mapped > 2 * most_bytes_) drop_oldest();
  void* mapping = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  regions_.push_back({mapping, mapped});
  mapped_bytes_ += mapped;
  const Address first = (reinterpret_cast<Address>(mapping) + kHuge - 1) / kHuge * kHuge;
  (void)madvise(reinterpret_cast<void*>(first), whole, MADV_HUGEPAGE);  // small pages do, with more noise
  for (Address page = first; page < first + bytes; page += 4096) *word_at(page) = 1;
  for (Address line = first; line < first + bytes; line += 64) _mm_clflush(reinterpret_cast<void*>(line));
  _mm_mfence();
  return first;
}

double RealMemory::touch(Address address, Access access) {
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

void RealMemory::lay(const std::vector<Address>& lines) {
  for (std::size_t i = 0; i < lines.size(); ++i) *word_at(lines[i]) = lines[(i + 1) % lines.size()];
  chain_ = lines.front();
  chain_lines_ = lines.size();
}

double RealMemory::lap(Access access) {
  const std::size_t laps = std::max<std::size_t>(1, 4096 / chain_lines_);
  const std::size_t accesses = laps * chain_lines_;
  Address at = chain_;
  const std::uint64_t begin = ticks();
  if (access == Access::kRead) {
    for (std::size_t i = 0; i < accesses; ++i) at = *word_at(at);
  } else {
    for (std::size_t i = 0; i < accesses; ++i) {
      const Address next = *word_at(at);
      *word_at(at + 8) = next;
      at = next;
    }
  }
  const std::uint64_t end = ticks();
  chain_ = at;
  return static_cast<double>(end - begin) * tick_ns_ / static_cast<double>(accesses);
}

}  // namespace ringside::probe
