// SPDX-License-Identifier: BSD-3-Clause
// The archive of a pool: a second ring, POOL.archive, to which a thread copies the steps that triggers keep
// (docs/use/questions.md). The main thread only says which step to copy. The archive's thread reads the step from the
// ring like any reader, and drops it if the writer has reused the slot meanwhile.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "analyzer/pool/ring_admission.hpp"
#include "analyzer/ring/ring_writer.hpp"
#include "common/handoff/handoff_layout.hpp"
#include "common/options/options.hpp"
#include "common/platform/error.hpp"
#include "common/results/catalogue.hpp"
#include "common/threads/team.hpp"

namespace ringside {

class PoolArchive {
 public:
  /// Makes the archive's pool, or takes the existing one as `admit` does. offered: the run. ring: the pool that
  /// admitted the run. bytes: the limit; 0: as many slots as the ring. from: the ring's writer; the writer, and the
  /// words of `catalogue` in its slots, must outlive this object. Throws Error as `admit` does, and with exit code 2 if
  /// fewer than 3 steps fit in `bytes`.
  PoolArchive(const RingOptions& ring, std::uint64_t bytes, const OfferedRun& offered, PoolUse use,
              const Catalogue& catalogue, RingWriter& from);
  ~PoolArchive();
  PoolArchive(const PoolArchive&) = delete;
  PoolArchive& operator=(const PoolArchive&) = delete;

  /// Main thread, after the step's results were stored: queues the step's copy. Does not wait. Small steps may come
  /// within microseconds, so after a small step the main thread yields its core once.
  void keep(const RingWriter::Committed& step) noexcept;

  /// The number of this attachment's steps that were copied to the archive, and the number of steps that could not be
  /// copied.
  std::uint64_t kept() const noexcept { return kept_.load(std::memory_order_acquire); }
  std::uint64_t lost() const noexcept { return lost_.load(std::memory_order_acquire); }

  /// Main thread, after the run: returns when every step that `keep` has queued is kept or lost, and when the kept
  /// steps are persisted, if the durability requires that. Returns why the archive's disk failed, or nothing.
  std::optional<Error> finish() noexcept;

 private:
  static constexpr std::size_t kRoom = 64;  // steps that wait to be copied

  void run() noexcept;
  bool copy(const RingWriter::Committed& step) noexcept;
  void name(const RingWriter::Committed& step) noexcept;

  const std::string path_;
  RingWriter& from_;
  Admission admission_;
  SingleThread alone_;
  RingWriter ring_;
  // The main thread writes `named_` and the steps before it; the archive's thread reads them and writes `taken_`.
  std::vector<RingWriter::Committed> steps_;
  alignas(64) std::atomic<std::uint64_t> named_{0};
  alignas(64) std::atomic<std::uint64_t> taken_{0};
  std::atomic<std::uint64_t> kept_{0};
  std::atomic<std::uint64_t> lost_{0};
  std::atomic<bool> failed_{false};
  std::jthread thread_;
};

}  // namespace ringside
