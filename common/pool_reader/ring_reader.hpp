// SPDX-License-Identifier: BSD-3-Clause
// Reads a pool file without owning it: through a read-only mapping, even while an analyzer writes it. All returned data
// are verified. A slot that was overwritten meanwhile is reported as overwritten.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>

#include "common/files/watched_mapping.hpp"
#include "common/platform/error.hpp"
#include "common/platform/stop_flag.hpp"
#include "common/pool_reader/held_step.hpp"
#include "common/ring/ring_recovery.hpp"
#include "common/ring/ring_view.hpp"
#include "common/ring/storage.hpp"

namespace ringside {

/// The Error if no file of that name exists. Exit code 2.
class MissingPoolError : public Error {
 public:
  using Error::Error;
};

/// The commit number that stands for the newest step.
inline constexpr std::uint64_t kNewestCommit = std::numeric_limits<std::uint64_t>::max();

class RingReader {
 public:
  /// How long to wait for a pool that is being made. Most pools are made within milliseconds.
  static constexpr std::chrono::milliseconds kPatience{2000};

  /// Throws Error. Exit code 2: there is no file (a MissingPoolError), the pool was never finished, the file is not a
  /// Ringside pool, or its format is newer. Exit code 3: the file may not be read, or the pool is still being made
  /// after `patience`. Exit code 5: the pool is damaged. Exit code 130: `stop` is set. If a file is truncated while it
  /// is open, or its disk fails, the process ends with one line (common/files/watched_mapping.hpp).
  static RingReader open(const std::filesystem::path& path, std::chrono::milliseconds patience = kPatience,
                         StopFlag stop = {});

  const std::filesystem::path& path() const noexcept { return path_; }
  Storage storage() const noexcept { return storage_; }
  const RingView& ring() const noexcept { return *ring_; }
  /// Throws Error (exit code 5) if the file has become shorter than its mapping, because a load beyond the file's end
  /// would raise SIGBUS.
  void check_intact() const;

  /// From now on a fault of the mapping does not end the process: `check_intact` reports a truncation, and the bytes
  /// read fail the check of their hashes. Call it in programs that show several pools.
  void survive_faults() noexcept { watched_->survive_faults(); }

  /// The other users of that slot now: readers, or the analyzer. Nothing if the file system has no leases. Takes no
  /// lease itself.
  std::optional<SlotUse> use(std::uint32_t slot) const noexcept;

  /// The slot with the step of that commit, or with the newest step (kNewestCommit), if it is still kept.
  std::optional<KeptSlot> find(std::uint64_t commit_seq) const noexcept;

  /// The slots in their present state, by ascending commit_seq.
  Recovery recover() const { return ringside::recover(*ring_); }
  PayloadCheck verify(const KeptSlot& kept) const { return check_payload(*ring_, kept.slot, kept.header); }
  ReadResult read(const KeptSlot& kept, void* out) const { return read_payload(*ring_, kept.slot, kept.header, out); }

  /// The longest time for which `hold` waits for the analyzer to release the slot of the newest step, or slots that the
  /// analyzer has locked together. Usually the analyzer releases them within 50 us.
  static constexpr std::chrono::milliseconds kMostHoldWait{100};

  /// Holds the step of that commit, or the newest one (kNewestCommit). If the outcome is kHeld, `step` is that step and
  /// must not outlive this reader. kNotKept: no slot held that step (for the newest step: no slot held any).
  HoldOutcome hold(std::uint64_t commit_seq, HeldStep& step) const noexcept;

  /// Receives bytes of a variable; `from` is their offset, at which an entry begins.
  using TakeBytes = std::function<void(std::uint64_t from, std::span<const std::byte> bytes)>;

  /// Reads a variable without a lease and without memory for all of it: hashes its bytes and passes them to `take` in
  /// order, in whole entries, at most a chunk at once. The function uses pread, so that a truncated pool leads to an
  /// Error (exit code 5) and not to a signal. Use the results of `take` only if kOk is returned. Also throws Error
  /// (exit code 3).
  HeldStatus read_through(const KeptSlot& kept, std::size_t variable, const TakeBytes& take) const {
    return read_through(kept, variable, 0, ring_->geometry().schema().place(variable).bytes, take);
  }
  /// Reads only the chunks with bytes from `begin` to `end` of the variable. Requires begin < end, both within the
  /// variable.
  HeldStatus read_through(const KeptSlot& kept, std::size_t variable, std::uint64_t begin, std::uint64_t end,
                          const TakeBytes& take) const;

  /// Copies the bytes of a variable to `to`, with reads as in read_through.
  HeldStatus copy(const KeptSlot& kept, std::size_t variable, void* to) const;

  /// The oldest step that was committed after commit `after_commit` and is still kept. Waits for such a step until
  /// `timeout` has passed, `stop` is set or the file was truncated. The reader polls, every 50 us at first and every 2
  /// ms later, because a reader must not write to the pool, and the analyzer must not make a system call for each
  /// follower.
  std::optional<KeptSlot> next(std::uint64_t after_commit, std::chrono::nanoseconds timeout,
                               StopFlag stop = {}) const noexcept;

 private:
  RingReader() = default;

  Error truncated() const;

  /// A single attempt to open the file in its present state.
  static RingReader look_at(int fd, const std::filesystem::path& path);

  HoldOutcome hold(const KeptSlot& kept, HeldStep& step) const noexcept;
  bool frees_soon(const KeptSlot& kept) const noexcept;

  std::filesystem::path path_;
  Storage storage_ = Storage::kFile;
  std::shared_ptr<const std::byte> mapping_;
  std::shared_ptr<WatchedMapping> watched_;
  std::unique_ptr<RingView> ring_;
  std::unique_ptr<ReaderLeases> leases_;
};

}  // namespace ringside
