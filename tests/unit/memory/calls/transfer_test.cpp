// SPDX-License-Identifier: BSD-3-Clause
// Transfers of any length between files, pipes, sockets and absent memory, also while other threads evict that memory.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/unit/memory/calls/absent.hpp"

namespace ringside::testing {
namespace {

char expected_at(size_t offset) {
  return static_cast<char>(offset / 4096 * 31 + offset % 253);
}

int unnamed_file() {
  return open("/tmp", O_TMPFILE | O_RDWR, 0600);
}

// A file with `bytes` of the pattern.
int patterned(size_t bytes) {
  const int file = unnamed_file();
  std::vector<char> part(65536);
  for (size_t at = 0; at < bytes; at += part.size()) {
    for (size_t i = 0; i < part.size(); ++i) part[i] = expected_at(at + i);
    EXPECT_EQ(write(file, part.data(), std::min(part.size(), bytes - at)),
              static_cast<ssize_t>(std::min(part.size(), bytes - at)));
  }
  lseek(file, 0, SEEK_SET);
  return file;
}

size_t first_wrong(const char* memory, size_t bytes, size_t offset = 0) {
  for (size_t i = 0; i < bytes; ++i) {
    if (memory[i] != expected_at(offset + i)) return i;
  }
  return bytes;
}

constexpr size_t kLong = 16 * kMiB;  // four times the DRAM

struct TransferCase {
  const char* name;
  Way way;
  const char* far_folder = "/dev/shm";
};

class TrappedTransfersWith : public ::testing::TestWithParam<TransferCase> {};

TEST_P(TrappedTransfersWith, AreCompleteForFourTimesTheDram) {
  const ringside_memory_options options = trapping(GetParam().way, GetParam().far_folder);
  NEED_RANDOM_ADDRESSES();
  START_ARENA(arena, options);
  char* const memory = absent(kLong);
  const int from = patterned(kLong), to = unnamed_file();
  ASSERT_EQ(read(from, memory, kLong), static_cast<ssize_t>(kLong));
  EXPECT_EQ(first_wrong(memory, kLong), kLong);
  ringside_memory_advise(memory, kLong, RINGSIDE_MEMORY_DONT_NEED);
  ASSERT_EQ(write(to, memory, kLong), static_cast<ssize_t>(kLong));
  std::memset(memory, 0, kLong);
  ASSERT_EQ(pread(to, memory + 5, kLong - 5, 5), static_cast<ssize_t>(kLong - 5));
  EXPECT_EQ(first_wrong(memory + 5, kLong - 5, 5), kLong - 5);
  const iovec segments[3] = {{memory, 3 * kMiB + 1}, {memory + 5 * kMiB, 100}, {memory + 6 * kMiB, 9 * kMiB}};
  ASSERT_EQ(preadv(to, segments, 3, 0), static_cast<ssize_t>(12 * kMiB + 101));
  EXPECT_EQ(first_wrong(memory, 3 * kMiB + 1), 3 * kMiB + 1);
  EXPECT_EQ(first_wrong(memory + 6 * kMiB, 9 * kMiB, 3 * kMiB + 101), 9 * kMiB);
  ASSERT_EQ(pwritev(to, segments, 3, 100), static_cast<ssize_t>(12 * kMiB + 101));
  ASSERT_EQ(pread(to, memory, kMiB, 100), static_cast<ssize_t>(kMiB));
  EXPECT_EQ(first_wrong(memory, kMiB), kMiB);
  EXPECT_EQ(stats_now().pinned_bytes, 0u);
  EXPECT_LE(stats_now().dram_peak_bytes, options.dram_bytes);
  close(from);
  close(to);
}

INSTANTIATE_TEST_SUITE_P(All, TrappedTransfersWith,
                         ::testing::Values(TransferCase{"Signals", {}},
                                           TransferCase{"FarMemoryOnADisk", {}, "/var/tmp"},
                                           TransferCase{"LargeGranules", {1, 0, 262144}},
                                           TransferCase{"NoMoves", {1, 1}}),
                         [](const auto& given) { return std::string(given.param.name); });

TEST(TrappedTransfers, AReadFromAPipeReturnsWhatIsThere) {
  START_ARENA(arena, trapping());
  char* const memory = absent(kLong);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], "0123456789", 10), 10);
  EXPECT_EQ(read(ends[0], memory, kLong), 10) << "it does not wait for more";
  EXPECT_EQ(std::memcmp(memory, "0123456789", 10), 0);
  close(ends[1]);
  EXPECT_EQ(read(ends[0], memory, kLong), 0);
  close(ends[0]);
}

