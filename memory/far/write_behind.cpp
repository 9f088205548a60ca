// SPDX-License-Identifier: BSD-3-Clause
#include "memory/far/write_behind.hpp"

#include <errno.h>
#include <string.h>
#include <time.h>

namespace ringside::memory {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

/// The places in a word where `count` neighbouring bits are set.
uint64_t runs_of(uint64_t bits, uint32_t count) {
  for (uint32_t left = count - 1, step = 1; left > 0 && bits != 0; step *= 2) {
    const uint32_t shift = step < left ? step : left;
    bits &= bits >> shift;
    left -= shift;
  }
  return bits;
}

uint64_t mask_of(uint32_t first_page, uint32_t bytes) {
  return (~uint64_t{0} >> (64 - (bytes >> kPageShift))) << (first_page % 64);
}

}  // namespace

void write_now(int descriptor, uint64_t offset, const char* from, size_t bytes) noexcept {
  for (size_t done = 0; done < bytes;) {
    const long got = raw(SYS_pwrite64, descriptor, as_long(from + done), static_cast<long>(bytes - done),
                         static_cast<long>(offset + done));
    if (got == -EINTR) continue;
    if (got <= 0) die("cannot write far memory", got);
    done += static_cast<size_t>(got);
  }
}

void WriteBehind::start(int descriptor) noexcept {
  descriptor_ = descriptor;
  context_ = 0;
  if (raw(SYS_io_setup, kSlots, as_long(&context_)) < 0) return;
  memory_ = static_cast<char*>(map_device_buffer(kBytes));
  if (memory_ == nullptr) raw(SYS_io_destroy, static_cast<long>(context_));
}

void WriteBehind::stop() noexcept {
  if (!any()) return;
  wait(0, UINT64_MAX);
  raw(SYS_io_destroy, static_cast<long>(context_));
  unmap_table(memory_, kBytes);
  memory_ = nullptr;
}

void WriteBehind::forget() noexcept {
  lock_.forget();
  memory_ = nullptr;  // the child has not inherited the memory
  memset(used_slots_, 0, sizeof used_slots_);
  memset(used_pages_, 0, sizeof used_pages_);
  for (Slot& slot : slots_) slot.readers = 0;
  submitted_ = 0;
  collecting_ = false;
  in_use_.store(0);
}

// --- slots

uint32_t WriteBehind::overlapping(uint64_t offset, uint64_t bytes) const noexcept {
  for (uint32_t word = 0; word < kSlots / 64; ++word) {
    for (uint64_t rest = used_slots_[word]; rest != 0; rest &= rest - 1) {
      const uint32_t number = word * 64 + static_cast<uint32_t>(__builtin_ctzll(rest));
      const Slot& slot = slots_[number];
      if (slot.phase == kDone) continue;
      if (slot.offset < offset ? offset - slot.offset < slot.bytes : slot.offset - offset < bytes) return number;
    }
  }
  return kNone;
}

// Takes the lowest free pages, so that only a small part of the buffer is populated while there are few writes in
// flight.
uint32_t WriteBehind::take_slot(uint64_t offset, uint32_t bytes) noexcept {
  uint32_t number = 0;
  while (number < kSlots && ~used_slots_[number / 64] == 0) number += 64;
  if (number == kSlots) return kNone;
  number += static_cast<uint32_t>(__builtin_ctzll(~used_slots_[number / 64]));
  for (uint32_t word = 0; word < kWords; ++word) {
    const uint64_t runs = runs_of(~used_pages_[word], bytes >> kPageShift);
    if (runs == 0) continue;
    Slot& slot = slots_[number];
    slot.offset = offset;
    slot.bytes = bytes;
    slot.first_page = word * 64 + static_cast<uint32_t>(__builtin_ctzll(runs));
    slot.phase = kFilling;
    used_pages_[word] |= mask_of(slot.first_page, bytes);
    used_slots_[number / 64] |= uint64_t{1} << (number % 64);
    in_use_.fetch_add(1);
    return number;
  }
  return kNone;
}

