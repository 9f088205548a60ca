// SPDX-License-Identifier: BSD-3-Clause
// Passes each step from the analyzer's main thread to the recorder's (docs/use/live.md), in a circular buffer of fixed
// capacity with one writer and one reader. Pushing takes no lock and allocates nothing. A writer that finds no room
// wakes the reader and waits; then steps arrive only as fast as they are recorded, and the account counts the wait as
// `record`. Steps are dropped only if the reader is blocked because a disk does not respond. Dropped steps are counted,
// and reported before the next item. Events are rare. They are passed in a list that a lock protects, and their order
// relative to the steps is kept.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "common/records/step_figures.hpp"
#include "common/triggers/step_marks.hpp"
#include "proto/ringside.pb.h"

namespace ringside {

/// Receives the pushed items, in order.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  /// values: as pushed; valid during the call.
  virtual void take(const StepFigures& figures, std::span<const std::uint64_t> values, const StepMarks& marks) = 0;
  virtual void take(const MissingSteps& missing) = 0;
  virtual void take(wire::Record event) = 0;
};

class RecordQueue {
 public:
  /// The capacity in steps is 8192, which is about a second of the fastest runs. It is lower if the values of so many
  /// steps exceed 32 MiB, but at least 64.
  static constexpr std::size_t kMostCapacity = 8192;
  static constexpr std::size_t kLeastCapacity = 64;
  static constexpr std::size_t kValuesBytes = std::size_t{32} << 20;
  static std::size_t capacity_for(std::size_t value_words) noexcept;
  /// The time for which the writer waits if the reader takes nothing because it is blocked, and the longer time if the
  /// reader only waits for a core. After this time, the writer does not wait again until the reader has taken a step.
  static constexpr std::int64_t kPatienceNs = 2'000'000'000;
  static constexpr std::int64_t kBusyPatienceNs = 15'000'000'000;

  explicit RecordQueue(std::int64_t patience_ns = kPatienceNs, std::int64_t busy_patience_ns = kBusyPatienceNs);

  /// Writer's thread, before the first step of a run: allocates room for the steps' values. value_words: words per
  /// step. Requires that every earlier step was taken.
  void begin_run(std::size_t value_words);
  std::size_t capacity() const noexcept { return capacity_; }

  /// Writer's thread. values: as many words as begin_run received. False if there was no room and the reader was
  /// blocked.
  bool push(const StepFigures& figures, std::span<const std::uint64_t> values, const StepMarks& marks = {}) noexcept;
  /// Writer's thread: whether the next `push` finds no room, so that it may wait.
  bool is_full() noexcept { return !has_room(pushed_.load(std::memory_order_relaxed)); }
  /// Writer's thread: reports steps without a record, which come before the next step.
  void miss(const MissingSteps& missing) noexcept;
  /// Writer's thread: call this between steps. There is always room for an event.
  void push_event(wire::Record event);

  /// Reader's thread: from now on, the writer can find out why this thread takes nothing.
  void begin_reading() noexcept { reader_.store(gettid(), std::memory_order_relaxed); }
  /// Reader's thread: passes `sink` up to `at_most` steps, and the events before and between them. The room of a step
  /// becomes free once the sink has taken the step.
  void pop(RecordSink& sink, std::size_t at_most = kMostCapacity);
  /// Reader's thread. calls: how often the writer has requested room. sleep: waits until the writer requests room
  /// again, but at most `at_most_ns`.
  std::uint32_t calls() const noexcept { return calls_.load(std::memory_order_acquire); }
  void sleep(std::uint32_t calls_seen, std::int64_t at_most_ns) const noexcept;

 private:
  struct Cell {
    StepFigures figures;
    StepMarks marks;
    MissingSteps missing_before;
  };
  struct Event {
    std::uint64_t position = 0;  // the number of steps that were pushed before the event
    MissingSteps missing_before;
    wire::Record record;
  };

  bool has_room(std::uint64_t at) noexcept;
  bool wait_for_room(std::uint64_t at) noexcept;
  void call_reader() noexcept;
  bool is_patient(std::int64_t waited_ns) const noexcept;

  const std::int64_t patience_ns_;
  const std::int64_t busy_patience_ns_;
  std::atomic<pid_t> reader_{0};  // the reader's thread; 0: unknown
  // The writer's and the reader's members have separate cache lines, so that the writer's stores do not invalidate the
  // reader's line.
  alignas(64) std::atomic<std::uint64_t> pushed_{0};
  MissingSteps missing_;           // used by the writer: consecutive steps that found no room
  std::uint64_t popped_seen_ = 0;  // used by the writer: the last value that it read from `popped_`
  std::uint64_t stuck_at_ = ~std::uint64_t{0};  // used by the writer: `popped_` when its patience ended
  alignas(64) std::atomic<std::uint64_t> popped_{0};
  alignas(64) std::atomic<std::uint32_t> calls_{0};  // a futex: the reader sleeps on it
  std::atomic<std::uint32_t> freed_{0};              // a futex: the writer sleeps on it
  std::atomic<bool> writer_sleeps_{false};
  // The writer replaces the members below while the queue is empty. `pushed_` publishes them to the reader.
  std::size_t capacity_ = kMostCapacity;
  std::size_t value_words_ = 0;
  std::vector<Cell> cells_;
  std::vector<std::uint64_t> values_;  // value_words_ words for each cell
  std::mutex events_mutex_;
  std::vector<Event> events_;
};

}  // namespace ringside
