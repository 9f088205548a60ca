// SPDX-License-Identifier: BSD-3-Clause
#include "memory/calls/transfer.hpp"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "memory/arena/granule_table.hpp"
#include "memory/faults/resolve.hpp"
#include "memory/replacement/cache.hpp"
#include "memory/system/raw.hpp"

#if defined(__x86_64__)

namespace ringside::memory {
namespace {

uint64_t bytes_meant(Record& record, const Pointer& pointer, const uint64_t* arguments) {
  const uint64_t other = arguments[pointer.other];
  switch (pointer.size) {
    case Size::kFixed: return pointer.unit;
    case Size::kBytes: return static_cast<uint32_t>(other) + uint64_t{pointer.unit};
    case Size::kCount: return static_cast<uint32_t>(other) * uint64_t{pointer.unit};
    case Size::kBits: return (static_cast<uint32_t>(other) + uint64_t{127}) / 64 * 8;
    case Size::kPages: return (other + kPage - 1) >> kPageShift;
    case Size::kLengthAt: {
      uint32_t length = 0;
      return look(record, other, &length, sizeof length) ? length : 0;
    }
    default: return 0;
  }
}

// Pins a range. If other calls hold the remaining DRAM, waits for a limited time. If the kernel writes to the range and
// only its beginning can be pinned, the call is made nevertheless, because the kernel seldom writes to the whole range.
long pin_patiently(Record& record, uint64_t address, uint64_t bytes, bool changes) {
  constexpr uint64_t kPatienceNs = 500'000'000;
  const uint64_t started = now_ns();
  for (bool first = true;; first = false) {
    const uint32_t before = record.ranges;
    uint64_t pinned = 0;
    const long result = record.pin(address, bytes, changes, &pinned);
    if (result != -ENOMEM) return 0;
    if (changes && pinned > kPage) return 0;
    if (!first && now_ns() - started > kPatienceNs) return -ENOMEM;
    if (record.ranges > before) {  // no pins are kept while waiting, because other calls may need them
      resolve.unpin_range(record.range[before].first, record.range[before].last);
      record.ranges = before;
    }
    if (first) records.sweep();
    yield_core();
  }
}

long pin_pointers(Record& record, const uint64_t* arguments, uint32_t from) {
  for (uint32_t i = from; i < sizeof record.call->pointers / sizeof record.call->pointers[0]; ++i) {
    const Pointer& pointer = record.call->pointers[i];
    if (pointer.size == Size::kNone || !in_arena(arguments[pointer.argument])) continue;
    if (pointer.size == Size::kText) {
      record.pin_text(arguments[pointer.argument]);
      continue;
    }
    const uint64_t bytes = bytes_meant(record, pointer, arguments);
    const long result = pin_patiently(record, arguments[pointer.argument], bytes, pointer.changes);
    if (result != 0) return result;
  }
  return 0;
}

// --- transfers of any length

bool is_reading(const Record& record) {
  return record.call->pointers[0].changes;
}

// Whether the message must be transferred in one piece, whatever its length.
bool is_one_message(uint64_t descriptor) {
  int type = 0;
  uint32_t length = sizeof type;
  return raw(SYS_getsockopt, static_cast<long>(descriptor), SOL_SOCKET, SO_TYPE, as_long(&type), as_long(&length)) ==
             0 &&
         type != SOCK_STREAM;
}

// Whether a transfer continues after a complete piece. It does not for a read of a pipe or socket, which returns the
// available data: the read of the next piece could wait indefinitely. A write waits until all data is written.
bool may_go_on(const Record& record, const uint64_t* arguments) {
  if (record.number == SYS_getrandom || !is_reading(record)) return true;
  if (record.number == SYS_recvfrom) return (arguments[3] & MSG_WAITALL) != 0;
  struct stat about {};
  return raw(SYS_fstat, static_cast<long>(arguments[0]), as_long(&about)) == 0 &&
         (S_ISREG(about.st_mode) || S_ISBLK(about.st_mode));
}

// Pins as much of [address, address + bytes) as fits into a piece. Returns 0 or -errno.
long pin_piece(Record& record, uint64_t address, uint64_t bytes, uint64_t* piece) {
  *piece = bytes;
  if (!in_arena(address)) return 0;
  const uint64_t most = piece_bytes() - (address & (kPage - 1));
  const uint64_t wanted = bytes < most ? bytes : most;
  uint64_t pinned = 0;
  long result = record.pin(address, wanted, is_reading(record), &pinned);
  if (result == -ENOMEM && pinned == 0) {
    const uint64_t page = kPage - (address & (kPage - 1));
    pinned = wanted < page ? wanted : page;
    if ((result = pin_patiently(record, address, pinned, is_reading(record))) != 0) return result;
    *piece = pinned;
  } else if (result != -EFAULT) {  // the kernel itself detects the end of the allocation
    *piece = pinned;
  }
  return 0;
}

bool has_offset(long number) {
  return number == SYS_pread64 || number == SYS_pwrite64 || number == SYS_preadv || number == SYS_pwritev ||
         number == SYS_preadv2 || number == SYS_pwritev2;
}

void set_offset(const Record& record, const Frame& frame, uint64_t* arguments) {
  if (!has_offset(record.number)) return;
  const bool at_position = (record.number == SYS_preadv2 || record.number == SYS_pwritev2) &&
                           frame.arguments[3] == UINT64_MAX;
  arguments[3] = at_position ? UINT64_MAX : frame.arguments[3] + record.done;
}

long next_piece(Record& record, const Frame& frame, uint64_t* arguments) {
  const Pointer& data = record.call->pointers[0];
  long result = pin_pointers(record, frame.arguments, 1);
  if (result != 0) return result;
  const uint64_t address = frame.arguments[data.argument] + record.done;
  if ((result = pin_piece(record, address, record.left, &record.piece)) != 0) return result;
  arguments[data.argument] = address;
  arguments[data.other] = record.piece;
  set_offset(record, frame, arguments);
  return 0;
}

long next_segment(Record& record, Frame& frame, uint64_t* arguments) {
  const uint64_t count = static_cast<uint32_t>(frame.arguments[2]);
  iovec segment{};
  for (;; ++record.segment, record.offset = 0) {
    if (record.segment >= count) return -EFAULT;
    if (!look(record, frame.arguments[1] + record.segment * sizeof segment, &segment, sizeof segment)) return -EFAULT;
    if (record.offset < segment.iov_len) break;
  }
  const uint64_t address = static_cast<uint64_t>(as_long(segment.iov_base)) + record.offset;
  const long result = pin_piece(record, address, segment.iov_len - record.offset, &record.piece);
  if (result != 0) return result;
  frame.scratch[0] = address;
  frame.scratch[1] = record.piece;
  arguments[1] = record.frame + offsetof(Frame, scratch);
  arguments[2] = 1;
  set_offset(record, frame, arguments);
  return 0;
}

long prepare_pieces(Record& record, Frame& frame, uint64_t* arguments) {
  const Pointer& data = record.call->pointers[0];
  const uint64_t bytes = arguments[data.other];
  const uint64_t address = arguments[data.argument];
  if (!in_arena(address)) return pin_pointers(record, arguments, 1);
  const uint64_t most = piece_bytes() - (address & (kPage - 1));
  if (bytes > most && record.number != SYS_getrandom && is_one_message(arguments[0])) {
    const long result = pin_pointers(record, arguments, 1);
    return result != 0 ? result : pin_patiently(record, address, bytes, data.changes);
  }
  record.left = bytes;
  const long result = next_piece(record, frame, arguments);
  record.in_pieces = record.piece < bytes;
  return result;
}

long prepare_vector(Record& record, Frame& frame, uint64_t* arguments) {
  const uint64_t count = arguments[2];
  constexpr uint64_t kMostSegments = 1024;
  if (count == 0 || count > kMostSegments) return 0;  // the kernel reports the error
  record.pin(arguments[1], count * sizeof(iovec), false);
  Segments segments(record, arguments[1], count);
  uint64_t total = 0, here = 0;
  bool whole = true;
  for (uint64_t i = 0; i < count; ++i) {
    iovec segment{};
    if (!segments.at(i, &segment)) return 0;
    total += segment.iov_len;
    const auto address = static_cast<uint64_t>(as_long(segment.iov_base));
    if (!whole || !in_arena(address)) continue;
    here += segment.iov_len;
    if (here > piece_bytes()) {
      whole = false;
      continue;
    }
    const long result = record.pin(address, segment.iov_len, is_reading(record));
    whole = result == 0 || result == -EFAULT;
  }
  if (whole || is_one_message(arguments[0])) return 0;
  record.unpin();
  record.left = total;
  record.in_pieces = true;
  return next_segment(record, frame, arguments);
}

}  // namespace

bool look(Record& record, uint64_t address, void* to, uint64_t bytes) noexcept {
  if (in_arena(address)) {
    if (record.pin(address, bytes, false) != 0) return false;
    memcpy(to, reinterpret_cast<const void*>(static_cast<uintptr_t>(address)), bytes);
    return true;
  }
  return look_outside(address, to, bytes) == bytes;
}

uint64_t look_outside(uint64_t address, void* to, uint64_t bytes) noexcept {
  const iovec local{to, bytes}, remote{reinterpret_cast<void*>(static_cast<uintptr_t>(address)), bytes};
  const long copied = raw(SYS_process_vm_readv, raw(SYS_getpid), as_long(&local), 1, as_long(&remote), 1, 0);
  return copied > 0 ? static_cast<uint64_t>(copied) : 0;
}

uint64_t change_outside(uint64_t address, const void* from, uint64_t bytes) noexcept {
  const iovec local{const_cast<void*>(from), bytes};
  const iovec remote{reinterpret_cast<void*>(static_cast<uintptr_t>(address)), bytes};
  const long copied = raw(SYS_process_vm_writev, raw(SYS_getpid), as_long(&local), 1, as_long(&remote), 1, 0);
  return copied > 0 ? static_cast<uint64_t>(copied) : 0;
}

uint64_t piece_bytes() noexcept {
  constexpr uint64_t kLeast = uint64_t{1} << 17, kMost = uint64_t{1} << 22;
  const uint64_t eighth = caches.limit.load() / 8;
  return eighth < kLeast ? kLeast : eighth > kMost ? kMost : eighth & ~(kPage - 1);
}

long prepare(Record& record, Frame& frame, uint64_t* arguments) noexcept {
  switch (record.call->action) {
    case Action::kPieces: return prepare_pieces(record, frame, arguments);
    case Action::kVector: return prepare_vector(record, frame, arguments);
    case Action::kSignalStack: {  // the stack is pinned first, because its pins stay
      const long result = pin_nested(record, arguments);
      return result != 0 ? result : pin_pointers(record, arguments, 0);
    }
    default: {
      const long result = pin_pointers(record, arguments, 0);
      return result != 0 ? result : pin_nested(record, arguments);
    }
  }
}

bool go_on(Record& record, Frame& frame, uint64_t* arguments, long* result) noexcept {
  if (!record.in_pieces) return false;
  const bool all = *result > 0 && static_cast<uint64_t>(*result) == record.piece;
  if (*result > 0) {
    record.done += static_cast<uint64_t>(*result);
    record.left -= static_cast<uint64_t>(*result);
    record.offset += static_cast<uint64_t>(*result);
  }
  if (all && record.left > 0 && may_go_on(record, frame.arguments)) {
    record.unpin();
    const bool vector = record.call->action == Action::kVector;
    if ((vector ? next_segment(record, frame, arguments) : next_piece(record, frame, arguments)) == 0) return true;
  }
  if (record.done > 0) *result = static_cast<long>(record.done);
  return false;
}

}  // namespace ringside::memory

#endif
