// SPDX-License-Identifier: BSD-3-Clause
// Commits iterates to the ring. The protocol (docs/formats/ring_format.md) consists of three functions with one fence
// each, so that the caller can measure their times separately. After the third function, the producer's buffer may be
// released:
//
//   begin    choose the oldest free slot, make its header invalid   fence 1: before any of its payload changes
//   copy     payload and chunk hashes, by all threads               fence 2: before the header confirms them
//   commit   the header line, commit_seq last                       fence 3: before the buffer is released
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/ring/lease_window.hpp"
#include "analyzer/ring/persistence.hpp"
#include "analyzer/ring/ring_syncer.hpp"
#include "analyzer/ring/slot_order.hpp"
#include "analyzer/ring/victim_choice.hpp"
#include "common/reductions/step_reducer.hpp"
#include "common/results/catalogue.hpp"
#include "common/ring/ring_recovery.hpp"
#include "common/ring/ring_view.hpp"
#include "common/ring/storage.hpp"
#include "common/threads/openmp_team.hpp"
#include "common/threads/team.hpp"

namespace ringside {

enum class CommitStatus {
  kOk,
  kSyncFailed  // the disk lost data: the run must stop (see sync_error); later calls also return this
};

/// One thread calls all functions except the counters, which any thread may read.
class RingWriter {
 public:
  /// Finds out from the slots' headers what the ring holds. `persistence` must outlive the writer.
  RingWriter(WritableRing ring, Persistence& persistence, Storage storage, Durability durability);
  ~RingWriter() = default;  // does not wait for the disk; `finish` does
  RingWriter(const RingWriter&) = delete;
  RingWriter& operator=(const RingWriter&) = delete;

  /// From now on `team`, which must outlive the writer, makes the copies; until then all OpenMP threads make them.
  void share_among(Team& team) noexcept { team_ = &team; }

  /// From now on the leases of readers are respected (victim_choice.hpp); until then no slot counts as held. `leases`
  /// must outlive the writer.
  void respect(SlotLeases& leases) noexcept { victims_.respect(leases); }

  /// The delay of syncs in the next runs (ring_syncer.hpp), instead of the default.
  void delay_syncs(std::chrono::nanoseconds delay) noexcept { pace_.delay = delay; }

  /// The set-up of a run: writes the run's description with its catalogue. Verifies the newest payload (only this one,
  /// unless a power cut damaged it), so that the slots to keep are intact. If that payload belongs to the same run, the
  /// run continues from it. Returns its slot, if any, and copies it to newest_payload (payload_bytes bytes; may be
  /// null). resume_from: the iteration of the step to continue from; newer steps are discarded after it has verified.
  /// 0: the newest intact one. Throws Error: exit code 2 if the ring has other variables or no room for the catalogue,
  /// 3 if a sync failed, 5 if the step to resume from is not kept or is damaged.
  std::optional<KeptSlot> begin_run(const RunDescription& run, const Catalogue& catalogue,
                                    void* newest_payload = nullptr, std::uint64_t resume_from = 0);

  /// Discards every iterate before a run that may overwrite them; call `begin_run` next. First ends a run in progress,
  /// as `finish` does. The iterates' bytes stay until they are overwritten. The next commits of this writer continue
  /// the numbering. If this writer makes no further commit, the pool's next owner begins with 1. Throws Error (exit
  /// code 3) if a sync failed.
  void clear();

  /// Takes an invalid slot, else the oldest slot that no reader holds, else the oldest slot; but never one of the two
  /// newest. Under Durability::kPower on a plain file, it takes only a slot that is older than the newest *persisted*
  /// one, and waits for the disk if there is no such slot. It never waits for a reader. If it could take the slot's
  /// lease, `end_lease` ends that lease.
  CommitStatus begin() noexcept;

  /// Copies all variables of `step` into the slot. Call after `begin`. source: payload_bytes bytes, which must not
  /// change during the call. step: with those scalars for which the ring has words. A reducer (of the same schema and
  /// team) reduces the fields during the copy, but does not call `reducer->finish`. It reduces the bytes that are in
  /// the slot, even if `source` changes.
  void copy(const void* source, const StepWithScalars& step, StepReducer* reducer = nullptr) noexcept;

  /// Call after `copy`. When it returns kOk the iterate is committed; on DAX, and in a file system in memory, it is
  /// also persisted under Durability::kPower.
  CommitStatus commit() noexcept;

  /// Lets readers hold the committed step. Call after `commit`, and after the buffer is released, because this makes a
  /// system call. If it was not called, the next `begin` does the same.
  void end_lease() noexcept { victims_.give_back(); }
  /// The same when a further step already waits. Makes no call while the lease window (lease_window.hpp) lasts; readers
  /// can then hold the committed step when the window ends. now_ns: CLOCK_MONOTONIC, not in the future.
  void end_lease_before_step(std::int64_t now_ns) noexcept {
    if (!victims_.has_unused() || !window_.lasts(now_ns)) end_lease();
  }

  /// Chooses the slot of the next `begin`, so that `begin` makes no system call, and starts loading it into the cache.
  /// Call after `end_lease`, when there is nothing else to do.
  void choose_next() noexcept { choose_ahead(1); }
  /// The same when a further step already waits. May take the leases of several slots, as a lease window. Then call
  /// `begin` at once. now_ns: as above.
  void choose_before_step(std::int64_t now_ns) noexcept;

