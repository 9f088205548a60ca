// SPDX-License-Identifier: BSD-3-Clause
// Finds the chunks in place that should get DRAM. A thread removes the page table entries of some pieces, and later
// reads which entries the kernel has recreated (/proc/self/pagemap). It promotes chunks that were touched in two of
// their last four samples. The DRAM for them is taken from chunks that were touched in none. The thread sleeps fifty
// times as long as a sample takes.
#pragma once

#include <pthread.h>
#include <stdint.h>

namespace ringside::memory {

class Sampling {
 public:
  /// Returns 0 or an error number.
  int start() noexcept;
  void stop() noexcept;
  /// For a forked child, which did not inherit the thread.
  void forget() noexcept;
  /// Call it when there are regions in place that can be sampled.
  void wake() noexcept;

 private:
  static constexpr uint32_t kPieces = 16;  // sampled together
  static void* run(void* self) noexcept;
  void serve() noexcept;
  bool sleep_for(int64_t ns) noexcept;
  uint32_t choose() noexcept;
  void look(uint32_t piece, uint64_t move_until_ns) noexcept;
  void keep_to_share() noexcept;
  bool make_room() noexcept;

  pthread_t thread_{};
  int wake_ = -1;     // an eventfd: wakes the thread, or ends it with kEnd
  int pagemap_ = -1;  // /proc/self/pagemap
  bool ended_ = false;
  uint32_t rover_ = 0, pieces_[kPieces]{};
  uint32_t cold_[256]{};  // promoted chunks that were not touched in four samples
  uint32_t colds_ = 0;
};

extern Sampling sampling;

}  // namespace ringside::memory
