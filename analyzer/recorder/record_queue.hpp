// SPDX-License-Identifier: BSD-3-Clause
// Passes each step's figures from the analyzer's main thread to the recorder's (docs/live.md), in a circular buffer of
// fixed capacity with one writer and one reader. Pushing is wait-free: no lock, no allocation, no system call. Steps
// that find no room are counted, and reported in front of the next item. Events are rare; they go through a list under
// a lock and stay in order with the steps.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <variant>
#include <vector>

#include "analyzer/journal/missing_steps.hpp"
#include "common/records/step_figures.hpp"
#include "proto/ringside.pb.h"

namespace ringside {

/// In the order in which they were pushed.
using QueuedItem = std::variant<StepFigures, MissingSteps, wire::Record>;

class RecordQueue {
 public:
  /// 8192: about a second of the fastest runs, 2 MiB.
  static constexpr std::size_t kCapacity = 8192;

  RecordQueue();

  /// Writer's thread. False if there was no room.
  bool push(const StepFigures& figures) noexcept;
  /// Writer's thread, between steps. Always finds room.
  void push_event(wire::Record event);

  /// Reader's thread: appends up to `at_most` steps, and what was pushed before and between them, to `items`.
  void pop(std::vector<QueuedItem>& items, std::size_t at_most);

 private:
  struct Cell {
    StepFigures figures;
    MissingSteps missing_before;
  };
  struct Event {
    std::uint64_t position = 0;  // steps that were pushed before it
    MissingSteps missing_before;
    wire::Record record;
  };

  // One cache line each, so that the writer's stores do not invalidate the reader's line.
  alignas(64) std::atomic<std::uint64_t> pushed_{0};
  MissingSteps missing_;           // writer's: consecutive steps that found no room
  std::uint64_t popped_seen_ = 0;  // writer's: `popped_` as it last read it
  alignas(64) std::atomic<std::uint64_t> popped_{0};
  std::vector<Cell> cells_;
  std::mutex events_mutex_;
  std::vector<Event> events_;
};

}  // namespace ringside
