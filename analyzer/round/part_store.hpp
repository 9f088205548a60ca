// SPDX-License-Identifier: BSD-3-Clause
// This node's parts of the steps whose round is not over. The main thread stores one after each step, and the thread of the
// round reads them and frees them in their order. Storing is wait-free and allocates nothing. A step that finds no
// room is lost to the results of the whole run, and to nothing else.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/handoff/step_descriptor.hpp"
#include "common/platform/unique_fd.hpp"
#include "common/records/step_figures.hpp"

namespace ringside {

class PartStore {
 public:
  /// As many as fit kBytes, within these limits: a round passes every node, so many steps are under way.
  static constexpr std::size_t kBytes = std::size_t{64} << 20;
  static constexpr std::size_t kFewest = 4;
  static constexpr std::size_t kMost = 256;

  struct Part {
    StepWithScalars step;
    StepFigures figures;
    std::span<std::uint64_t> words;  // as StepParts::store writes them
  };

  /// words: of a step's parts. Throws Error (exit code 3).
  explicit PartStore(std::size_t words);
  /// Before all else. first_step: the first one that will be stored.
  void begin(std::uint64_t first_step) noexcept;

  std::size_t capacity() const noexcept { return cells_.size(); }

  // Main thread.
  /// Room for the next step, to be filled before `stored`; null: there is none.
  Part* room() noexcept;
  /// The next step is stored, if there was room, or lost.
  void stored() noexcept;

  // Thread of the round.
  /// Becomes readable when a step was stored; `seen` makes it wait for the next one.
  int fd() const noexcept { return stored_event_.get(); }
  void seen() noexcept;
  /// All steps before it were stored or lost.
  std::uint64_t end_step() const noexcept { return end_step_.load(std::memory_order_acquire); }
  /// Null if it was lost, or freed, or is yet to come.
  const Part* find(std::uint64_t step) const noexcept;
  /// Of all steps before `step`.
  void free_before(std::uint64_t step) noexcept;

 private:
  struct Cell {
    Part part;
    std::uint64_t step = 0;
    std::atomic<bool> is_full{false};  // stored with release, so that the other side sees `part`
  };
  Cell& cell(std::uint64_t step) noexcept { return cells_[step % cells_.size()]; }

  std::vector<std::uint64_t> words_;
  std::vector<Cell> cells_;
  UniqueFd stored_event_;
  std::atomic<std::uint64_t> end_step_{0};
  bool has_room_ = false;     // main thread's: `room` was found for the next step
  std::uint64_t freed_ = 0;   // round's
};

}  // namespace ringside
