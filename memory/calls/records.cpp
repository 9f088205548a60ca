// SPDX-License-Identifier: BSD-3-Clause
#include "memory/calls/records.hpp"

#include <errno.h>
#include <string.h>

#include "memory/arena/granule_table.hpp"
#include "memory/core.hpp"
#include "memory/faults/resolve.hpp"
#include "memory/system/raw.hpp"

namespace ringside::memory {

constinit Records records;

namespace {

// 1 + the place of the thread's newest record. It is initial-exec, like all thread-local variables of the library.
thread_local uint32_t newest = 0;

char* pointer_to(uint64_t address) {
  return reinterpret_cast<char*>(static_cast<uintptr_t>(address));
}

}  // namespace

long Record::pin(uint64_t address, uint64_t bytes, bool changes, uint64_t* pinned) noexcept {
  if (pinned != nullptr) *pinned = bytes;
  if (bytes == 0 || !core.ready() || !table.owns(pointer_to(address))) return 0;
  const uint64_t first_byte = static_cast<uint64_t>(as_long(table.address(0)));
  const uint64_t room = first_byte + table.bytes() - address;
  const uint32_t first = table.page_of(pointer_to(address));
  const uint32_t last = table.page_of(pointer_to(address + (bytes < room ? bytes : room) - 1));
  for (uint32_t i = 0; i < ranges; ++i) {
    if (range[i].first <= first && last <= range[i].last && (range[i].changes || !changes)) return 0;
  }
  if (ranges == kMostRanges) {
    if (pinned != nullptr) *pinned = 0;
    return -E2BIG;
  }
  uint32_t page = first;
  const long result = resolve.pin_range(&page, last, changes);
  if (page > first) range[ranges++] = {first, page - 1, changes};
  if (result != 0 && pinned != nullptr) {
    *pinned = page > first ? static_cast<uint64_t>(as_long(table.address(page))) - address : 0;
  }
  return result;
}

long Record::pin_text(uint64_t address, uint64_t most) noexcept {
  if (!core.ready() || !table.owns(pointer_to(address))) return 0;
  for (const uint64_t end = address + most; address < end;) {
    const uint64_t bytes = kPage - (address & (kPage - 1));
    uint64_t usable = 0;
    const long result = pin(address, bytes, false, &usable);
    if (result != 0 || memchr(pointer_to(address), '\0', bytes) != nullptr) return result;
    address += bytes;
  }
  return 0;
}

void Record::unpin() noexcept {
  // The count is reduced first: if a handler interrupts here and never returns, a pin remains, but no pin is released
  // twice.
  while (ranges > 0) {
    const Range here = range[--ranges];
    if (core.ready()) resolve.unpin_range(here.first, here.last);  // memory that was freed meanwhile has no pins left
  }
}

long Records::start() noexcept {
  if (records_ == nullptr) records_ = static_cast<Record*>(map_table(sizeof(Record) * kMost));
  return records_ == nullptr ? -ENOMEM : 0;
}

void Records::stop() noexcept {
  // Calls of other threads may still be returning. Therefore the records remain valid, although their pins have been
  // released.
  for (uint32_t i = 0; i < kMost && records_ != nullptr; ++i) {
    if (records_[i].taken.load() != 0) records_[i].ranges = 0;
  }
}

void Records::drop_left(uint64_t stack_pointer, bool on_other_stack) noexcept {
  while (newest != 0) {
    Record& top = records_[newest - 1];
    // The frame of a call that is still in progress is at a higher address on the same stack; or it is on the normal
    // stack, and this call comes from a handler on the other stack.
    const bool alive = top.on_other_stack == on_other_stack ? stack_pointer <= top.frame : on_other_stack;
    if (alive) return;
    top.unpin();
    give(&top);
  }
}

Record* Records::take(uint64_t stack_pointer, bool on_other_stack) noexcept {
  if (records_ == nullptr) return nullptr;
  const auto thread = static_cast<int32_t>(raw(SYS_gettid));
  // A child of fork inherits its parent's variable and a copy of the parent's records, which are not valid in the
  // child.
  if (newest != 0 && (records_[newest - 1].thread != thread || records_[newest - 1].taken.load() == 0)) newest = 0;
  drop_left(stack_pointer, on_other_stack);
  for (int round = 0; round < 2; ++round) {
    const uint32_t start = hint_.load(std::memory_order_relaxed);
    for (uint32_t tried = 0; tried < kMost; ++tried) {
      Record& here = records_[(start + tried) % kMost];
      uint32_t free = 0;
      if (here.taken.load(std::memory_order_relaxed) != 0 || !here.taken.compare_exchange_strong(free, 1)) continue;
      hint_.store((start + tried) % kMost, std::memory_order_relaxed);
      here.thread = thread;
      here.on_other_stack = on_other_stack;
      here.ranges = 0;
      here.in_pieces = here.stack_new = false;
      here.done = here.piece = here.left = here.segment = here.offset = 0;
      here.stack_old = here.stack_old_bytes = 0;
      here.next = newest;
      newest = static_cast<uint32_t>(place_of(&here)) + 1;
      return &here;
    }
    sweep();
  }
  return nullptr;
}

void Records::give(Record* record) noexcept {
  if (newest == place_of(record) + 1) newest = record->next;
  record->taken.store(0);
}

void Records::sweep() noexcept {
  const long process = raw(SYS_getpid), self = raw(SYS_gettid);
  for (uint32_t i = 0; i < kMost && records_ != nullptr; ++i) {
    Record& here = records_[i];
    if (here.taken.load() != 1 || here.thread == self) continue;
    if (raw(SYS_tgkill, process, here.thread, 0) != -ESRCH) continue;
    uint32_t owned = 1;
    if (!here.taken.compare_exchange_strong(owned, 2)) continue;
    here.unpin();
    here.taken.store(0);
  }
}

}  // namespace ringside::memory
