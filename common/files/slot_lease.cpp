// SPDX-License-Identifier: BSD-3-Clause
#include "common/files/slot_lease.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace ringside {
namespace {

constexpr std::uint64_t kFirstByte = std::uint64_t{1} << 62;

struct flock byte_of(std::uint32_t slot, short type) noexcept {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(kFirstByte + slot);
  range.l_len = 1;
  return range;
}

short type_of(Lease lease) noexcept {
  return lease == Lease::kExclusive ? F_WRLCK : F_RDLCK;
}

}  // namespace

LeaseStatus take_lease(int fd, std::uint32_t slot, Lease lease) noexcept {
  struct flock range = byte_of(slot, type_of(lease));
  if (fcntl(fd, F_OFD_SETLK, &range) == 0) return LeaseStatus::kTaken;
  return errno == EAGAIN || errno == EACCES ? LeaseStatus::kHeld : LeaseStatus::kUnavailable;
}

void end_lease(int fd, std::uint32_t slot) noexcept {
  struct flock range = byte_of(slot, F_UNLCK);
  fcntl(fd, F_OFD_SETLK, &range);
}

SlotUse use_of(int fd, std::uint32_t slot) noexcept {
  struct flock range = byte_of(slot, F_WRLCK);  // conflicts with both kinds; a query needs no write permission
  if (fcntl(fd, F_OFD_GETLK, &range) != 0 || range.l_type == F_UNLCK) return SlotUse::kFree;
  return range.l_type == F_RDLCK ? SlotUse::kHeld : SlotUse::kWritten;
}

bool has_leases(int fd, std::uint32_t slots, Lease lease) noexcept {
  // The byte after the bytes of the slots: no process locks only this byte.
  struct flock range = byte_of(slots, type_of(lease));
  return fcntl(fd, F_OFD_GETLK, &range) == 0 && range.l_type == F_UNLCK;
}

}  // namespace ringside
