// SPDX-License-Identifier: BSD-3-Clause
// This node's parts of the steps whose round is in progress. The main thread stores a part after each step; the round's
// thread reads and frees the parts in order. Storing is wait-free and allocates nothing. If there is no room for a
// step, only the results of the whole run lack this step. One place is reserved for the newest step: each step without
// room takes this place from the one before, so the last step of a run is never lost here.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/handoff/step_descriptor.hpp"
#include "common/platform/unique_fd.hpp"
#include "common/records/step_figures.hpp"

namespace ringside {

class PartStore {
 public:
  /// There is room for the parts of as many steps as fit into kBytes, within these limits, and for the newest step. A
  /// round passes every node, so many steps are in progress at once.
  static constexpr std::size_t kBytes = std::size_t{64} << 20;
  static constexpr std::size_t kFewest = 4;
  static constexpr std::size_t kMost = 256;

  struct Part {
    StepWithScalars step;
    StepFigures figures;
    std::span<std::uint64_t> words;  // the parts, as StepParts::store writes them
  };

  /// words: the size of a step's parts. Throws Error (exit code 3).
  explicit PartStore(std::size_t words);
  /// Call this first. first_step: the first step to be stored.
  void begin(std::uint64_t first_step) noexcept;

  /// The number of steps for which there is room, without the reserved place.
  std::size_t capacity() const noexcept { return cells_.size(); }

  // Main thread.
  /// The place for the next step's part, to be filled before `stored` is called. If there is no room, this is the
  /// reserved place, and the step that was there is lost.
  Part& place() noexcept;
  /// Ends the next step. Without an earlier call of `place`, the step has no part; then no later step has one.
  void stored() noexcept;
  /// Call after the last step, which is then stored even if it is in the reserved place.
  void end() noexcept;

  // Thread of the round.
  /// A descriptor that becomes readable when a step is stored; `seen` resets it.
  int fd() const noexcept { return stored_event_.get(); }
  void seen() noexcept;
  /// The step after the last one that was stored or lost. A step in the reserved place is neither until the next step
  /// or `end`.
  std::uint64_t end_step() const noexcept { return end_step_.load(std::memory_order_acquire); }
  /// Null if the step was lost or freed, or is not stored yet.
  const Part* find(std::uint64_t step) const noexcept;
  /// Frees the parts of all steps before `step`.
  void free_before(std::uint64_t step) noexcept;

 private:
  struct Cell {
    Part part;
    std::uint64_t step = 0;
    std::atomic<bool> is_full{false};  // stored with release, so that the other thread sees `part` as it was written
  };
  Cell& cell(std::uint64_t step) noexcept { return cells_[step % cells_.size()]; }
  const Cell* full_cell(std::uint64_t step) const noexcept;

  std::vector<std::uint64_t> words_;
  std::vector<Cell> cells_;
  Cell newest_;  // the reserved place; full only after `end`
  UniqueFd stored_event_;
  std::atomic<std::uint64_t> end_step_{0};
  std::uint64_t next_ = 0;   // used by the main thread: the next step
  Cell* filling_ = nullptr;  // used by the main thread: the next step's place
  std::uint64_t freed_ = 0;  // used by the round's thread: all parts before this step are free
};

}  // namespace ringside
