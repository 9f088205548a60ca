// SPDX-License-Identifier: BSD-3-Clause
// Which chunks in place are worth DRAM: a thread takes the page table entries of some pieces away, looks later which of
// them the kernel had to make anew (/proc/self/pagemap), promotes chunks that were touched in two of their last four
// samples, and takes the DRAM of those that were touched in none. It sleeps fifty times as long as a look takes.
#pragma once

#include <pthread.h>
#include <stdint.h>

namespace ringside::memory {

class Sampling {
 public:
  /// 0 or an error number.
  int start() noexcept;
  void stop() noexcept;
  /// In a forked child, which did not inherit the thread.
  void forget() noexcept;
  /// There is something to sample.
  void wake() noexcept;

 private:
  static constexpr uint32_t kPieces = 16;  // looked at together
  static void* run(void* self) noexcept;
  void serve() noexcept;
  bool sleep_for(int64_t ns) noexcept;
  uint32_t choose() noexcept;
  void look(uint32_t piece, uint64_t move_until_ns) noexcept;
  void keep_to_share() noexcept;
  bool make_room() noexcept;

  pthread_t thread_{};
  int wake_ = -1;     // an eventfd: wakes the thread, or ends it with kEnd
  int pagemap_ = -1;  // of this process
  bool ended_ = false;
  uint32_t rover_ = 0, pieces_[kPieces]{};
  uint32_t cold_[256]{};  // promoted chunks that were not touched in four samples
  uint32_t colds_ = 0;
};

extern Sampling sampling;

}  // namespace ringside::memory
