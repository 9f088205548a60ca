// SPDX-License-Identifier: BSD-3-Clause
#include "memory/arena/granule_table.hpp"

#include <errno.h>
#include <sys/mman.h>

#include "memory/system/raw.hpp"

namespace ringside::memory {

constinit GranuleTable table;

namespace {

// A fixed address, so that address traces repeat exactly. It is far from the addresses that the kernel gives to
// programs, heaps and libraries. ThreadSanitizer accepts no address there, so in its builds the kernel chooses the
// address.
constexpr uint64_t kFixedAddress = uint64_t{0x2000'0000'0000};
constexpr uint64_t kPlaceBytes = uint64_t{1} << 44;  // the largest arena; the last place ends at 0x5000'0000'0000

#if defined(__SANITIZE_THREAD__)
constexpr bool kAnyAddress = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
constexpr bool kAnyAddress = true;
#else
constexpr bool kAnyAddress = false;
#endif
#else
constexpr bool kAnyAddress = false;
#endif

}  // namespace

long GranuleTable::start(uint64_t bytes) noexcept {
  const long flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  long at = -EEXIST;
  // The length includes space for an allocation's largest alignment, so the kernel may place the arena anywhere.
  const auto length = static_cast<long>(bytes + kMostAlignment);
  if (!kAnyAddress) {
    at = raw(SYS_mmap, static_cast<long>(kFixedAddress + place_ * kPlaceBytes), length, PROT_READ | PROT_WRITE,
             flags | MAP_FIXED_NOREPLACE, -1, 0);
  }
  if (at < 0 && at > -4096) at = raw(SYS_mmap, 0, length, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (at < 0 && at > -4096) return at;
  const uint64_t first = (static_cast<uint64_t>(at) + kMostAlignment - 1) & ~(kMostAlignment - 1);
  if (first != static_cast<uint64_t>(at)) raw(SYS_munmap, at, static_cast<long>(first - static_cast<uint64_t>(at)));
  const uint64_t end = first + bytes, mapped_end = static_cast<uint64_t>(at + length);
  if (end != mapped_end) raw(SYS_munmap, static_cast<long>(end), static_cast<long>(mapped_end - end));
  base_ = reinterpret_cast<char*>(first);
  bytes_ = bytes;
  divide_arena();
  words_ = static_cast<std::atomic<Word>*>(map_table((bytes_ >> kPageShift) * sizeof(Word)));
  sizes_ = static_cast<std::atomic<uint8_t>*>(map_table(pieces()));
  advice_ = static_cast<std::atomic<uint8_t>*>(map_table(pieces()));
  protection_ = static_cast<std::atomic<int8_t>*>(map_table(pieces()));
  neighbours_ = static_cast<std::atomic<int8_t>*>(map_table(pieces()));
  const bool all = words_ != nullptr && sizes_ != nullptr && advice_ != nullptr && protection_ != nullptr &&
                   neighbours_ != nullptr;
  return all ? 0 : -ENOMEM;
}

void GranuleTable::divide_arena() const noexcept {
  keep_movable(base_, bytes_);
  constexpr uint64_t kLeastStripe = 32 * kPiece, kMostStripes = 2048;  // the kernel allows 65530 mappings
  uint64_t stripe = kLeastStripe;
  while (bytes_ / stripe > kMostStripes) stripe *= 2;
  divide(base_, bytes_, stripe);
}

long GranuleTable::adopt() noexcept {
  const long at = raw(SYS_mmap, as_long(base_), static_cast<long>(bytes_), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (at != as_long(base_)) return at < 0 && at > -4096 ? at : -EEXIST;
  divide_arena();
  walls_.store(0, std::memory_order_relaxed);
  for (uint32_t piece = 0; piece < pieces(); ++piece) {
    if (sizes_[piece].load() == 0) continue;
    for (uint32_t page = piece * kPagesPerPiece; page < (piece + 1) * kPagesPerPiece; ++page) {
      const State state = state_of(words_[page].load(std::memory_order_relaxed));
      if (state != kFree && state != kZero) words_[page].store(kAbsent, std::memory_order_relaxed);
    }
  }
  return 0;
}

void GranuleTable::stop() noexcept {
  unmap_table(words_, (bytes_ >> kPageShift) * sizeof(Word));
  unmap_table(sizes_, pieces());
  unmap_table(advice_, pieces());
  unmap_table(protection_, pieces());
  unmap_table(neighbours_, pieces());
  unmap_table(base_, bytes_);
  words_ = nullptr;
  sizes_ = advice_ = nullptr;
  protection_ = neighbours_ = nullptr;
  base_ = nullptr;
  bytes_ = 0;
  walls_.store(0, std::memory_order_relaxed);
}

void GranuleTable::close(uint32_t granule, Word word) const noexcept {
  if ((words_[granule].exchange(word) & kWaiters) != 0) wake_all(&words_[granule]);
}

void GranuleTable::wait(uint32_t granule, Word seen) const noexcept {
  std::atomic<Word>& here = words_[granule];
  for (int round = 0; round < 200; ++round) {  // most owners finish within a few microseconds
    if (here.load(std::memory_order_acquire) != seen) return;
    pause_core();
  }
  if ((seen & kWaiters) == 0 && !here.compare_exchange_strong(seen, seen | kWaiters)) return;
  // The kernel compares only 32 bits. State, flags and waiters are in the lower half of the word.
  sleep_while(&here, static_cast<uint32_t>(seen | kWaiters));
}

Word GranuleTable::claim_surely(uint32_t granule, State owned) const noexcept {
  for (;;) {
    const Word seen = words_[granule].load(std::memory_order_acquire);
    const State state = state_of(seen);
    if (state == kFree) return kFree;
    if (state == kLoading || state == kLeaving) {
      wait(granule, seen);
    } else if (claim(granule, seen, owned)) {
      return seen;
    }
  }
}

long GranuleTable::restore(uint32_t page, uint32_t pages, const UserFault& userfault) noexcept {
  const auto length = static_cast<long>(static_cast<uint64_t>(pages) << kPageShift);
  const long at = raw(SYS_mmap, as_long(address(page)), length, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (at < 0 && at > -4096) return at;
  keep_movable(address(page), static_cast<uint64_t>(length));
  const long watched = userfault.watch(address(page), static_cast<size_t>(length));
  return watched < 0 ? watched : raw(SYS_mprotect, at, length, PROT_READ | PROT_WRITE);
}

void GranuleTable::wall(uint32_t page) noexcept {
  walls_.fetch_add(1);
  raw(SYS_mprotect, as_long(address(page)), kPage, PROT_NONE);
}

void GranuleTable::open_walls(uint32_t page, uint32_t pages) noexcept {
  if (walls_.load() == 0) return;
  raw(SYS_mprotect, as_long(address(page)), static_cast<long>(static_cast<uint64_t>(pages) << kPageShift),
      PROT_READ | PROT_WRITE);
}

}  // namespace ringside::memory
