// SPDX-License-Identifier: BSD-3-Clause
#include "common/files/slot_lease.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace ringside {
namespace {

constexpr std::uint64_t kFirstByte = std::uint64_t{1} << 62;

struct flock bytes_of(SlotRange slots, short type) noexcept {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(kFirstByte + slots.first);
  range.l_len = slots.count;
  return range;
}

short type_of(Lease lease) noexcept {
  return lease == Lease::kExclusive ? F_WRLCK : F_RDLCK;
}

}  // namespace

LeaseStatus take_lease(int fd, SlotRange slots, Lease lease) noexcept {
  struct flock range = bytes_of(slots, type_of(lease));
  if (fcntl(fd, F_OFD_SETLK, &range) == 0) return LeaseStatus::kTaken;
  return errno == EAGAIN || errno == EACCES ? LeaseStatus::kHeld : LeaseStatus::kUnavailable;
}

void end_lease(int fd, SlotRange slots) noexcept {
  struct flock range = bytes_of(slots, F_UNLCK);
  fcntl(fd, F_OFD_SETLK, &range);
}

SlotUse use_of(int fd, SlotRange slots) noexcept {
  struct flock range = bytes_of(slots, F_WRLCK);  // conflicts with both kinds; a query needs no write permission
  if (fcntl(fd, F_OFD_GETLK, &range) != 0 || range.l_type == F_UNLCK) return SlotUse::kFree;
  return range.l_type == F_RDLCK ? SlotUse::kHeld : SlotUse::kWritten;
}

std::uint32_t written_together(int fd, std::uint32_t slot) noexcept {
  struct flock range = bytes_of(slot, F_RDLCK);  // conflicts with exclusive locks only
  if (fcntl(fd, F_OFD_GETLK, &range) != 0 || range.l_type != F_WRLCK) return 0;
  return static_cast<std::uint32_t>(range.l_len);  // the query returns the whole lock
}

bool has_leases(int fd, std::uint32_t slots, Lease lease) noexcept {
  // The byte after the bytes of the slots: no process locks only this byte.
  struct flock range = bytes_of(slots, type_of(lease));
  return fcntl(fd, F_OFD_GETLK, &range) == 0 && range.l_type == F_UNLCK;
}

}  // namespace ringside
