// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/recorder/record_queue.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ringside {
namespace {

void append(std::vector<QueuedItem>& items, const MissingSteps& missing) {
  if (missing.steps > 0) items.emplace_back(missing);
}

}  // namespace

// Every page is touched here, and not by the first steps.
RecordQueue::RecordQueue() : cells_(kCapacity) {}

bool RecordQueue::push(const StepFigures& figures) noexcept {
  const std::uint64_t at = pushed_.load(std::memory_order_relaxed);
  if (at - popped_seen_ == kCapacity) popped_seen_ = popped_.load(std::memory_order_acquire);
  if (at - popped_seen_ == kCapacity) {
    if (missing_.steps++ == 0) {
      missing_.run_id = figures.run_id;
      missing_.first_step = figures.step.step;
      missing_.first_commit_seq = figures.commit_seq;
      missing_.first_iteration = figures.step.iteration;
    }
    missing_.last_iteration = figures.step.iteration;
    return false;
  }
  cells_[at % kCapacity] = {figures, missing_};
  missing_ = {};
  // Release: the reader that sees the count sees the cell.
  pushed_.store(at + 1, std::memory_order_release);
  return true;
}

void RecordQueue::push_event(wire::Record event) {
  const std::lock_guard lock(events_mutex_);
  events_.push_back({pushed_.load(std::memory_order_relaxed), std::exchange(missing_, {}), std::move(event)});
}

void RecordQueue::pop(std::vector<QueuedItem>& items, std::size_t at_most) {
  std::uint64_t at = popped_.load(std::memory_order_relaxed);
  // The count is read before the events: every event that came before a step in the count is then found, too.
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
  auto event = events.begin();
  for (;; ++at) {
    for (; event != events.end() && event->position == at; ++event) {
      append(items, event->missing_before);
      items.emplace_back(std::move(event->record));
    }
    if (at == end) break;
    const Cell& cell = cells_[at % kCapacity];
    append(items, cell.missing_before);
    items.emplace_back(cell.figures);
  }
  // Release: our reads of the cells come before the writer's next stores to them.
  popped_.store(end, std::memory_order_release);
}

}  // namespace ringside
