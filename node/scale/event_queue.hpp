// SPDX-License-Identifier: BSD-3-Clause
// The events of a simulation. Simultaneous events occur in the order in which they were added, so that a simulation is
// reproducible.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

namespace ringside {

enum class EventKind : std::uint8_t {
  kIterationEnds,    // the iteration of the node's slowest rank
  kAllLeave,         // the solver's collective call has ended on every node
  kLeaves,           // the node has the messages of its neighbours
  kTested,           // the node has published, and tests the exchange
  kCommitted,        // the analyzer has released the buffer
  kAnalyzed,         // the analyzer is free
  kPartialArrives,   // a message up the tree of an exchange; node: the sender
  kOutcomeArrives,   // a message down the tree
  kStateArrives,     // the state of a round, from the previous node
  kStateReturns      // the state of a round, to the first node
};

struct Event {
  double at_s = 0;
  std::uint64_t number = 0;  // the number of events that were added before it
  std::uint32_t node = 0;
  EventKind kind = EventKind::kIterationEnds;
  std::uint8_t parity = 0;  // the parity of the exchange
};

class EventQueue {
 public:
  void add(double at_s, EventKind kind, std::uint32_t node, std::uint8_t parity = 0) {
    events_.push({at_s, added_++, node, kind, parity});
  }
  bool empty() const { return events_.empty(); }
  Event take() {
    const Event event = events_.top();
    events_.pop();
    return event;
  }

 private:
  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      return a.at_s != b.at_s ? a.at_s > b.at_s : a.number > b.number;
    }
  };
  std::priority_queue<Event, std::vector<Event>, Later> events_;
  std::uint64_t added_ = 0;
};

}  // namespace ringside
