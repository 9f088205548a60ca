// SPDX-License-Identifier: BSD-3-Clause
// Passes each step from the analyzer's main thread to the recorder's (docs/live.md), in a circular buffer of fixed
// capacity with one writer and one reader. Pushing is wait-free: no lock, no allocation, no system call. Steps that
// find no room are counted, and reported in front of the next item. Events are rare; they go through a list under a
// lock and stay in order with the steps.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "analyzer/journal/missing_steps.hpp"
#include "common/records/step_figures.hpp"
#include "common/triggers/step_marks.hpp"
#include "proto/ringside.pb.h"

namespace ringside {

/// Receives what was pushed, in the same order.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  /// values: as they were pushed; valid during the call.
  virtual void take(const StepFigures& figures, std::span<const std::uint64_t> values, const StepMarks& marks) = 0;
  virtual void take(const MissingSteps& missing) = 0;
  virtual void take(wire::Record event) = 0;
};

class RecordQueue {
 public:
  /// Steps for which there is room: 8192, about a second of the fastest runs, or as many as have values of 32 MiB
  /// together, but 64 at least.
  static constexpr std::size_t kMostCapacity = 8192;
  static constexpr std::size_t kLeastCapacity = 64;
  static constexpr std::size_t kValuesBytes = std::size_t{32} << 20;
  static std::size_t capacity_for(std::size_t value_words) noexcept;

  RecordQueue();

  /// Writer's thread, before the first step of a run: allocates room for its values. value_words: of each step.
  /// Requires that every step pushed before was taken.
  void begin_run(std::size_t value_words);
  std::size_t capacity() const noexcept { return capacity_; }

  /// Writer's thread. values: as many words as begin_run was told. False if there was no room.
  bool push(const StepFigures& figures, std::span<const std::uint64_t> values, const StepMarks& marks = {}) noexcept;
  /// Writer's thread: steps without a record, which come before the next step.
  void miss(const MissingSteps& missing) noexcept;
  /// Writer's thread, between steps. Always finds room.
  void push_event(wire::Record event);

  /// Reader's thread: hands `sink` up to `at_most` steps, and what was pushed before and between them. Each step's room
  /// is free again when the sink has taken it.
  void pop(RecordSink& sink, std::size_t at_most = kMostCapacity);

 private:
  struct Cell {
    StepFigures figures;
    StepMarks marks;
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
  // The writer replaces the members below while the queue is empty. `pushed_` publishes them to the reader.
  std::size_t capacity_ = kMostCapacity;
  std::size_t value_words_ = 0;
  std::vector<Cell> cells_;
  std::vector<std::uint64_t> values_;  // value_words_ for each cell
  std::mutex events_mutex_;
  std::vector<Event> events_;
};

}  // namespace ringside
