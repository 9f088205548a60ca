// SPDX-License-Identifier: BSD-3-Clause
// An arena whose system calls are trapped, and allocations in this arena whose content is only in far memory.
#pragma once

#include <sys/personality.h>
#include <unistd.h>

#include <cstring>

#include "tests/unit/memory/arena.hpp"

namespace ringside::testing {

inline ringside_memory_options trapping(const Way& way = {}, const char* far_folder = "/dev/shm") {
  ringside_memory_options options = way.in(far_folder);
  options.system_calls = 1;
  return options;
}

/// Memory whose content is only in far memory. Every byte is 1.
inline char* absent(size_t bytes) {
  auto* const memory = static_cast<char*>(ringside_memory_alloc(bytes));
  std::memset(memory, 1, bytes);
  EXPECT_EQ(ringside_memory_advise(memory, bytes, RINGSIDE_MEMORY_DONT_NEED), 0);
  return memory;
}

struct Pipe {
  int ends[2];
  Pipe() { EXPECT_EQ(pipe(ends), 0); }
  ~Pipe() {
    close(ends[0]);
    close(ends[1]);
  }
};

/// If addresses are not random, calls with structures outside the arena are not handled.
inline bool addresses_are_random() {
  return (personality(0xffffffff) & ADDR_NO_RANDOMIZE) == 0;
}

}  // namespace ringside::testing

#define NEED_RANDOM_ADDRESSES() \
  if (!ringside::testing::addresses_are_random()) GTEST_SKIP() << "addresses are not random (setarch -R)"
