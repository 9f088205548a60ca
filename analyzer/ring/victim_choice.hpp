// SPDX-License-Identifier: BSD-3-Clause
// Which slot a step overwrites (docs/publish/library.md, "Holding a step"): the oldest that no reader holds, and never
// one of the two newest. Readers are never waited for: if all slots that could go are held, the oldest goes, its lease
// is broken, and its reader finds that out from the slot's header. The last finite step may be guarded
// (docs/use/questions.md): its slot does not go at all.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ringside {

/// The writer's side of the leases that readers have of slots. Called once a step or a few times; does not wait.
class SlotLeases {
 public:
  virtual ~SlotLeases() = default;

  /// Takes the slot's lease exclusively: until `give_back`, no reader gets one. False if a reader has one.
  virtual bool take(std::uint32_t slot) noexcept = 0;
  virtual void give_back(std::uint32_t slot) noexcept = 0;
};

class VictimChoice {
 public:
  /// slots: at least three. Without `respect`, no slot counts as held.
  explicit VictimChoice(std::uint32_t slots) : disregarded_(slots, 0), copied_(slots) {}

  /// From here on leases are respected. `leases` outlives this object.
  void respect(SlotLeases& leases) noexcept { leases_ = &leases; }

  /// seqs: the commit_seq that each slot holds, 0 for nothing worth keeping. persisted: only slots with 0 or a smaller
  /// commit_seq may go. Requires that one of them may. The slot's lease, if it could be taken, is this object's until
  /// `give_back`.
  std::uint32_t choose(std::span<const std::uint64_t> seqs, std::uint64_t persisted) noexcept;

  /// Decides now what the next `choose` returns, so that it makes no system call then; between the two calls, `seqs`
  /// must not change. Decides nothing if no slot may go or a lease would have to be broken: the reader may end it until
  /// then.
  void choose_ahead(std::span<const std::uint64_t> seqs, std::uint64_t persisted) noexcept;

  /// Ends the lease that was taken, if there is one. Nothing is decided ahead any more.
  void give_back() noexcept;

  /// This slot does not go, until another one is named or none. In a ring of three slots, the second newest one may go
  /// meanwhile.
  void guard(std::optional<std::uint32_t> slot) noexcept;

  /// This slot counts as held until `let_go`, which any thread may call: its step is being copied to the archive. As
  /// often as it was held: the slot may have taken another step meanwhile, which is to be copied, too.
  void hold(std::uint32_t slot) noexcept { copied_[slot].fetch_add(1, std::memory_order_relaxed); }
  void let_go(std::uint32_t slot) noexcept { copied_[slot].fetch_sub(1, std::memory_order_relaxed); }

  /// The smallest of `seqs` whose slot may go: once it is persisted, `choose` has what it requires.
  std::uint64_t oldest_that_may_go(std::span<const std::uint64_t> seqs) const noexcept;

  /// No lease that a reader has now is respected, because no slot is worth keeping.
  void disregard_all() noexcept { disregarded_.assign(disregarded_.size(), 1); }

  /// How many leases were broken. A lease that stays locked afterwards is not counted again.
  std::uint64_t broken() const noexcept { return broken_; }

 private:
  std::optional<std::uint32_t> free_victim(std::span<const std::uint64_t> seqs, std::uint64_t persisted) noexcept;
  bool take(std::uint32_t slot) noexcept;

  SlotLeases* leases_ = nullptr;
  std::optional<std::uint32_t> taken_;
  std::optional<std::uint32_t> ahead_;  // what the next `choose` returns
  std::optional<std::uint32_t> guarded_;
  std::vector<char> disregarded_;  // its lease was broken, and its byte was not obtained since
  std::vector<std::atomic<std::uint32_t>> copied_;
  std::uint64_t broken_ = 0;
};

}  // namespace ringside
