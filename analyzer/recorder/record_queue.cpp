// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/recorder/record_queue.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "common/platform/clock.hpp"
#include "common/platform/futex.hpp"
#include "common/platform/process.hpp"

namespace ringside {
namespace {

constexpr std::int64_t kLookNs = 10'000'000;  // the longest sleep between two checks of the other side
constexpr std::uint64_t kFreedAtOnce = 64;    // freed steps after which a waiting writer is woken by a system call

}  // namespace

// Touches every page of the cells here, so that the first steps take no page faults.
RecordQueue::RecordQueue(std::int64_t patience_ns, std::int64_t busy_patience_ns)
    : patience_ns_(patience_ns), busy_patience_ns_(busy_patience_ns), cells_(kMostCapacity) {}

std::size_t RecordQueue::capacity_for(std::size_t value_words) noexcept {
  const std::size_t bytes = std::max<std::size_t>(value_words, 1) * sizeof(std::uint64_t);
  return std::clamp(kValuesBytes / bytes, kLeastCapacity, kMostCapacity);
}

void RecordQueue::begin_run(std::size_t value_words) {
  // Acquire: the reader's reads of the cells come before the cells are replaced.
  if (popped_.load(std::memory_order_acquire) != pushed_.load(std::memory_order_relaxed)) {
    throw std::logic_error("a run begins before all steps of the previous run are recorded");
  }
  capacity_ = capacity_for(value_words);
  value_words_ = value_words;
  values_.assign(capacity_ * value_words_, 0);
}

bool RecordQueue::push(const StepFigures& figures, std::span<const std::uint64_t> values,
                       const StepMarks& marks) noexcept {
  const std::uint64_t at = pushed_.load(std::memory_order_relaxed);
  // The reader is woken before the queue is full, so that the writer rarely waits.
  if (at % (capacity_ / 4) == 0 && !has_room(at + capacity_ / 2) && popped_seen_ != stuck_at_) call_reader();
  if (!has_room(at) && !wait_for_room(at)) {
    miss({.run_id = figures.run_id,
          .first_step = figures.step.step,
          .steps = 1,
          .first_commit_seq = figures.commit_seq,
          .first_iteration = figures.step.iteration,
          .last_iteration = figures.step.iteration});
    return false;
  }
  cells_[at % capacity_] = {figures, marks, missing_};
  std::copy_n(values.begin(), value_words_,
              values_.begin() + static_cast<std::ptrdiff_t>(at % capacity_ * value_words_));
  missing_ = {};
  // Release: a reader that reads the new count also reads the cell.
  pushed_.store(at + 1, std::memory_order_release);
  return true;
}

/// Writer's thread: whether there is room for the step with this number.
bool RecordQueue::has_room(std::uint64_t at) noexcept {
  if (at - popped_seen_ < capacity_) return true;
  popped_seen_ = popped_.load();
  return at - popped_seen_ < capacity_;
}

/// Writer's thread: waits for room. Returns false if the reader is blocked.
bool RecordQueue::wait_for_room(std::uint64_t at) noexcept {
  if (popped_seen_ == stuck_at_) return false;
  std::int64_t moved_ns = now_ns();
  for (std::uint64_t popped = popped_seen_;;) {
    const std::uint32_t freed = freed_.load(std::memory_order_acquire);
    writer_sleeps_.store(true);
    if (has_room(at)) break;
    if (popped != popped_seen_) {
      popped = popped_seen_;
      moved_ns = now_ns();
    } else if (!is_patient(now_ns() - moved_ns)) {
      stuck_at_ = popped;
      break;
    }
    call_reader();
    futex_sleep(&freed_, freed, kLookNs);
  }
  writer_sleeps_.store(false);
  return has_room(at);
}

bool RecordQueue::is_patient(std::int64_t waited_ns) const noexcept {
  if (waited_ns < patience_ns_) return true;
  const pid_t reader = reader_.load(std::memory_order_relaxed);
  return waited_ns < busy_patience_ns_ && reader != 0 && is_runnable(reader);
}

void RecordQueue::call_reader() noexcept {
  calls_.fetch_add(1, std::memory_order_release);
  futex_wake(&calls_, 1);
}

void RecordQueue::sleep(std::uint32_t calls_seen, std::int64_t at_most_ns) const noexcept {
  futex_sleep(&calls_, calls_seen, at_most_ns);
}

void RecordQueue::miss(const MissingSteps& missing) noexcept {
  if (missing_.steps == 0) {
    missing_ = missing;
    return;
  }
  missing_.steps += missing.steps;
  missing_.last_iteration = missing.last_iteration;
}

void RecordQueue::push_event(wire::Record event) {
  const std::lock_guard lock(events_mutex_);
  events_.push_back({pushed_.load(std::memory_order_relaxed), std::exchange(missing_, {}), std::move(event)});
}

void RecordQueue::pop(RecordSink& sink, std::size_t at_most) {
  std::uint64_t at = popped_.load(std::memory_order_relaxed);
  // The number of pushed steps is read before the events. So each event before one of these steps is found, too.
  const std::uint64_t pushed = pushed_.load(std::memory_order_acquire);
  const std::uint64_t end = std::min<std::uint64_t>(pushed, at + at_most);
  std::vector<Event> events;
  {
    const std::lock_guard lock(events_mutex_);
    std::size_t due = 0;
    while (due < events_.size() && events_[due].position <= end) ++due;
    const auto middle = events_.begin() + static_cast<std::ptrdiff_t>(due);
    events.assign(std::make_move_iterator(events_.begin()), std::make_move_iterator(middle));
    events_.erase(events_.begin(), middle);
  }
  const auto take = [&sink](const MissingSteps& missing) {
    if (missing.steps > 0) sink.take(missing);
  };
  auto event = events.begin();
  for (;; ++at) {
    for (; event != events.end() && event->position == at; ++event) {
      take(event->missing_before);
      sink.take(std::move(event->record));
    }
    if (at == end) return;
    const Cell& cell = cells_[at % capacity_];
    take(cell.missing_before);
    sink.take(cell.figures, std::span(values_).subspan(at % capacity_ * value_words_, value_words_), cell.marks);
    // Release: this thread's reads of the cell come before the writer's next stores to the cell. At intervals the order
    // is stricter: each side stores its own value before it loads the other side's value. So either this thread finds
    // that the writer is asleep, or the writer finds the freed room.
    const bool looks = (at + 1) % kFreedAtOnce == 0 || at + 1 == end;
    popped_.store(at + 1, looks ? std::memory_order_seq_cst : std::memory_order_release);
    if (looks && writer_sleeps_.load()) {
      freed_.fetch_add(1, std::memory_order_release);
      futex_wake(&freed_, 1);
    }
  }
}

}  // namespace ringside
