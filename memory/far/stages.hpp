// SPDX-License-Identifier: BSD-3-Clause
// Reads a far file on a disk ahead of a stream: several blocks of 512 KiB at a time (with io_submit(2), which bypasses
// the page cache and needs no thread). A stage is a copy of a block that may be discarded at any time, so no granule
// waits for it. When a granule is written to the file, that part of a stage is marked as stale before the granule's
// word becomes absent. So a thread that finds an absent granule also finds the stale mark.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <atomic>

namespace ringside::memory {

class WriteBehind;

inline constexpr uint32_t kStageShift = 19;
inline constexpr uint64_t kStageBytes = uint64_t{1} << kStageShift;
inline constexpr uint32_t kBlocksAhead = 3;  // ahead of the stream's current block

class Stages {
 public:
  /// `descriptor`: opened with O_DIRECT. If the kernel refuses, there are no stages.
  void start(int descriptor) noexcept;
  void stop() noexcept;
  /// Called in a forked child: forgets the parent's reads.
  void forget() noexcept;

  bool any() const noexcept { return memory_ != nullptr; }
  /// Begins to read a block of the file, unless a stage already has it or reads it, or all stages are in use. Parts
  /// that `writes` still holds are stale from the beginning.
  void begin(uint32_t block, WriteBehind& writes) noexcept;
  /// Copies a range from its block's stage. Returns false if no stage has the range; the caller must then read the
  /// file. The caller owns the range's granules.
  bool take(uint64_t offset, char* to, size_t bytes) noexcept;
  /// Marks the range as stale. Called after a write to the file, or after a hole was made in it.
  void changed(uint64_t offset, uint64_t bytes) noexcept;

 private:
  enum Phase : uint32_t { kEmpty, kOwned, kReading, kReady };
  static constexpr uint32_t kNoBlock = UINT32_MAX;
  struct alignas(64) Stage {
    std::atomic<uint32_t> phase{kEmpty};
    std::atomic<uint32_t> block{kNoBlock};
    std::atomic<uint64_t> stale{0};  // a bit for each 64th of the block
    unsigned long context = 0;       // the kernel's queue for this stage only
    char* buffer = nullptr;
    uint64_t taken = 0;    // the bytes taken: if all are taken, the stream has finished with the stage
    std::atomic<uint64_t> used_ns{0};  // the time of its start or of the last take
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
