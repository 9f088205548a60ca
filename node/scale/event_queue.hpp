// SPDX-License-Identifier: BSD-3-Clause
// What happens next in a simulation. Events of the same instant happen in the order in which they were added, so that a
// simulation has the same result each time.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

namespace ringside {

enum class EventKind : std::uint8_t {
  kIterationEnds,    // of the node's slowest rank
  kAllLeave,         // the solver's collective call is over, on every node
  kLeaves,           // the node has what it needs from its neighbours
  kTested,           // the node has published, and looks at the exchange
  kCommitted,        // the analyzer has released the buffer
  kAnalyzed,         // the analyzer is free
  kPartialArrives,   // up the tree of an exchange; node: the sender
  kOutcomeArrives,   // down the tree
  kStateArrives,     // of a round, from the node before
  kStateReturns      // to the first node
};

struct Event {
  double at_s = 0;
  std::uint64_t number = 0;  // of those added
  std::uint32_t node = 0;
  EventKind kind = EventKind::kIterationEnds;
  std::uint8_t parity = 0;  // of an exchange
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