TEST(TrappedTransfers, AWriteIntoAPipeOrASocketWaitsUntilAllIsWritten) {
  START_ARENA(arena, trapping());
  char* const memory = absent(kLong);
  for (size_t i = 0; i < kLong; ++i) memory[i] = expected_at(i);
  for (const bool socket : {false, true}) {
    int ends[2];
    ASSERT_EQ(socket ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe(ends), 0);
    size_t got = 0, wrong = 0;
    std::thread reader([&] {
      std::vector<char> part(100000);
      for (ssize_t now = 0; (now = read(ends[0], part.data(), part.size())) > 0; got += static_cast<size_t>(now))
        wrong += first_wrong(part.data(), static_cast<size_t>(now), got) != static_cast<size_t>(now) ? 1u : 0u;
    });
    ringside_memory_advise(memory, kLong, RINGSIDE_MEMORY_DONT_NEED);
    const ssize_t sent = socket ? send(ends[1], memory, kLong, 0) : write(ends[1], memory, kLong);
    close(ends[1]);
    reader.join();
    close(ends[0]);
    EXPECT_EQ(sent, static_cast<ssize_t>(kLong));
    EXPECT_EQ(got, kLong);
    EXPECT_EQ(wrong, 0u);
  }
}

TEST(TrappedTransfers, AMessageStaysOneMessage) {
  ringside_memory_options options = trapping();
  options.dram_bytes = 2 * kMiB;  // a piece is 256 KiB
  START_ARENA(arena, options);
  char* const memory = absent(2 * kMiB);
  for (size_t i = 0; i < 2 * kMiB; ++i) memory[i] = expected_at(i);
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), 0);
  const int room = 1 << 20;
  setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
  constexpr size_t kBytes = 150000;
  ringside_memory_advise(memory, 2 * kMiB, RINGSIDE_MEMORY_DONT_NEED);
  ASSERT_EQ(send(ends[0], memory, kBytes, 0), static_cast<ssize_t>(kBytes));
  ringside_memory_advise(memory, 2 * kMiB, RINGSIDE_MEMORY_DONT_NEED);
  EXPECT_EQ(recv(ends[1], memory + 1000000, 1000000, 0), static_cast<ssize_t>(kBytes));
  EXPECT_EQ(first_wrong(memory + 1000000, kBytes), kBytes);
  close(ends[0]);
  close(ends[1]);
}

TEST(TrappedTransfers, ToTheEndOfAnAllocationAreAsShortAsInOrdinaryMemory) {
  START_ARENA(arena, trapping());
  char* const memory = absent(kMiB);
  const int file = patterned(2 * kMiB);
  EXPECT_EQ(pread(file, memory, 100 * kMiB, 2 * kMiB - 10), 10) << "the file ends before the allocation";
  EXPECT_EQ(pread(file, memory + 8192, 100 * kMiB, 0), static_cast<ssize_t>(kMiB - 8192)) << "behind it is nothing";
  EXPECT_EQ(first_wrong(memory + 8192, kMiB - 8192), kMiB - 8192);
  ringside_memory_free(memory);
  EXPECT_EQ(pread(file, memory, 10, 0), -1);
  EXPECT_EQ(errno, EFAULT);
  close(file);
}

