// SPDX-License-Identifier: BSD-3-Clause
// Memory that processes share: its seals at each stage, and the memory that is refused.
#include "common/handoff/shared_mapping.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "common/platform/huge_pages.hpp"
#include "common/text/formatted.hpp"
#include "tests/unit/failure_line.hpp"
#include "tests/unit/smaps.hpp"

namespace ringside {
namespace {

constexpr std::size_t kBytes = 8192;
constexpr int kSizeSeals = F_SEAL_SHRINK | F_SEAL_GROW;

UniqueFd duplicate(int fd) {
  return UniqueFd(fcntl(fd, F_DUPFD_CLOEXEC, 0));
}

UniqueFd memory_of(std::size_t bytes, int seals) {
  UniqueFd fd(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(ftruncate(fd.get(), static_cast<off_t>(bytes)), 0);
  EXPECT_EQ(fcntl(fd.get(), F_ADD_SEALS, seals), 0);
  return fd;
}

/// The line with which joining the memory is refused; "" if it is joined.
std::string join_refusal(UniqueFd fd, ExitCode code = ExitCode::kUsage) {
  return failure_line([&] { SharedMapping::join(std::move(fd), kBytes); }, code);
}

bool can_be_written(int fd) {
  void* data = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED) return false;
  munmap(data, kBytes);
  return true;
}

TEST(SharedMappingTest, MemoryOfATeamIsSealedOnceAllHaveMappedIt) {
  const SharedMapping first = SharedMapping::create_for_cohort("test", kBytes);
  EXPECT_EQ(fcntl(first.fd(), F_GET_SEALS), kSizeSeals) << "it cannot change its size from the beginning";
  const SharedMapping second = SharedMapping::join(duplicate(first.fd()), kBytes);
  EXPECT_EQ(failure_line([&] { SharedMapping::adopt(duplicate(first.fd()), kBytes, PeerAccess::kReadOnly); }),
            formatted("the peer's shared memory has seals {:#x}, expected at least {:#x}", kSizeSeals, 0x17))
      << "a peer does not take it yet";

  first.seal(PeerAccess::kReadOnly);
  EXPECT_FALSE(can_be_written(first.fd()));
  EXPECT_EQ(fcntl(first.fd(), F_ADD_SEALS, F_SEAL_WRITE), -1) << "no seal comes later";
  const SharedMapping peer = SharedMapping::adopt(duplicate(first.fd()), kBytes, PeerAccess::kReadOnly);
  std::memset(first.data(), 1, kBytes / 2);
  std::memset(second.data() + kBytes / 2, 2, kBytes / 2);
  EXPECT_EQ(peer.data()[kBytes / 2 - 1], std::byte{1});
  EXPECT_EQ(peer.data()[kBytes / 2], std::byte{2}) << "earlier mappings stay writable";
}

TEST(SharedMappingTest, MemoryThatAllWriteIsSealedAgainstResizingOnly) {
  const SharedMapping first = SharedMapping::create_for_cohort("test", kBytes);
  first.seal(PeerAccess::kReadWrite);
  EXPECT_EQ(fcntl(first.fd(), F_GET_SEALS), kSizeSeals | F_SEAL_SEAL);
  EXPECT_TRUE(can_be_written(first.fd()));
  const SharedMapping second = SharedMapping::join(duplicate(first.fd()), kBytes);
  second.data()[0] = std::byte{7};
  EXPECT_EQ(first.data()[0], std::byte{7});
}

TEST(SharedMappingTest, WhatBothSidesHavePopulatedIsInHugePagesForBoth) {
  constexpr std::size_t kLarge = 3 * kHugePageBytes + 8192;
  const SharedMapping memory = SharedMapping::create("test", kLarge, PeerAccess::kReadOnly);
  const SharedMapping peer = SharedMapping::adopt(duplicate(memory.fd()), kLarge, PeerAccess::kReadOnly);
  memory.data()[0] = memory.data()[kHugePageBytes + 1] = std::byte{7};
  // Finds out whether the kernel can do this, and has memory for it.
  if (madvise(memory.data(), 3 * kHugePageBytes, 25 /* MADV_COLLAPSE, Linux 6.1 */) != 0) {
    GTEST_SKIP() << "the kernel does not collapse shared memory: " << std::strerror(errno);
  }
  peer.populate(0, kLarge);
  memory.populate(0, kLarge);
  for (const SharedMapping* const side : {&memory, &peer}) {
    EXPECT_EQ(testing::smaps_kib(side->data(), "ShmemPmdMapped:"), 3 * kHugePageBytes / 1024);
    EXPECT_EQ(testing::smaps_kib(side->data(), "Rss:"), kLarge / 1024) << "no page is missing";
    EXPECT_EQ(side->data()[kHugePageBytes + 1], std::byte{7});
  }
}

TEST(SharedMappingTest, ASecondSealIsRefused) {
  const SharedMapping memory = SharedMapping::create("test", kBytes, PeerAccess::kReadWrite);
  const std::string line = failure_line([&] { memory.seal(PeerAccess::kReadOnly); }, ExitCode::kSystem);
  EXPECT_EQ(line.find("cannot seal shared memory: "), 0u) << line;
}

TEST(SharedMappingTest, MemoryThatCouldShrinkIsNotJoined) {
  for (const int seals : {0, F_SEAL_GROW, F_SEAL_SHRINK}) {
    EXPECT_EQ(join_refusal(memory_of(kBytes, seals)),
              formatted("the peer's shared memory has seals {:#x}, expected at least 0x6", seals));
  }
  EXPECT_EQ(join_refusal(memory_of(kBytes, kSizeSeals)), "");
}

TEST(SharedMappingTest, MemoryOfAnotherSizeIsNotJoined) {
  for (const std::size_t bytes : {std::size_t{0}, kBytes - 1, kBytes + 4096}) {
    EXPECT_EQ(join_refusal(memory_of(bytes, kSizeSeals)),
              formatted("the peer's shared memory has {} bytes, expected 8192", bytes));
  }
  EXPECT_EQ(join_refusal(UniqueFd(open("/dev/null", O_RDWR | O_CLOEXEC))),
            "the peer passed something that is not shared memory");
  EXPECT_EQ(join_refusal(UniqueFd()), "the peer passed something that is not shared memory");
}

TEST(SharedMappingTest, AnySealedMemoryOfThatSizeFromTheSameTeamIsJoined) {
  const SharedMapping control = SharedMapping::create("test", kBytes, PeerAccess::kReadWrite);
  EXPECT_EQ(join_refusal(duplicate(control.fd())), "");
  const SharedMapping payload = SharedMapping::create("test", kBytes, PeerAccess::kReadOnly);
  EXPECT_EQ(join_refusal(duplicate(payload.fd()), ExitCode::kSystem),
            "cannot map 8192 bytes of shared memory: Operation not permitted")
      << "sealed before all had mapped it";
}

}  // namespace
}  // namespace ringside
