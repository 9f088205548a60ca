// SPDX-License-Identifier: BSD-3-Clause
// This node's parts of the steps whose round is in progress. The main thread stores a part after each step; the round's
// thread reads and frees the parts in order. Storing is wait-free and allocates nothing. If there is no room for a
// step, only the results of the whole run lack this step.
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
  /// There is room for the parts of as many steps as fit into kBytes, within these limits. A round passes every node,
  /// so many steps are in progress at once.
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

  std::size_t capacity() const noexcept { return cells_.size(); }

  // Main thread.
  /// Room for the next step, to be filled before `stored` is called; null if there is no room.
  Part* room() noexcept;
  /// Ends the next step: its part is stored if there was room, else it is lost.
  void stored() noexcept;

  // Thread of the round.
  /// A descriptor that becomes readable when a step is stored; `seen` resets it.
  int fd() const noexcept { return stored_event_.get(); }
  void seen() noexcept;
  /// The step after the last one that was stored or lost.
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

  std::vector<std::uint64_t> words_;
  std::vector<Cell> cells_;
  UniqueFd stored_event_;
  std::atomic<std::uint64_t> end_step_{0};
  bool has_room_ = false;    // used by the main thread: whether there was room for the next step
  std::uint64_t freed_ = 0;  // used by the round's thread: all parts before this step are free
};

}  // namespace ringside
