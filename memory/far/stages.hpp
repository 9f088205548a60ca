// SPDX-License-Identifier: BSD-3-Clause
// Reads of a far file on a disk ahead of a stream: blocks of 512 KiB, several in flight (io_submit(2), which reads past
// the page cache without a thread). A stage is a copy that may be discarded at any time, so no granule waits for it.
// What is written to the file meanwhile makes that part of a stage stale, before any word says absent: whoever finds a
// granule absent then sees that.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <atomic>

namespace ringside::memory {

class WriteBehind;

inline constexpr uint32_t kStageShift = 19;
inline constexpr uint64_t kStageBytes = uint64_t{1} << kStageShift;
inline constexpr uint32_t kBlocksAhead = 3;  // of the one that a stream uses now

class Stages {
 public:
  /// `descriptor`: opened with O_DIRECT. Where the kernel refuses, there are no stages.
  void start(int descriptor) noexcept;
  void stop() noexcept;
  /// In a forked child: its parent's reads are not its own.
  void forget() noexcept;

  bool any() const noexcept { return memory_ != nullptr; }
  /// Begins to read a block of the file, unless it is there or on its way, or all stages are in use. What `writes`
  /// still holds of it is stale from the beginning.
  void begin(uint32_t block, WriteBehind& writes) noexcept;
  /// Copies a range from the stage of its block; false: read the file. The caller owns the granules of the range.
  bool take(uint64_t offset, char* to, size_t bytes) noexcept;
  /// After a write to the file, or a hole.
  void changed(uint64_t offset, uint64_t bytes) noexcept;

 private:
  enum Phase : uint32_t { kEmpty, kOwned, kReading, kReady };
  static constexpr uint32_t kNoBlock = UINT32_MAX;
  struct alignas(64) Stage {
    std::atomic<uint32_t> phase{kEmpty};
    std::atomic<uint32_t> block{kNoBlock};
    std::atomic<uint64_t> stale{0};  // a bit for each 64th of the block
    unsigned long context = 0;       // of the kernel's queue for this stage alone
    char* buffer = nullptr;
    uint64_t taken = 0;    // bytes: a stream is done with it after all of them
    std::atomic<uint64_t> used_ns{0};  // when it was begun, or taken from
  };
  static constexpr uint32_t kStages = 16;  // four streams

  bool own(Stage& stage) const noexcept;
  void release(Stage& stage, Phase phase) const noexcept;
  bool finish(Stage& stage, bool wait) const noexcept;

  Stage stages_[kStages];
  char* memory_ = nullptr;
  int descriptor_ = -1;
};

}  // namespace ringside::memory
