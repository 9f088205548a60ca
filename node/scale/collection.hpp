// SPDX-License-Identifier: BSD-3-Clause
// What the analyzers send each other and the collector for each step: a state that travels along the chain of nodes, to
// which each adds its own part (global reductions), and a record of each node.
#pragma once

#include <cstdint>
#include <vector>

#include "node/scale/event_queue.hpp"
#include "node/scale/scale_model.hpp"

namespace ringside {

/// One server each for the states of a node and for the records of the collector, in the order of arrival.
class Collected {
 public:
  Collected(const ScaleRequest& request, std::uint64_t steps, EventQueue& events);

  /// The node's analyzer has reduced its next step.
  void reduced(double now_s, std::uint32_t node);
  void state_arrives(double now_s, std::uint32_t node);
  void record_arrives(double now_s, std::uint32_t sender);
  void reduction_arrives(double now_s);

  double result_s(std::uint64_t step) const { return result_s_[step]; }  // when it is at the collector
  std::uint64_t waiting_states() const { return waiting_states_; }       // of a node, at most
  std::uint64_t open_steps() const { return open_steps_; }               // at most
  double bytes_sent() const { return bytes_sent_; }
  double busy_s() const { return busy_s_; }

 private:
  struct NodeState {
    std::uint64_t reduced = 0, arrived = 0, passed = 0;  // steps
    std::uint64_t recorded = 0;                          // steps whose record is at the collector
    double free_s = 0;
  };

  void pass(double now_s, std::uint32_t node);

  const ScaleRequest& request_;
  EventQueue& events_;
  std::vector<NodeState> nodes_;
  std::vector<std::uint32_t> records_of_;  // of each step
  std::vector<double> result_s_;
  std::uint64_t results_ = 0, begun_steps_ = 0, ended_steps_ = 0;
  std::uint64_t waiting_states_ = 0, open_steps_ = 0;
  double collector_free_s_ = 0, busy_s_ = 0, bytes_sent_ = 0;
};

}  // namespace ringside
