// SPDX-License-Identifier: BSD-3-Clause
// Reads with O_DIRECT into the arena: a device stores after io_submit(2) has returned, and page tables and their
// protection do not affect its stores. None of these stores may be lost, whichever pages leave DRAM meanwhile.
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "tests/unit/memory/calls/absent.hpp"
#include "tests/unit/sanitized.hpp"

namespace ringside::testing {
namespace {

constexpr size_t kPageBytes = 4096, kFileBytes = 32 * kMiB, kArea = 16 * kMiB;
constexpr size_t kWordsOfPage = kPageBytes / sizeof(uint64_t);

uint64_t word_of_file(uint64_t index) {
  return (index + 1) * 0x9E3779B97F4A7C15u;
}

/// Memory with the alignment that O_DIRECT requires.
std::unique_ptr<char, void (*)(void*)> whole_pages(size_t bytes) {
  return {static_cast<char*>(std::aligned_alloc(kPageBytes, bytes)), std::free};
}

/// A descriptor of a file on a disk that is read with O_DIRECT; -1 if the file system refuses such reads.
int file_past_page_cache() {
  const int file = open("/var/tmp", O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600);
  if (file < 0) return -1;
  const auto part = whole_pages(kMiB);
  auto* const words = reinterpret_cast<uint64_t*>(part.get());
  for (uint64_t at = 0; at < kFileBytes; at += kMiB) {
    for (uint64_t i = 0; i < kMiB / sizeof(uint64_t); ++i) words[i] = word_of_file(at / sizeof(uint64_t) + i);
    if (pwrite(file, part.get(), kMiB, static_cast<off_t>(at)) != static_cast<ssize_t>(kMiB)) {
      close(file);
      return -1;
    }
  }
  return file;
}

class DeviceReads : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!addresses_are_random()) GTEST_SKIP() << "addresses are not random (setarch -R)";
    if (file_ < 0) GTEST_SKIP() << "/var/tmp cannot be read past the page cache";
    if (syscall(SYS_io_setup, kOrders, &context_) != 0) GTEST_SKIP() << "there is no io_setup";
  }
  void TearDown() override {
    if (context_ != 0) syscall(SYS_io_destroy, context_);
    if (file_ >= 0) close(file_);
  }

  static constexpr long kOrders = 32;
  struct Order {
    uint64_t to = 0, from = 0;  // numbers of pages in the area and in the file
    iocb block{};
  };

  long submit(std::vector<Order>& orders, char* area) const {
    std::vector<iocb*> blocks;
    for (Order& order : orders) {
      order.block = {};
      order.block.aio_fildes = static_cast<uint32_t>(file_);
      order.block.aio_lio_opcode = IOCB_CMD_PREAD;
      order.block.aio_buf = reinterpret_cast<uintptr_t>(area + order.to * kPageBytes);
      order.block.aio_nbytes = kPageBytes;
      order.block.aio_offset = static_cast<int64_t>(order.from * kPageBytes);
      blocks.push_back(&order.block);
    }
    return syscall(SYS_io_submit, context_, blocks.size(), blocks.data());
  }
  /// Waits for `count` reads. Returns how many of these read a whole page.
  long wait_for(size_t count) const {
    long whole = 0;
    for (size_t got = 0; got < count;) {
      io_event events[kOrders];
      const long now = syscall(SYS_io_getevents, context_, 1, kOrders, events, nullptr);
      if (now <= 0) break;
      for (long i = 0; i < now; ++i) whole += events[i].res == static_cast<int64_t>(kPageBytes) ? 1 : 0;
      got += static_cast<size_t>(now);
    }
    return whole;
  }

  const int file_ = file_past_page_cache();
  aio_context_t context_ = 0;
};

// Loads and stores at random addresses, so that granules without neighbours in DRAM are written back in place and then
// dropped. In each block of kBlock pages, the page in `spared` is not touched.
constexpr uint64_t kBlock = 128;
void touch_at_random(char* memory, int times, std::mt19937& random, const std::vector<uint64_t>& spared = {}) {
  for (int i = 0; i < times; ++i) {
    const uint64_t page = random() % (kArea / kPageBytes);
    if (!spared.empty() && spared[page / kBlock] == page) continue;
    volatile char* const at = memory + page * kPageBytes + random() % kPageBytes;
    if (i % 3 == 0) {
      static_cast<void>(*at);
    } else {
      *at = static_cast<char>(*at + 1);
    }
  }
}

bool holds_file(const char* page, uint64_t page_of_file) {
  const auto* const words = reinterpret_cast<const uint64_t*>(page);
  for (uint64_t i = 0; i < kWordsOfPage; ++i) {
    if (words[i] != word_of_file(page_of_file * kWordsOfPage + i)) return false;
  }
  return true;
}

class DeviceReadsInto : public DeviceReads, public ::testing::WithParamInterface<const char*> {};