// Michel 2020 reports that this case fails: fscanf into memory of the library.
TEST(TrappedStdio, FscanfReadsIntoAbsentMemory) {
  START_ARENA(arena, trapping());
  char* const memory = absent(8 * kMiB);
  FILE* const file = tmpfile();
  ASSERT_NE(file, nullptr);
  for (int i = 0; i < 20000; ++i) fprintf(file, "%d word%d\n", i, i);
  rewind(file);
  setvbuf(file, memory, _IOFBF, kMiB);  // so that the kernel also stores there
  auto* const numbers = reinterpret_cast<int*>(memory + 2 * kMiB);
  char* const words = memory + 4 * kMiB;
  int wrong = 0;
  for (int i = 0; i < 20000; ++i) {
    if (i % 1000 == 0) ringside_memory_advise(memory, 8 * kMiB, RINGSIDE_MEMORY_DONT_NEED);
    if (fscanf(file, "%d %99s", &numbers[i], &words[i * 100]) != 2) ++wrong;
  }
  for (int i = 0; i < 20000; ++i)
    wrong += numbers[i] != i || std::string(&words[i * 100]) != "word" + std::to_string(i) ? 1 : 0;
  EXPECT_EQ(wrong, 0);
  fclose(file);
}

TEST(TrappedStdio, FreadFwriteAndGetlineWorkOnAbsentMemory) {
  START_ARENA(arena, trapping());
  char* const memory = absent(kLong);
  const int from = patterned(kLong);
  FILE* const file = fdopen(from, "r+");
  ASSERT_EQ(fread(memory, 1, kLong, file), kLong);
  EXPECT_EQ(first_wrong(memory, kLong), kLong);
  FILE* const copy = tmpfile();
  ringside_memory_advise(memory, kLong, RINGSIDE_MEMORY_DONT_NEED);
  ASSERT_EQ(fwrite(memory, 1, kLong, copy), kLong);
  rewind(copy);
  std::memset(memory, 0, kLong);
  ASSERT_EQ(fread(memory, 1, kLong, copy), kLong);
  EXPECT_EQ(first_wrong(memory, kLong), kLong);
  rewind(copy);
  fputs("a line\nanother\n", copy);
  rewind(copy);
  setvbuf(copy, memory + kMiB, _IOFBF, 65536);
  ringside_memory_advise(memory, kLong, RINGSIDE_MEMORY_DONT_NEED);
  char* line = nullptr;
  size_t room = 0;
  EXPECT_EQ(getline(&line, &room, copy), 7);
  EXPECT_STREQ(line, "a line\n");
  free(line);
  fclose(copy);
  fclose(file);
}

TEST(TrappedTransfers, AreRightWhileOtherThreadsEvictAndFlush) {
  for (const char* folder : {"/dev/shm", "/var/tmp"}) {
    START_ARENA(arena, trapping({}, folder));
    constexpr size_t kThreads = 4, kPart = 2 * kMiB;
    constexpr int kRounds = 60;
    char* const memory = absent(kThreads * kPart);
    const int file = patterned(kPart);
    std::atomic<size_t> running{kThreads}, wrong{0};
    std::vector<std::thread> threads;
    for (size_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        char* const mine = memory + thread * kPart;
        const Pipe pipe;
        for (int round = 0; round < kRounds; ++round) {
          const size_t offset = static_cast<size_t>(round) * 7919 % (kPart / 2), bytes = 1000 + offset % 500000;
          if (pread(file, mine + offset, bytes, static_cast<off_t>(offset)) != static_cast<ssize_t>(bytes)) ++wrong;
          const size_t little = std::min<size_t>(bytes, 30000);
          if (write(pipe.ends[1], mine + offset, little) != static_cast<ssize_t>(little)) ++wrong;
          if (read(pipe.ends[0], mine + offset, little) != static_cast<ssize_t>(little)) ++wrong;
          if (first_wrong(mine + offset, bytes, offset) != bytes) ++wrong;
        }
        --running;
      });
    }
    threads.emplace_back([&] {
      while (running > 0) {
        ringside_memory_advise(memory, kThreads * kPart, RINGSIDE_MEMORY_DONT_NEED);
        ringside_memory_flush();
      }
    });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0u);
    EXPECT_EQ(stats_now().pinned_bytes, 0u);
    close(file);
  }
}

}  // namespace
}  // namespace ringside::testing
