// SPDX-License-Identifier: BSD-3-Clause
#include "common/handoff/shared_mapping.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>

#include "common/platform/error.hpp"
#include "common/platform/huge_pages.hpp"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010  // new in Linux 5.1; headers of older C libraries lack it
#endif
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22  // new in Linux 5.14
#define MADV_POPULATE_WRITE 23
#endif

namespace ringside {
namespace {

constexpr std::size_t kSmallPageBytes = 4096;
constexpr int kSizeSeals = F_SEAL_SHRINK | F_SEAL_GROW;

int seals_for(PeerAccess access) {
  return kSizeSeals | F_SEAL_SEAL | (access == PeerAccess::kReadOnly ? F_SEAL_FUTURE_WRITE : 0);
}

std::byte* map(int fd, std::size_t bytes, int protection) {
  void* data = map_at_huge_page(bytes, protection, MAP_SHARED, fd);
  if (data == MAP_FAILED) throw system_error("cannot map {} bytes of shared memory: {}", bytes, errno_text(errno));
  return static_cast<std::byte*>(data);
}

}  // namespace

SharedMapping SharedMapping::create(const std::string& name, std::size_t bytes, PeerAccess peer_access) {
  SharedMapping mapping = create_for_cohort(name, bytes);
  mapping.seal(peer_access);
  return mapping;
}

SharedMapping SharedMapping::create_for_cohort(const std::string& name, std::size_t bytes) {
  UniqueFd fd(memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid()) throw system_error("cannot create shared memory '{}': {}", name, errno_text(errno));
  // Beyond this limit ftruncate sends SIGXFSZ, which would kill a user's program.
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur) {
    throw system_error("shared memory '{}' needs {} bytes, but the limit on a file's size (ulimit -f) is {} bytes",
                       name, bytes, limit.rlim_cur);
  }
  if (ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) {
    throw system_error("cannot set the size of shared memory '{}' to {} bytes: {}", name, bytes, errno_text(errno));
  }
  // Map first, seal second: F_SEAL_FUTURE_WRITE keeps this writable mapping and makes every later one read-only.
  std::byte* data = map(fd.get(), bytes, PROT_READ | PROT_WRITE);
  SharedMapping mapping(std::move(fd), data, bytes, true);
  mapping.add_seals(kSizeSeals);
  return mapping;
}

void SharedMapping::seal(PeerAccess peer_access) const {
  add_seals(seals_for(peer_access));
}

void SharedMapping::add_seals(int seals) const {
  if (fcntl(fd(), F_ADD_SEALS, seals) == 0) return;
  throw system_error("cannot seal shared memory: {}; Linux 5.1 or newer is needed", errno_text(errno));
}

SharedMapping SharedMapping::adopt(UniqueFd memfd, std::size_t bytes, PeerAccess access) {
  return adopt_sealed(std::move(memfd), bytes, seals_for(access), access);
}

SharedMapping SharedMapping::join(UniqueFd memfd, std::size_t bytes) {
  return adopt_sealed(std::move(memfd), bytes, kSizeSeals, PeerAccess::kReadWrite);
}

SharedMapping SharedMapping::adopt_sealed(UniqueFd memfd, std::size_t bytes, int wanted, PeerAccess access) {
  struct stat status {};
  if (fstat(memfd.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    throw usage_error("the peer passed something that is not shared memory");
  }
  if (static_cast<std::size_t>(status.st_size) != bytes) {
    throw usage_error("the peer's shared memory has {} bytes, expected {}", status.st_size, bytes);
  }
  const int seals = fcntl(memfd.get(), F_GET_SEALS);
  if (seals < 0 || (seals & wanted) != wanted) {
    throw usage_error("the peer's shared memory has seals {:#x}, expected at least {:#x}", seals, wanted);
  }
  const int protection = access == PeerAccess::kReadOnly ? PROT_READ : PROT_READ | PROT_WRITE;
  std::byte* data = map(memfd.get(), bytes, protection);
  return {std::move(memfd), data, bytes, access == PeerAccess::kReadWrite};
}

SharedMapping& SharedMapping::operator=(SharedMapping&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(writable_, other.writable_);
  return *this;
}

void SharedMapping::populate(std::size_t offset, std::size_t bytes) const noexcept {
  advise_huge_pages(data_ + offset, bytes);  // has no effect if `shmem_enabled` is `never`, as it often is
  const int touch = writable_ ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
  // One page of each huge page decides on which NUMA node the kernel makes the huge page; the other pages need not be
  // made and copied first.
  const std::size_t end = offset + bytes;
  std::size_t huge = (offset + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
  for (; huge + kHugePageBytes <= end; huge += kHugePageBytes) madvise(data_ + huge, kSmallPageBytes, touch);
  collapse_to_huge_pages(data_ + offset, bytes);
  madvise(data_ + offset, bytes, touch);
}

SharedMapping::~SharedMapping() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

}  // namespace ringside