void WriteBehind::release(uint32_t number) noexcept {
  const Slot& slot = slots_[number];
  used_pages_[slot.first_page / 64] &= ~mask_of(slot.first_page, slot.bytes);
  used_slots_[number / 64] &= ~(uint64_t{1} << (number % 64));
  in_use_.fetch_sub(1);
}

// --- into the file

void WriteBehind::copy(uint64_t offset, const char* from, size_t bytes, Orders& orders) noexcept {
  for (size_t done = 0; done < bytes;) {
    const size_t part = bytes - done < kMostBytes ? bytes - done : kMostBytes;
    copy_part(offset + done, from + done, static_cast<uint32_t>(part), orders);
    done += part;
  }
}

void WriteBehind::copy_part(uint64_t offset, const char* from, uint32_t bytes, Orders& orders) noexcept {
  if (orders.count == Orders::kMost) submit(orders);
  uint32_t number = kNone;
  for (;;) {
    {
      const Held held(lock_);
      // The disk may complete two writes in any order, so an earlier write of this range must be complete.
      if (overlapping(offset, bytes) == kNone) number = take_slot(offset, bytes);
    }
    if (number != kNone) break;
    submit(orders);  // a thread that waits must not hold unsubmitted writes, because other threads may need them
    if (collect(false) == 0) wait_for_any();
  }
  memcpy(buffer(slots_[number]), from, bytes);
  orders.numbers[orders.count++] = static_cast<uint8_t>(number);
  orders.bytes += bytes;
  if (orders.bytes >= kMostBytes) submit(orders);
}

void WriteBehind::submit(Orders& orders) noexcept {
  if (orders.count == 0) return;
  iocb* pointers[Orders::kMost];
  for (uint32_t i = 0; i < orders.count; ++i) {
    Slot& slot = slots_[orders.numbers[i]];
    slot.order = {};
    slot.order.aio_data = orders.numbers[i];
    slot.order.aio_lio_opcode = IOCB_CMD_PWRITE;
    slot.order.aio_fildes = static_cast<uint32_t>(descriptor_);
    slot.order.aio_buf = reinterpret_cast<uintptr_t>(buffer(slot));
    slot.order.aio_nbytes = slot.bytes;
    slot.order.aio_offset = static_cast<int64_t>(slot.offset);
    pointers[i] = &slot.order;
  }
  uint32_t done = 0;
  while (done < orders.count) {
    const long got = raw(SYS_io_submit, static_cast<long>(context_), static_cast<long>(orders.count - done),
                         as_long(pointers + done));
    if (got == -EINTR) continue;
    if (got <= 0) break;
    done += static_cast<uint32_t>(got);
    const Held held(lock_);
    submitted_ += static_cast<int32_t>(got);
  }
  for (; done < orders.count; ++done) {  // the kernel refused these: they are written at once, which reports errors
    const Slot& slot = slots_[orders.numbers[done]];
    write_now(descriptor_, slot.offset, buffer(slot), slot.bytes);
    written(orders.numbers[done]);
  }
  orders.count = 0;
  orders.bytes = 0;
}

// --- completed writes

void WriteBehind::written(uint32_t number) noexcept {
  const Held held(lock_);
  Slot& slot = slots_[number];
  slot.phase = kDone;
  if (slot.readers == 0) release(number);
}

void WriteBehind::complete(const io_event& event) noexcept {
  const auto number = static_cast<uint32_t>(event.data);
  const Slot& slot = slots_[number];
  if (event.res < 0) die("cannot write far memory", static_cast<long>(event.res));
  const auto done = static_cast<size_t>(event.res);
  if (done < slot.bytes) write_now(descriptor_, slot.offset + done, buffer(slot) + done, slot.bytes - done);
  written(number);
}

