// SPDX-License-Identifier: BSD-3-Clause
// Calls whose pointers are in structures.
#include <errno.h>
#include <linux/aio_abi.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "memory/arena/granule_table.hpp"
#include "memory/calls/transfer.hpp"
#include "memory/core.hpp"
#include "memory/faults/resolve.hpp"
#include "memory/replacement/cache.hpp"
#include "memory/system/raw.hpp"

#if defined(__x86_64__)

namespace ringside::memory {
namespace {

uint64_t address_of(const void* pointer) {
  return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(pointer));
}

constexpr uint64_t kMostEntries = 1024;  // the kernel's limit for an array of iovec or of messages

// The pins of io_submit end when the call returns, possibly before the device is done. After that, the kernel's own
// reference to a page prevents a MOVE. An eviction without MOVE ignores that reference.
long let_device_store() {
  if (!core.userfault.moves) return -EINVAL;
  caches.devices_store.store(true);
  return 0;
}

// Pins the first segments, up to `left` bytes, and reduces `left` by the bytes that it pinned; `left` is the most that
// the call may still pin. The kernel stops at absent memory and returns a short count.
long pin_segments(Record& record, uint64_t array, uint64_t count, bool changes, uint64_t* left,
                  bool by_device = false) {
  if (count > kMostEntries) return 0;
  Segments segments(record, array, count);
  for (uint64_t i = 0; i < count && *left > 0; ++i) {
    iovec segment{};
    if (!segments.at(i, &segment)) return by_device && in_arena(array) ? let_device_store() : 0;
    if (!table.owns(segment.iov_base)) continue;
    const long refused = by_device ? let_device_store() : 0;
    if (refused != 0) return refused;
    const uint64_t bytes = segment.iov_len < *left ? segment.iov_len : *left;
    uint64_t pinned = 0;
    const long result = record.pin(address_of(segment.iov_base), bytes, changes, &pinned);
    *left -= bytes;
    if (result == -ENOMEM || result == -E2BIG) {
      *left = 0;
      return pinned > 0 || i > 0 ? 0 : -ENOMEM;
    }
  }
  return 0;
}

long pin_message(Record& record, uint64_t address, bool changes, uint64_t* left) {
  msghdr message{};
  if (!look(record, address, &message, sizeof message)) return 0;
  record.pin(address_of(message.msg_name), message.msg_namelen, changes);
  record.pin(address_of(message.msg_control), message.msg_controllen, changes);
  const uint64_t array = address_of(message.msg_iov);
  if (message.msg_iovlen <= kMostEntries) record.pin(array, message.msg_iovlen * sizeof(iovec), false);
  return pin_segments(record, array, message.msg_iovlen, changes, left);
}

long pin_messages(Record& record, const uint64_t* arguments, bool changes) {
  uint64_t left = piece_bytes();
  const uint64_t count = arguments[2] < kMostEntries ? arguments[2] : kMostEntries;
  for (uint64_t i = 0; i < count && left > 0; ++i) {
    const long result = pin_message(record, arguments[1] + i * sizeof(mmsghdr), changes, &left);
    if (result != 0) return i > 0 ? 0 : result;
  }
  return 0;
}

long pin_submitted(Record& record, const uint64_t* arguments) {
  uint64_t left = piece_bytes();  // the bytes that may still be pinned
  for (uint64_t i = 0; i < arguments[1]; ++i) {
    // The kernel executes all orders, and an order that was not examined may read data into the arena.
    if (i == kMostEntries || left == 0) return let_device_store();
    const uint64_t link = arguments[2] + i * sizeof(uint64_t);
    uint64_t at = 0;
    iocb block{};
    if (!look(record, link, &at, sizeof at)) return in_arena(link) ? let_device_store() : 0;
    if (!look(record, at, &block, sizeof block)) return in_arena(at) ? let_device_store() : 0;
    record.pin(at, sizeof block, true);
    const bool reads = block.aio_lio_opcode == IOCB_CMD_PREAD || block.aio_lio_opcode == IOCB_CMD_PREADV;
    long refused = 0;
    if (block.aio_lio_opcode == IOCB_CMD_PREADV || block.aio_lio_opcode == IOCB_CMD_PWRITEV) {
      refused = pin_segments(record, block.aio_buf, block.aio_nbytes, reads, &left, reads);
      if (refused == -EINVAL) return refused;
    } else if (reads || block.aio_lio_opcode == IOCB_CMD_PWRITE) {
      const uint64_t last = block.aio_buf + (block.aio_nbytes == 0 ? 0 : block.aio_nbytes - 1);
      if (!in_arena(block.aio_buf) && !in_arena(last)) continue;
      if (reads) refused = let_device_store();
      if (refused != 0) return refused;
      const uint64_t bytes = block.aio_nbytes < left ? block.aio_nbytes : left;
      record.pin(block.aio_buf, bytes, reads);
      left -= bytes;
    }
  }
  return 0;
}

void pin_waits(Record& record, const uint64_t* arguments) {
  struct Wait {
    uint64_t value, address, flags;
  };
  constexpr uint64_t kMostWaits = 128;
  constexpr long kFutexRequeue = 456;
  const uint64_t count = record.number == kFutexRequeue ? 2 : static_cast<uint32_t>(arguments[1]);
  for (uint64_t i = 0; i < count && i < kMostWaits; ++i) {
    Wait wait{};
    if (!look(record, arguments[0] + i * sizeof wait, &wait, sizeof wait)) return;
    record.pin(wait.address, 4, true);
  }
}

void pin_request(Record& record, const uint64_t* arguments) {
  const auto request = static_cast<uint32_t>(arguments[1]);
  constexpr uint32_t kGetConfiguration = 0x8912 /* SIOCGIFCONF */, kMapOfFile = 0xc020660b /* FS_IOC_FIEMAP */;
  record.pin(arguments[2], _IOC_SIZE(request), true);
  if (request == kGetConfiguration) {
    struct {
      uint32_t bytes, unused;
      uint64_t buffer;
    } wanted{};
    if (look(record, arguments[2], &wanted, sizeof wanted)) record.pin(wanted.buffer, wanted.bytes, true);
  } else if (request == kMapOfFile) {
    constexpr uint64_t kHead = 32, kExtent = 56, kCountAt = 24;
    uint32_t count = 0;
    if (look(record, arguments[2] + kCountAt, &count, sizeof count))
      record.pin(arguments[2], kHead + count * kExtent, true);
  }
}

void pin_program(Record& record, const uint64_t* arguments) {
  constexpr uint64_t kAttach = 26, kAttachForPorts = 51;  // SO_ATTACH_FILTER, SO_ATTACH_REUSEPORT_CBPF
  const bool socket = record.number == SYS_setsockopt;
  if (socket && (arguments[1] != SOL_SOCKET || (arguments[2] != kAttach && arguments[2] != kAttachForPorts))) return;
  struct {
    uint64_t count, code;
  } program{};
  if (look(record, arguments[socket ? 3 : 2], &program, sizeof program))
    record.pin(program.code, (program.count & 0xffff) * 8, false);
}

void pin_texts(Record& record, uint64_t array) {
  constexpr uint64_t kAtOnce = 32, kMostBytes = uint64_t{1} << 17;  // the kernel's longest text
  for (;;) {
    uint64_t texts[kAtOnce];
    uint64_t count = kAtOnce;
    if (in_arena(array)) {
      count = (kPage - (array & (kPage - 1))) / sizeof texts[0];
      if (count > kAtOnce) count = kAtOnce;
      if (!look(record, array, texts, count * sizeof texts[0])) return;
    } else {
      count = look_outside(array, texts, sizeof texts) / sizeof texts[0];
    }
    for (uint64_t i = 0; i < count; ++i) {
      if (texts[i] == 0) return;
      if (in_arena(texts[i])) record.pin_text(texts[i], kMostBytes);
    }
    if (count == 0) return;
    array += count * sizeof texts[0];
  }
}

// Pins the new alternate stack, because from now on the kernel may push a handler's frame there at any time.
long pin_signal_stack(Record& record, const uint64_t* arguments) {
  if (arguments[0] == 0) return 0;
  stack_t wanted{}, now{};
  if (!look(record, arguments[0], &wanted, sizeof wanted)) return 0;
  record.unpin();  // drops the structure's pins, so that the stack's pins become the record's first pins
  if (raw(SYS_sigaltstack, 0, as_long(&now)) == 0 && (now.ss_flags & SS_DISABLE) == 0 && table.owns(now.ss_sp)) {
    record.stack_old = address_of(now.ss_sp);
    record.stack_old_bytes = now.ss_size;
  }
  if ((wanted.ss_flags & SS_DISABLE) != 0 || !table.owns(wanted.ss_sp)) return 0;
  const long result = record.pin(address_of(wanted.ss_sp), wanted.ss_size, true);
  record.stack_new = result == 0;
  return result;
}

}  // namespace

