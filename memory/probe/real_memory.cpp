// SPDX-License-Identifier: BSD-3-Clause
#include "memory/probe/real_memory.hpp"

#include <immintrin.h>
#include <sys/mman.h>

#include <new>

namespace ringside::probe {
namespace {

constexpr std::size_t kHuge = 2 << 20;

}  // namespace

RealMemory::RealMemory(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

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
  (void)madvise(reinterpret_cast<void*>(first), whole, MADV_HUGEPAGE);  // small pages also work, with more noise
  for (Address page = first; page < first + bytes; page += 4096) *MachineClock::word_at(page) = 1;
  for (Address line = first; line < first + bytes; line += 64) _mm_clflush(reinterpret_cast<void*>(line));
  _mm_mfence();
  return first;
}

void RealMemory::lay(const std::vector<Address>& lines) {
  for (std::size_t i = 0; i < lines.size(); ++i) *MachineClock::word_at(lines[i]) = lines[(i + 1) % lines.size()];
  chain_ = lines.front();
  chain_lines_ = lines.size();
}

double RealMemory::lap(Access access) {
  const std::size_t laps = std::max<std::size_t>(1, 4096 / chain_lines_);
  const std::size_t accesses = laps * chain_lines_;
  Address at = chain_;
  const std::uint64_t begin = MachineClock::ticks();
  if (access == Access::kRead) {
    for (std::size_t i = 0; i < accesses; ++i) at = *MachineClock::word_at(at);
  } else {
    for (std::size_t i = 0; i < accesses; ++i) {
      const Address next = *MachineClock::word_at(at);
      *MachineClock::word_at(at + 8) = next;
      at = next;
    }
  }
  const std::uint64_t end = MachineClock::ticks();
  chain_ = at;
  return static_cast<double>(end - begin) * clock_.tick_ns() / static_cast<double>(accesses);
}

}  // namespace ringside::probe