TEST_P(DeviceReadsInto, ByIoSubmitAreNotLostWhileTheirPagesLeaveDram) {
  START_ARENA(arena, trapping({}, GetParam()));
  if (stats_now().moves == 0) GTEST_SKIP() << "without UFFDIO_MOVE the call is refused";
  auto* const area = static_cast<char*>(ringside_memory_alloc(kArea));
  std::mt19937 random(5);
  int lost = 0;
  const int rounds = kSanitized || stats_now().mapped == 0 ? 10 : 200;
  for (int round = 0; round < rounds; ++round) {
    std::vector<Order> orders(kOrders);
    std::vector<uint64_t> pages(kOrders);
    for (size_t i = 0; i < orders.size(); ++i) {
      pages[i] = orders[i].to = i * kBlock + random() % kBlock;
      orders[i].from = random() % (kFileBytes / kPageBytes);
    }
    ASSERT_EQ(submit(orders, area), kOrders) << errno;
    touch_at_random(area, 400, random, pages);
    ASSERT_EQ(wait_for(orders.size()), kOrders);
    touch_at_random(area, 300, random, pages);
    for (const Order& order : orders) lost += holds_file(area + order.to * kPageBytes, order.from) ? 0 : 1;
  }
  EXPECT_EQ(lost, 0);
}

INSTANTIATE_TEST_SUITE_P(FarMemory, DeviceReadsInto, ::testing::Values("/dev/shm", "/var/tmp"),
                         [](const auto& given) { return given.param[1] == 'd' ? "OnTmpfs" : "OnADisk"; });

// If a thread serves the kernel's accesses, calls pin no memory.
TEST_F(DeviceReads, ByPreadAreNotLostWhereAThreadServesFaults) {
  const ringside_memory_options options = Way{2}.in("/dev/shm");
  START_ARENA(arena, options);
  auto* const area = static_cast<char*>(ringside_memory_alloc(kArea));
  auto* const other = static_cast<char*>(ringside_memory_alloc(kArea));
  std::mt19937 random(5);
  if (pread(file_, area, kPageBytes, 0) < 0) GTEST_SKIP() << "the kernel's own faults may not be served";
  std::atomic<bool> over{false};
  std::atomic<uint64_t> touched{0};
  std::thread evicts([&] {
    std::mt19937 own(9);
    for (; !over.load(); touched.fetch_add(100)) touch_at_random(other, 100, own);
  });
  int lost = 0;
  for (int round = 0; round < (kSanitized ? 5 : 40); ++round) {
    uint64_t to[64], from[64];
    for (uint64_t i = 0; i < 64; ++i) {
      to[i] = i * 64 + random() % 64;
      from[i] = random() % (kFileBytes / kPageBytes);
      EXPECT_EQ(pread(file_, area + to[i] * kPageBytes, kPageBytes, static_cast<off_t>(from[i] * kPageBytes)),
                static_cast<ssize_t>(kPageBytes));
    }
    const uint64_t before = touched.load();  // waits for as many touches as the DRAM has pages
    while (touched.load() < before + options.dram_bytes / kPageBytes) std::this_thread::yield();
    for (uint64_t i = 0; i < 64; ++i) lost += holds_file(area + to[i] * kPageBytes, from[i]) ? 0 : 1;
  }
  over.store(true);
  evicts.join();
  EXPECT_EQ(lost, 0);
}

// The device stores after the call has returned; without MOVE, the library could not detect that.
TEST_F(DeviceReads, ByIoSubmitAreRefusedWithoutMoves) {
  START_ARENA(arena, trapping({1, 1}));
  char* const area = absent(kMiB);
  std::vector<Order> orders(1);
  EXPECT_EQ(submit(orders, area), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(area[0], 1);
  EXPECT_EQ(stats_now().pinned_bytes, 0u);
  // The call is also refused if this read comes after a read into ordinary memory that is longer than what one call may
  // pin.
  const auto much = whole_pages(8 * kMiB);
  iocb long_read = orders[0].block, short_read = orders[0].block;
  long_read.aio_buf = reinterpret_cast<uintptr_t>(much.get());
  long_read.aio_nbytes = 8 * kMiB;
  iocb* both[] = {&long_read, &short_read};
  const long submitted = syscall(SYS_io_submit, context_, 2, both);
  EXPECT_EQ(submitted, -1);
  EXPECT_EQ(errno, EINVAL);
  if (submitted > 0) wait_for(static_cast<size_t>(submitted));
  // Reads into ordinary memory still work, and so do writes from the arena.
  const auto plain = whole_pages(kPageBytes);
  ASSERT_EQ(submit(orders, plain.get()), 1) << errno;
  ASSERT_EQ(wait_for(1), 1);
  EXPECT_TRUE(holds_file(plain.get(), 0));
  iocb write{};
  write.aio_fildes = static_cast<uint32_t>(file_);
  write.aio_lio_opcode = IOCB_CMD_PWRITE;
  write.aio_buf = reinterpret_cast<uintptr_t>(area);
  write.aio_nbytes = kPageBytes;
  iocb* blocks[] = {&write};
  ASSERT_EQ(syscall(SYS_io_submit, context_, 1, blocks), 1) << errno;
  ASSERT_EQ(wait_for(1), 1);
  ASSERT_EQ(pread(file_, plain.get(), kPageBytes, 0), static_cast<ssize_t>(kPageBytes));
  EXPECT_EQ(plain.get()[kPageBytes - 1], 1);
}

}  // namespace
}  // namespace ringside::testing