// Returns the number of writes found complete, or 0 if another thread is collecting.
uint32_t WriteBehind::collect(bool wait) noexcept {
  {
    const Held held(lock_);
    if (collecting_ || submitted_ <= 0) return 0;
    collecting_ = true;
  }
  constexpr long kEvents = 16;
  io_event events[kEvents];
  const timespec now{};
  uint32_t count = 0;
  long got = 0;
  do {
    got = raw(SYS_io_getevents, static_cast<long>(context_), wait && count == 0 ? 1 : 0, kEvents, as_long(events),
              wait && count == 0 ? 0 : as_long(&now));
    if (got == -EINTR) continue;
    if (got < 0) die("cannot wait for a write of far memory (io_getevents)", got);
    for (long i = 0; i < got; ++i) complete(events[i]);
    count += static_cast<uint32_t>(got);
  } while (got == -EINTR || got == kEvents);
  {
    const Held held(lock_);
    collecting_ = false;
    submitted_ -= static_cast<int32_t>(count);
  }
  collected_.fetch_add(1);
  wake_all(&collected_);
  return count;
}

void WriteBehind::wait_for_any() noexcept {
  uint32_t seen = 0;
  bool other = false;
  {
    const Held held(lock_);
    seen = collected_.load();
    other = collecting_;
  }
  if (other) {
    sleep_while(&collected_, seen);
  } else if (collect(true) == 0) {
    yield_core();  // another thread still copies, or has just begun to collect
  }
}

uint64_t WriteBehind::held_parts(uint64_t offset, uint32_t part_shift) noexcept {
  if (in_use_.load() == 0) return 0;
  const uint64_t end = offset + (uint64_t{64} << part_shift);
  uint64_t held_back = 0;
  const Held held(lock_);
  for (uint32_t word = 0; word < kSlots / 64; ++word) {
    for (uint64_t rest = used_slots_[word]; rest != 0; rest &= rest - 1) {
      const Slot& slot = slots_[word * 64 + static_cast<uint32_t>(__builtin_ctzll(rest))];
      if (slot.offset >= end || slot.offset + slot.bytes <= offset) continue;
      const uint64_t from = slot.offset > offset ? slot.offset - offset : 0;
      const uint64_t to = (slot.offset + slot.bytes < end ? slot.offset + slot.bytes : end) - offset - 1;
      const uint64_t first = from >> part_shift, last = to >> part_shift;
      held_back |= (~uint64_t{0} >> (63 - (last - first))) << first;
    }
  }
  return held_back;
}

bool WriteBehind::holds(uint64_t offset, uint64_t bytes) noexcept {
  // The caller owns the range, so it already sees whether the range's last write is complete.
  if (in_use_.load() == 0) return false;
  const Held held(lock_);
  return overlapping(offset, bytes) != kNone;
}

void WriteBehind::wait(uint64_t offset, uint64_t bytes) noexcept {
  while (holds(offset, bytes)) {
    if (collect(false) == 0 && holds(offset, bytes)) wait_for_any();
  }
}

bool WriteBehind::take(uint64_t offset, char* to, size_t bytes) noexcept {
  if (in_use_.load() == 0) return false;
  uint32_t number = kNone;
  {
    const Held held(lock_);
    number = overlapping(offset, bytes);
    if (number == kNone) return false;
    const Slot& slot = slots_[number];
    const bool whole = offset >= slot.offset && offset + bytes <= slot.offset + slot.bytes;
    if (whole) ++slots_[number].readers;
    if (!whole) number = kNone;
  }
  if (number == kNone) {
    wait(offset, bytes);
    return false;
  }
  Slot& slot = slots_[number];
  memcpy(to, buffer(slot) + (offset - slot.offset), bytes);
  const Held held(lock_);
  if (--slot.readers == 0 && slot.phase == kDone) release(number);
  return true;
}

}  // namespace ringside::memory
