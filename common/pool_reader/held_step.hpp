// SPDX-License-Identifier: BSD-3-Clause
// A step that a reader works on in place: its variables are views of the mapped pool, without a copy. While the step is
// held, the analyzer overwrites other slots. If too few slots are left, the analyzer overwrites the held slot, and the
// next `check` reports this. Only the slot's header, not the lease, proves that the bytes read belong to the step
// (docs/publish/library.md, "Why a broken lease is never missed").
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/files/slot_lease.hpp"
#include "common/platform/process.hpp"
#include "common/platform/unique_fd.hpp"
#include "common/ring/ring_view.hpp"
#include "common/schema/schema_layout.hpp"
#include "common/threads/team.hpp"

namespace ringside {

/// The leases that one reader has on a pool's slots. Locks of one open file description do not conflict with each
/// other. So each reader has its own description, and this object counts how many of its steps hold each slot. All
/// functions may be called from any thread. A child of fork() shares the parent's leases, so the functions do nothing
/// there.
class ReaderLeases {
 public:
  /// file: the pool's file, opened for this reader alone.
  ReaderLeases(UniqueFd file, std::uint32_t slots) : file_(std::move(file)), counts_(slots, 0) {}

  LeaseStatus take(std::uint32_t slot) noexcept;
  /// Ends a lease that was taken before.
  void end(std::uint32_t slot) noexcept;

  /// The pool's file, for reading.
  int file() const noexcept { return file_.get(); }

  /// The number of held steps in all slots together.
  std::uint32_t held() const noexcept;

 private:
  const UniqueFd file_;
  const ForkMark mark_;
  mutable std::mutex mutex_;
  std::vector<std::uint32_t> counts_;  // one count for each slot; guarded by mutex_
};

enum class HeldStatus {
  kOk,
  kOverwritten,  // the analyzer needed the slot: bytes read since the last check may belong to another step
  kDamaged       // the bytes differ from those that were committed
};

/// Only one thread at a time may use it. It must not outlive the reader that returned it.
class HeldStep {
 public:
  HeldStep() = default;  // an object that holds no step
  HeldStep(HeldStep&& other) noexcept { swap(other); }
  HeldStep& operator=(HeldStep&& other) noexcept {
    HeldStep(std::move(other)).swap(*this);
    return *this;
  }
  ~HeldStep() { end(); }

  explicit operator bool() const noexcept { return ring_ != nullptr; }
  std::uint32_t slot() const noexcept { return slot_; }
  /// The slot's header, as it was when the step was first held.
  const SlotHeader& header() const noexcept { return header_; }

  /// The bytes of a variable. The bytes are valid only if a later `check` returns kOk.
  std::span<const std::byte> view(std::size_t variable) const noexcept;
  /// The step as the producer published it, with all scalars. This is a copy, which is also valid only if a later
  /// `check` returns kOk.
  StepWithScalars step() const noexcept { return ring_->step(slot_); }

  /// Checks that everything that was read through the views so far belongs to this step. Reads one cache line. Ends the
  /// lease of a step that was overwritten.
  HeldStatus check() noexcept;

  /// Hashes a variable in place, and then calls `check`. A later call for the same variable only calls `check`.
  /// kDamaged is a property of the file, and does not end the lease.
  HeldStatus verify(std::size_t variable, Team& team) noexcept;
  /// Verifies all variables in this way.
  HeldStatus verify(Team& team) noexcept;

  /// Makes the last check and ends the lease, no matter what the check returns. Nothing may be read through the views
  /// afterwards.
  HeldStatus release() noexcept;

  /// The reason why the step is no longer held: one line. Requires that a check has failed.
  std::string why_lost() const;

 private:
  friend class RingReader;
  HeldStep(const RingView& ring, ReaderLeases& leases, std::uint32_t slot, const SlotHeader& header) noexcept
      : ring_(&ring), leases_(&leases), slot_(slot), header_(header) {}

  void swap(HeldStep& other) noexcept;
  void end() noexcept;
  bool hashes_hold(std::size_t variable, Team& team) const noexcept;

  const RingView* ring_ = nullptr;
  ReaderLeases* leases_ = nullptr;  // null if the lease has ended
  std::uint32_t slot_ = 0;
  SlotHeader header_;
  std::bitset<kMostVariables> verified_;
  std::uint32_t held_when_lost_ = 0;  // the number of steps that the reader held when this one was lost
};

/// The result of a request to hold a step.
enum class HoldOutcome {
  kHeld,
  kNotKept,      // no slot contains that commit
  kOverwritten,  // the analyzer is overwriting the slot
  kNoLeases      // the file system has no leases, or this process is a child of the one that opened the reader
};

}  // namespace ringside
