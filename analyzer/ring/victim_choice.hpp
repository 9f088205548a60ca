// SPDX-License-Identifier: BSD-3-Clause
// Chooses the slot that a step overwrites (docs/publish/library.md, "Holding a step"): the oldest slot that no reader
// holds, but never one of the two newest. The writer never waits for readers: if readers hold all slots that may be
// overwritten, the writer breaks the lease of the oldest one, and its reader detects this from the slot's header. The
// last finite step may be guarded (docs/use/questions.md): its slot is never overwritten. The leases of several
// consecutive victims can be taken at once, as a *window* (lease_window.hpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/ring/slot_order.hpp"
#include "common/files/slot_lease.hpp"

namespace ringside {

/// The writer's side of readers' leases on slots. Called once or a few times per step; does not wait.
class SlotLeases {
 public:
  virtual ~SlotLeases() = default;

  /// Takes the leases of all these slots exclusively: until `give_back` of the same slots, no reader gets a lease of
  /// them. Returns false, and takes none, if a reader has a lease of one of them.
  virtual bool take(SlotRange slots) noexcept = 0;
  virtual void give_back(SlotRange slots) noexcept = 0;
  /// Whether a reader has a lease of any slot now.
  virtual bool any_held() noexcept = 0;
};

class VictimChoice {
 public:
  /// slots: at least three. Without `respect`, no slot counts as held.
  explicit VictimChoice(std::uint32_t slots) : disregarded_(slots, 0), copied_(slots) {}

  /// From now on leases are respected. `leases` must outlive this object.
  void respect(SlotLeases& leases) noexcept { leases_ = &leases; }

  /// persisted: only empty slots and slots with a smaller commit_seq may be overwritten; there must be at least one. If
  /// the slot's lease could be taken, this object owns it until `give_back`. Does not begin a window.
  std::uint32_t choose(const SlotOrder& order, std::uint64_t persisted) noexcept;

  /// Decides now what the next `choose` returns, so that `choose` makes no system call; `order` must not change between
  /// the calls. Returns the decided slot. Decides nothing if no slot is free, or if a lease would have to be broken,
  /// because the reader may end this lease before `choose` is called. most > 1: if a window has an unused slot, decides
  /// for it without a system call. Otherwise begins a window: takes the leases of up to `most` slots that the next
  /// steps would overwrite, if these have consecutive numbers and no reader holds one of them.
  std::optional<std::uint32_t> choose_ahead(const SlotOrder& order, std::uint64_t persisted,
                                            std::uint32_t most = 1) noexcept;

  /// Whether this object has taken the lease of a slot that `choose` has not returned yet.
  bool has_unused() const noexcept { return unused_ > 0; }

  /// Finds out by a system call whether readers have leases of any slot.
  void look_for_leases() noexcept { lease_seen_ = lease_seen_ || (leases_ != nullptr && leases_->any_held()); }

  /// Whether a lease of a reader was found since the last call.
  bool lease_seen() noexcept { return std::exchange(lease_seen_, false); }

  bool is_decided() const noexcept { return ahead_.has_value(); }

  /// Ends the leases that were taken, if any, and cancels a decision made ahead.
  void give_back() noexcept;

  /// Protects this slot until this function is called with another slot or with none. In a ring of three slots, the
  /// second newest slot may be overwritten during this time. Ends a window that has this slot for a next step.
  void guard(std::optional<std::uint32_t> slot) noexcept;

  /// Counts this slot as held until `let_go`, which any thread may call: its step is being copied to the archive. Holds
  /// are counted, because in the meantime another step that is also to be copied may have been written to the slot.
  /// Ends a window that has this slot for a next step. Only the thread that chooses may call `hold`.
  void hold(std::uint32_t slot) noexcept;
  void let_go(std::uint32_t slot) noexcept { copied_[slot].fetch_sub(1, std::memory_order_relaxed); }

  /// The smallest commit_seq whose slot may be overwritten; 0: an empty slot. Once a later commit than this one is
  /// persisted, `choose` may be called.
  std::uint64_t oldest_that_may_go(const SlotOrder& order) const noexcept;

  /// Ignores every lease that readers have now, because no slot is worth keeping.
  void disregard_all() noexcept { disregarded_.assign(disregarded_.size(), 1); }

  /// How many leases were broken. A broken lease counts once, even if its reader keeps it locked afterwards.
  std::uint64_t broken() const noexcept { return broken_; }

 private:
  std::optional<std::uint32_t> free_victim(const SlotOrder& order, std::uint64_t persisted,
                                           std::uint32_t most) noexcept;
  std::uint32_t held_victim(const SlotOrder& order) noexcept;
  void keep_out(std::uint32_t slot) noexcept;
  std::uint32_t free_from(std::uint32_t slot, const SlotOrder& order, std::uint64_t persisted,
                          std::uint32_t most) const noexcept;
  bool take(SlotRange slots) noexcept;

  SlotLeases* leases_ = nullptr;
  std::optional<SlotRange> taken_;
  std::uint32_t unused_ = 0;  // so many of the last slots of `taken_` were not returned by `choose` yet
  bool lease_seen_ = false;
  std::optional<std::uint32_t> ahead_;  // the slot that the next `choose` returns
  std::optional<std::uint32_t> guarded_;
  std::vector<char> disregarded_;  // by slot: whether its lease was broken, and its byte could not be locked since
  std::vector<std::atomic<std::uint32_t>> copied_;
  std::uint64_t broken_ = 0;
};

}  // namespace ringside
