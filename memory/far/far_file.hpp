// SPDX-License-Identifier: BSD-3-Clause
// Far memory: an unnamed file with the arena's content at the arena's offsets. On tmpfs and DAX, the file is mapped, so
// that granules are compared and copied without a system call. On a disk, transfers bypass the page cache, because it
// would hold a second copy in DRAM, in addition to the limit.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "memory/far/stages.hpp"
#include "memory/far/write_behind.hpp"

namespace ringside::memory {

class FarFile {
 public:
  using Writes = WriteBehind::Orders;
  /// Returns 0, or -1 after recording the failure.
  int start(const char* folder, uint64_t arena_bytes) noexcept;
  void stop() noexcept;
  /// In a forked child: replaces the parent's file by a file that write_copy made. Returns 0 or -errno.
  long adopt(int descriptor) noexcept;

  /// From now on every transfer takes as long as with a slower memory: `latency_ns` for the first byte, and then the
  /// time that follows from the given bytes per second. Zeros end the emulation. Call it before start.
  void emulate(double latency_ns, double read_bytes_per_s, double write_bytes_per_s) noexcept;
  enum Transfer { kRead, kWrite };
  /// For callers that use map(): waits until the emulated transfer that began at `begin_ns` ends.
  void pace(Transfer transfer, uint64_t begin_ns, size_t bytes) const noexcept {
    if (latency_ns_ > 0) wait_until_emulated(transfer, begin_ns, bytes);
  }
  uint64_t begin_ns() const noexcept { return latency_ns_ > 0 ? now_ns() : 0; }
  int descriptor() const noexcept { return descriptor_; }
  bool mapped() const noexcept { return map_ != nullptr; }
  char* map() const noexcept { return map_; }
  /// Whether the file is mapped but is not in DRAM; it is then on NVDIMM or a similar memory.
  bool is_dax() const noexcept { return dax_; }
  /// The free bytes of the folder's file system; 0 after recording a failure.
  static uint64_t free_bytes(const char* folder) noexcept;

  /// Reserves the range, so that later writes cannot fail because the disk is full. Returns 0 or -errno.
  long reserve(uint64_t offset, uint64_t bytes) const noexcept;
  /// Frees the range; it reads as zeros afterwards.
  void punch(uint64_t offset, uint64_t bytes) noexcept;
  /// read and write end the process if the device fails, because a load or a store cannot return an error. Ranges are
  /// whole pages. After write, the caller may change its copy of the data, although a disk may receive the data later:
  /// see flush.
  void read(uint64_t offset, char* to, size_t bytes) noexcept;
  void write(uint64_t offset, const char* from, size_t bytes) noexcept {
    Writes one;
    write(offset, from, bytes, one);
    submit(one);
  }
  /// Several writes that a disk receives with one call. The caller must submit them before it reads, punches or
  /// flushes.
  void write(uint64_t offset, const char* from, size_t bytes, Writes& together) noexcept;
  void submit(Writes& together) noexcept { write_behind_.submit(together); }
  /// Waits until all written data is in the file.
  void flush() noexcept { write_behind_.wait(0, UINT64_MAX); }

  bool writes_behind() const noexcept { return write_behind_.any(); }
  /// Whether read_ahead has an effect. It has one on a disk, if the page cache can be bypassed.
  bool reads_ahead() const noexcept { return stages_.any(); }
  /// Announces that a stream will soon read the block of kStageBytes at `offset`.
  void read_ahead(uint64_t offset) noexcept {
    stages_.begin(static_cast<uint32_t>(offset >> kStageShift), write_behind_);
  }

 private:
  long map_file() noexcept;
  void start_beside_page_cache() noexcept;
  int descriptor_ = -1;
  char* map_ = nullptr;
  bool dax_ = false;
  uint64_t bytes_ = 0;
  Stages stages_;
  WriteBehind write_behind_;
  void wait_until_emulated(Transfer transfer, uint64_t begin_ns, size_t bytes) const noexcept;
  double latency_ns_ = 0, read_ns_per_byte_ = 0, write_ns_per_byte_ = 0;  // 0: not emulated
};

extern FarFile far;

}  // namespace ringside::memory
