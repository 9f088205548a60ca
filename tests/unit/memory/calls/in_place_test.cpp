// SPDX-License-Identifier: BSD-3-Clause
// System calls and signal handlers of a program whose memory is far memory in place, while chunks of this memory move.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/unit/memory/calls/absent.hpp"

namespace ringside::testing {
namespace {

ringside_memory_options in_place_options() {
  return trapping({1, 0, 0, 1});
}

constexpr uint64_t kBytes = 16 * kMiB, kStep = 4096;

/// Stores to one part after another, so that chunks are promoted and demoted, until `moves` moves have happened or a
/// minute has passed.
void store_until_moved(char* memory, uint64_t moves, std::atomic<bool>& done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  for (uint64_t part = 0; !done.load(); part = (part + 1) % 4) {
    const auto part_end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
    do {
      for (uint64_t at = 0; at < kBytes / 4; at += kStep) {
        volatile char& here = memory[part * kBytes / 4 + at + 1];
        here = static_cast<char>(here + 1);
      }
    } while (std::chrono::steady_clock::now() < part_end);
    const auto now = stats_now();
    if (now.promotions + now.demotions >= moves || std::chrono::steady_clock::now() > end) done = true;
  }
}

TEST(TrappedCalls, StoreInPlaceWhileChunksMove) {
  START_ARENA(arena, in_place_options());
  auto* const memory = static_cast<char*>(ringside_memory_alloc(kBytes));
  ASSERT_NE(memory, nullptr);
  ASSERT_EQ(ringside_memory_is_in_place(memory), 1);
  const Pipe pipe;
  std::atomic<bool> done{false};
  std::thread mover(store_until_moved, memory, 100, std::ref(done));
  uint64_t wrong = 0, calls = 0;
  // The calls use only a part of the memory. If they touched all of it, no chunk would have to move.
  for (uint64_t at = 0; !done.load(); at = (at + kStep) % (kBytes / 8), ++calls) {
    const auto number = static_cast<char>(calls);
    if (write(pipe.ends[1], &number, 1) != 1 || read(pipe.ends[0], memory + at, 1) != 1 || memory[at] != number)
      ++wrong;
    // The kernel also reads from this address.
    char back = 0;
    if (write(pipe.ends[1], memory + at, 1) != 1 || read(pipe.ends[0], &back, 1) != 1 || back != number) ++wrong;
  }
  mover.join();
  EXPECT_EQ(wrong, 0u) << "of " << calls;
  EXPECT_GE(stats_now().promotions, 50u);
  EXPECT_GT(stats_now().demotions, 0u);
}

std::atomic<int> programs{0};

TEST(TrappedSignals, AHandlerAndAMaskOfTheProgramLeaveCopiesOfChunksWorking) {
  START_ARENA(arena, in_place_options());
  struct sigaction own {}, before {};
  own.sa_handler = [](int) { ++programs; };
  ASSERT_EQ(sigaction(SIGSEGV, &own, nullptr), 0);
  ASSERT_EQ(sigaction(SIGSEGV, nullptr, &before), 0);
  EXPECT_EQ(before.sa_handler, own.sa_handler) << "the program sees its own handler";
  sigset_t blocked;
  sigfillset(&blocked);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &blocked, nullptr), 0);
  auto* const memory = static_cast<char*>(ringside_memory_alloc(kBytes));
  ASSERT_NE(memory, nullptr);
  std::atomic<bool> done{false};
  store_until_moved(memory, 200, done);
  EXPECT_EQ(programs.load(), 0);
  raise(SIGSEGV);
  EXPECT_EQ(programs.load(), 1);
  pthread_sigmask(SIG_UNBLOCK, &blocked, nullptr);
  EXPECT_GE(stats_now().promotions, 100u);
}

}  // namespace
}  // namespace ringside::testing