  /// Protects the step with this commit_seq from being overwritten, until this function is called with another step or
  /// with none (VictimChoice::guard). Returns false if no slot has that step.
  bool guard(std::optional<std::uint64_t> commit_seq) noexcept;

  /// A committed step, for a thread that copies it out of the ring.
  struct Committed {
    std::uint32_t slot = 0;
    SlotHeader header;
  };
  /// The newest committed step. Call after a `commit`.
  Committed newest() const noexcept { return {current_, header_}; }
  /// From now on the slot counts as held until `let_go`, which any thread may call. A held slot is overwritten only if
  /// no other slot may be overwritten. RingView::still_holds reports whether the step is still there.
  void hold(std::uint32_t slot) noexcept { victims_.hold(slot); }
  void let_go(std::uint32_t slot) noexcept { victims_.let_go(slot); }

  /// Stores the results of the newest commit beside its step. words: in the order of the run's catalogue.
  void store_results(std::span<const std::uint64_t> words) noexcept;

  /// The payload (payload_bytes bytes) of the slot that the last `begin` took. It is complete after `copy`.
  const std::byte* payload() const noexcept { return ring_.payload(current_); }
  /// The payload (payload_bytes bytes) of the previous step of the same run; null if there is none.
  const std::byte* previous_payload() const noexcept;

  /// Ends the run. Returns 0, or the errno value of the sync that failed. Under Durability::kPower everything
  /// committed and recorded is persisted when it returns 0.
  int finish() noexcept;

  /// commit_seq of the newest commit and of the newest one that survives power loss (0 if there is none). Both
  /// continue from what the pool held when it was opened.
  std::uint64_t committed() const noexcept { return committed_.load(std::memory_order_acquire); }
  std::uint64_t persisted() const noexcept { return persisted_.load(std::memory_order_acquire); }
  /// The number of readers' leases that this writer has broken.
  std::uint64_t leases_broken() const noexcept { return victims_.broken(); }
  /// commit_seq of the next commit.
  std::uint64_t next_seq() const noexcept { return next_seq_; }
  /// Number of commits, and of persisted commits, that this run has made since `begin_run`.
  std::uint64_t run_committed() const noexcept { return of_run(committed()); }
  std::uint64_t run_persisted() const noexcept { return of_run(persisted()); }

  /// The errno value of the first sync that failed, or 0.
  int sync_error() const noexcept;

  const RingView& ring() const noexcept { return ring_; }

 private:
  void choose_ahead(std::uint32_t most) noexcept;
  void persist_found() noexcept;
  void discard(std::uint32_t slot) noexcept;
  void discard_newer(const Recovery& recovery, const RunDescription& run, std::uint64_t iteration);
  void copy_portion(const std::byte* source, const PayloadParts::Part& portion, StepReducer* reducer,
                    std::size_t thread) noexcept;
  std::uint64_t first_chunk_of(const PayloadParts::Part& portion) const noexcept;
  void write_run(const RunDescription& run, const Catalogue& catalogue);
  int sync_all() noexcept;
  void hurry_syncs() noexcept;
  /// Slots with a smaller commit_seq may be overwritten.
  std::uint64_t may_go_below() const noexcept { return syncer_ ? persisted() : next_seq_; }
  std::uint64_t of_run(std::uint64_t seq) const noexcept {
    const std::uint64_t before = committed_before_run_.load(std::memory_order_acquire);
    return seq > before ? seq - before : 0;
  }

  WritableRing ring_;
  Persistence& persistence_;
  OpenMpTeam openmp_;
  Team* team_ = &openmp_;
  const bool syncs_;  // whether a commit needs a sync to be persisted
  const Durability durability_;
  // The unit that a thread copies: a chunk; or several chunks of one variable, if chunks are smaller than the blocks
  // that are reduced.
  const PayloadParts portions_;
  Id128 run_id_;
  std::uint64_t catalogue_hash_ = 0;  // the hash of the run's catalogue
  SlotOrder order_;                   // empty slots have nothing worth keeping
  VictimChoice victims_;
  LeaseWindow window_;
  std::uint64_t next_seq_ = 1;
  std::uint32_t current_ = 0;              // slot of the last `begin`
  std::optional<std::uint32_t> newest_;    // slot of the newest commit of this run
  std::optional<std::uint32_t> previous_;  // slot of the step before `current_`
  StepWithScalars step_;                   // the step that was copied last
  SlotHeader header_;                      // the header that was committed last
  std::atomic<std::uint64_t> committed_{0};
  std::atomic<std::uint64_t> persisted_{0};
  std::atomic<std::uint64_t> committed_before_run_{0};
  bool syncs_itself_ = false;  // during a run if syncs_ and the persistence syncs at once: `commit` syncs
  SyncPace pace_;
  std::uint64_t hurried_until_ = 0;     // commits before this one are synced without delay
  std::uint64_t delayed_ = 0;           // the newest commit whose sync may be delayed
  int sync_error_ = 0;                  // the error of syncs that the syncer did not make
  std::unique_ptr<RingSyncer> syncer_;  // exists during a run if syncs_ and not syncs_itself_
};

}  // namespace ringside
