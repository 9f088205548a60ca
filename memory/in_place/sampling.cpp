// SPDX-License-Identifier: BSD-3-Clause
#include "memory/in_place/sampling.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <time.h>

#include "memory/arena/granule_table.hpp"
#include "memory/in_place/in_place.hpp"
#include "memory/system/raw.hpp"

namespace ringside::memory {

constinit Sampling sampling;

namespace {

constexpr uint64_t kWake = 1, kEnd = uint64_t{1} << 32;
constexpr int64_t kLeastPeriodNs = 10'000'000, kMostPeriodNs = 1'000'000'000;
constexpr uint8_t kLastFour = 0x0f;

}  // namespace

int Sampling::start() noexcept {
  if (!in_place.possible()) return 0;
  ended_ = false;
  rover_ = colds_ = 0;
  const long map = out_of_the_way(raw(SYS_openat, AT_FDCWD, as_long("/proc/self/pagemap"), O_RDONLY | O_CLOEXEC));
  if (map < 0) return static_cast<int>(-map);
  pagemap_ = static_cast<int>(map);
  const long made = out_of_the_way(raw(SYS_eventfd2, 0, O_CLOEXEC));
  if (made < 0) {
    raw(SYS_close, pagemap_);
    pagemap_ = -1;
    return static_cast<int>(-made);
  }
  wake_ = static_cast<int>(made);
  const SignalsBlocked blocked;  // the new thread inherits this mask, so it handles no signals
  const int error = pthread_create(&thread_, nullptr, run, this);
  if (error != 0) forget();
  return error;
}

void Sampling::stop() noexcept {
  if (wake_ < 0) return;
  raw(SYS_write, wake_, as_long(&kEnd), sizeof kEnd);
  pthread_join(thread_, nullptr);
  forget();
}

void Sampling::forget() noexcept {
  if (wake_ >= 0) raw(SYS_close, wake_);
  if (pagemap_ >= 0) raw(SYS_close, pagemap_);
  wake_ = pagemap_ = -1;
}

void Sampling::wake() noexcept {
  if (wake_ >= 0) raw(SYS_write, wake_, as_long(&kWake), sizeof kWake);
}

void* Sampling::run(void* self) noexcept {
  static_cast<Sampling*>(self)->serve();
  return nullptr;
}

// Returns false if the thread must end. `ns` below 0: sleeps until the thread is woken.
bool Sampling::sleep_for(int64_t ns) noexcept {
  pollfd ready{wake_, POLLIN, 0};
  timespec time{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  if (raw(SYS_ppoll, as_long(&ready), 1, as_long(ns < 0 ? nullptr : &time), 0, 0) > 0) {
    uint64_t value = 0;
    raw(SYS_read, wake_, as_long(&value), sizeof value);
    ended_ = ended_ || value >= kEnd;
  }
  return !ended_;
}

void Sampling::serve() noexcept {
  int64_t period_ns = kLeastPeriodNs;
  while (sleep_for(in_place.bytes.load() == 0 ? -1 : 0)) {
    if (in_place.bytes.load() == 0) continue;
    if (!InPlace::may_move()) {
      if (!sleep_for(kMostPeriodNs)) return;
      continue;
    }
    const uint64_t begin = now_ns();
    const uint32_t chosen = choose();
    uint32_t kept = 0;
    for (uint32_t i = 0; i < chosen; ++i) {
      if (in_place.forget_touches(pieces_[i])) pieces_[kept++] = pieces_[i];
    }
    const uint64_t zapped = now_ns();
    if (!sleep_for(period_ns)) return;
    const uint64_t looked = now_ns();
    // Copies may take at most a tenth of the time, and do not count as costs of the sampling.
    const uint64_t move_until = looked + static_cast<uint64_t>(period_ns) / 10;
    for (uint32_t i = 0; i < kept; ++i) look(pieces_[i], move_until);
    keep_to_share();
    const uint64_t spent = zapped - begin + (now_ns() - looked);
    period_ns = static_cast<int64_t>(spent * 50);
    if (period_ns < kLeastPeriodNs) period_ns = kLeastPeriodNs;
    if (period_ns > kMostPeriodNs) period_ns = kMostPeriodNs;
  }
}

// Chooses the next pieces in place, each at most once.
uint32_t Sampling::choose() noexcept {
  uint32_t found = 0;
  const uint32_t pieces = table.pieces();
  for (uint32_t looked = 0; looked < pieces && found < kPieces; ++looked) {
    if (rover_ >= pieces) rover_ = 0;
    if (in_place.holds(rover_ * kPagesPerPiece)) pieces_[found++] = rover_;
    ++rover_;
  }
  return found;
}

void Sampling::look(uint32_t piece, uint64_t move_until_ns) noexcept {
  uint64_t entries[kPagesPerPiece];
  const auto first_page = reinterpret_cast<uintptr_t>(table.address(piece * kPagesPerPiece)) >> kPageShift;
  const long got = raw(SYS_pread64, pagemap_, as_long(entries), sizeof entries,
                       static_cast<long>(first_page * sizeof(uint64_t)));
  if (got != static_cast<long>(sizeof entries)) return;
  const uint32_t shift = in_place.chunk_shift(), chunks = kPagesPerPiece >> shift;
  for (uint32_t i = 0; i < chunks; ++i) {
    bool touched = false;
    for (uint32_t page = i << shift; page < (i + 1) << shift; ++page) touched = touched || entries[page] >> 63 != 0;
    const uint32_t chunk = piece * chunks + i;
    const auto history = static_cast<uint8_t>(in_place.history(chunk).load() << 1 | (touched ? 1 : 0));
    in_place.history(chunk).store(history);
    in_place.sampled.fetch_add(1, std::memory_order_relaxed);
    if (touched) in_place.touched.fetch_add(1, std::memory_order_relaxed);
    if (in_place.promoted(chunk)) {
      if ((history & kLastFour) == 0 && colds_ < sizeof cold_ / sizeof *cold_) cold_[colds_++] = chunk;
      continue;
    }
    if (__builtin_popcount(history & kLastFour) < 2 || now_ns() > move_until_ns || !make_room()) continue;
    // a promoted chunk has the time of four samples in which it can be touched again
    if (in_place.promote(chunk)) in_place.history(chunk).store(kLastFour);
  }
}

// A touched chunk takes DRAM only from an untouched chunk.
bool Sampling::make_room() noexcept {
  while (!in_place.has_room()) {
    if (colds_ == 0) return false;
    const uint32_t chunk = cold_[--colds_];
    if ((in_place.history(chunk).load() & kLastFour) == 0) in_place.demote(chunk);
  }
  return true;
}

// This is needed if the cached part has grown, or if the limit is lower than before.
void Sampling::keep_to_share() noexcept {
  while (colds_ > 0 && in_place.over_share()) in_place.demote(cold_[--colds_]);
}

}  // namespace ringside::memory
