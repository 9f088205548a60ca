// SPDX-License-Identifier: BSD-3-Clause
// An arena for a test. The arena is started with the test's options, and stopped at the test's end. If the kernel does
// not permit the arena, the test is skipped with the library's message.
#pragma once

#include <errno.h>
#include <gtest/gtest.h>

#include <string>

#include "memory/ringside_memory.h"

namespace ringside::testing {

inline constexpr uint64_t kMiB = uint64_t{1} << 20;

inline ringside_memory_options small_options(const char* far_folder = "/dev/shm") {
  ringside_memory_options options{};
  options.struct_bytes = sizeof options;
  options.far_folder = far_folder;
  options.dram_bytes = 4 * kMiB;
  options.far_bytes = 64 * kMiB;
  return options;
}

inline struct ringside_memory_stats stats_now() {
  struct ringside_memory_stats stats {};
  stats.struct_bytes = sizeof stats;
  EXPECT_EQ(ringside_memory_stats(&stats), 0) << ringside_memory_error();
  return stats;
}

/// The options of an arena that tests combine: all options except the folder and the sizes.
struct Way {
  uint32_t faults = RINGSIDE_MEMORY_FAULTS_SIGNAL, copy_only = 0, granule_bytes = 0, in_place = 0;
  ringside_memory_options in(const char* far_folder, uint64_t far_bytes = 64 * kMiB) const {
    ringside_memory_options options = small_options(far_folder);
    options.far_bytes = far_bytes;
    options.faults = faults;
    options.copy_only = copy_only;
    options.granule_bytes = granule_bytes;
    options.in_place = in_place;
    return options;
  }
};

class Arena {
 public:
  explicit Arena(const ringside_memory_options& options) {
    started_ = ringside_memory_start(&options) == 0;
    if (!started_) {
      error_ = errno;
      line_ = ringside_memory_error();
    }
  }
  ~Arena() {
    if (started_) {
      EXPECT_EQ(ringside_memory_stop(), 0) << ringside_memory_error();
    }
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  bool started() const { return started_; }
  bool not_permitted() const { return error_ == EPERM || error_ == ENOSYS; }
  const std::string& line() const { return line_; }

 private:
  bool started_ = false;
  int error_ = 0;
  std::string line_;
};

}  // namespace ringside::testing

/// Starts `arena`, or skips the test.
#define START_ARENA(arena, options)                            \
  const ringside::testing::Arena arena(options);               \
  if ((arena).not_permitted()) GTEST_SKIP() << (arena).line(); \
  ASSERT_TRUE((arena).started()) << (arena).line()