long pin_nested(Record& record, const uint64_t* arguments) noexcept {
  uint64_t left = piece_bytes();
  switch (record.call->action) {
    case Action::kMessage: return pin_message(record, arguments[1], record.number == SYS_recvmsg, &left);
    case Action::kMessages: return pin_messages(record, arguments, record.number == SYS_recvmmsg);
    case Action::kRemote:
      return pin_segments(record, arguments[1], arguments[2], record.call->pointers[0].changes, &left);
    case Action::kSubmit: return pin_submitted(record, arguments);
    case Action::kWaits: pin_waits(record, arguments); return 0;
    case Action::kIoctl: pin_request(record, arguments); return 0;
    case Action::kProgram: pin_program(record, arguments); return 0;
    case Action::kSignalStack: return pin_signal_stack(record, arguments);
    case Action::kExecute: {
      const int first = record.number == SYS_execve ? 1 : 2;
      pin_texts(record, arguments[first]);
      pin_texts(record, arguments[first + 1]);
      return 0;
    }
    case Action::kSelect: {
      uint64_t mask[2] = {};
      if (arguments[5] != 0 && look(record, arguments[5], mask, sizeof mask)) record.pin(mask[0], 8, false);
      return 0;
    }
    case Action::kRegisters: {
      constexpr uint64_t kGet = 0x4204, kSet = 0x4205;  // PTRACE_GETREGSET, PTRACE_SETREGSET
      uint64_t area[2] = {};
      if ((arguments[0] == kGet || arguments[0] == kSet) && look(record, arguments[3], area, sizeof area))
        record.pin(area[0], area[1], true);
      return 0;
    }
    case Action::kValue: {
      constexpr long kGetValue = 464;  // getxattrat
      uint64_t value[2] = {};
      if (look(record, arguments[4], value, sizeof value))
        record.pin(value[0], static_cast<uint32_t>(value[1]), record.number == kGetValue);
      return 0;
    }
    default: return 0;
  }
}

void end_signal_stack(Record& record) noexcept {
  if (record.stack_old_bytes > 0) {
    resolve.unpin_range(table.page_of(reinterpret_cast<char*>(record.stack_old)),
                        table.page_of(reinterpret_cast<char*>(record.stack_old + record.stack_old_bytes - 1)));
  }
  if (record.stack_new) record.range[0] = record.range[--record.ranges];
}

long answer_mapping(long number, const uint64_t* arguments) noexcept {
  constexpr uint64_t kReadWrite = PROT_READ | PROT_WRITE;
  switch (number) {
    case SYS_mmap: return (arguments[3] & MAP_FIXED_NOREPLACE) == MAP_FIXED_NOREPLACE ? -EEXIST : -EINVAL;
    case SYS_msync: return 0;  // no other process reads far memory
    case SYS_mprotect:
    case SYS_pkey_mprotect: return arguments[2] == kReadWrite ? 0 : -EINVAL;
    case SYS_madvise: return is_only_advice(static_cast<int>(arguments[2])) ? 0 : -EINVAL;  // other advice loses pages
    default: return -EINVAL;
  }
}

}  // namespace ringside::memory

#endif
