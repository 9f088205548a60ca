// SPDX-License-Identifier: BSD-3-Clause
// The lease of a slot: a lock of one byte of the pool file, 2^62 + slot (docs/publish/library.md). A reader that works
// on a slot's bytes in place holds a shared lease; the analyzer holds an exclusive one while it overwrites the slot.
// The locked bytes are beyond the end of every file, so that the locks cover no content. The locks belong to the open
// file description (F_OFD_SETLK): the kernel drops them when the last process that uses the description closes it or
// dies, and two locks of the same description never conflict. No call here waits.
#pragma once

#include <cstdint>

namespace ringside {

/// Slots with consecutive numbers, which one lock covers.
struct SlotRange {
  constexpr SlotRange(std::uint32_t first_slot, std::uint32_t slots = 1) noexcept : first(first_slot), count(slots) {}

  std::uint32_t first;
  std::uint32_t count;

  constexpr std::uint32_t end() const noexcept { return first + count; }
};

enum class Lease {
  kShared,    // for a reader; the file is open for reading
  kExclusive  // for the analyzer; the file is open for writing
};

enum class LeaseStatus {
  kTaken,
  kHeld,        // another open file description has a conflicting lease
  kUnavailable  // the file system has no such locks
};

/// Takes the leases of all these slots, or of none.
LeaseStatus take_lease(int fd, SlotRange slots, Lease lease) noexcept;
void end_lease(int fd, SlotRange slots) noexcept;

/// Whether other open file descriptions use one of these slots now.
enum class SlotUse {
  kFree,
  kHeld,    // by readers
  kWritten  // by the analyzer
};
/// Takes no lock. The result has no meaning for a file without leases.
SlotUse use_of(int fd, SlotRange slots) noexcept;

/// The number of slots in the exclusive lease that covers `slot`; 0: no other open file description has such a lease.
/// Takes no lock.
std::uint32_t written_together(int fd, std::uint32_t slot) noexcept;

/// Whether leases can be taken on this file, which has `slots` slots. On NFS the lock of the pool's owner also covers
/// these bytes, so that no lease is possible. Takes no lock.
bool has_leases(int fd, std::uint32_t slots, Lease lease) noexcept;

}  // namespace ringside
