// SPDX-License-Identifier: BSD-3-Clause
// Reads a pool file without owning it: through a read-only mapping, while an analyzer writes it or when none runs.
// Everything returned was verified; a slot that was overwritten meanwhile is reported as such.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "common/files/watched_mapping.hpp"
#include "common/ring/ring_recovery.hpp"
#include "common/ring/ring_view.hpp"
#include "common/ring/storage.hpp"

namespace ringside {

class RingReader {
 public:
  /// How long to wait for a pool that is being made. Most are made within milliseconds.
  static constexpr std::chrono::milliseconds kPatience{2000};

  /// Throws Error: exit code 2 if there is no pool, it was never finished, or it is not a Ringside pool or a newer one;
  /// 3 if it may not be read, or is still being made after `patience`; 5 if it is damaged. If a file is truncated while
  /// it is open, or its disk fails, the process ends with one line (common/files/watched_mapping.hpp).
  static RingReader open(const std::filesystem::path& path, std::chrono::milliseconds patience = kPatience);

  const std::filesystem::path& path() const noexcept { return path_; }
  Storage storage() const noexcept { return storage_; }
  const RingView& ring() const noexcept { return *ring_; }

  /// The slots as they are now, by ascending commit_seq.
  Recovery recover() const { return ringside::recover(*ring_); }
  PayloadCheck verify(const KeptSlot& kept) const { return check_payload(*ring_, kept.slot, kept.header); }
  ReadResult read(const KeptSlot& kept, void* out) const { return read_payload(*ring_, kept.slot, kept.header, out); }

 private:
  RingReader() = default;

  /// One look at the file as it is now.
  static RingReader look_at(int fd, const std::filesystem::path& path);

  std::filesystem::path path_;
  Storage storage_ = Storage::kFile;
  std::shared_ptr<const std::byte> mapping_;
  std::shared_ptr<WatchedMapping> watched_;
  std::unique_ptr<RingView> ring_;
};

}  // namespace ringside
