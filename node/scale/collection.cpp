// SPDX-License-Identifier: BSD-3-Clause
#include "node/scale/collection.hpp"

#include <algorithm>

namespace ringside {

Collected::Collected(const ScaleRequest& request, std::uint64_t steps, EventQueue& events)
    : request_(request), events_(events), nodes_(request.nodes), records_of_(steps), result_s_(steps) {}

void Collected::reduced(double now_s, std::uint32_t node) {
  ++nodes_[node].reduced;
  pass(now_s, node);
  const NodeState& own = nodes_[node];
  waiting_states_ = std::max(waiting_states_, own.reduced - own.passed);
  const bool travels = node != 0;  // the collector is on node 0
  if (travels) bytes_sent_ += request_.collection.record_bytes;
  events_.add(now_s + (travels ? request_.network.message_s(request_.collection.record_bytes) : 0),
              EventKind::kRecordArrives, node);
}

void Collected::state_arrives(double now_s, std::uint32_t node) {
  ++nodes_[node].arrived;
  pass(now_s, node);
}

/// Adds the node's part to the states that are there, and passes them on; the last node sends them to the collector.
void Collected::pass(double now_s, std::uint32_t node) {
  NodeState& own = nodes_[node];
  while (own.passed < own.reduced && (node == 0 || own.passed < own.arrived)) {
    ++own.passed;
    own.free_s = std::max(now_s, own.free_s) + request_.collection.pass_s;
    const bool is_last = node + 1 == request_.nodes;
    const bool travels = request_.nodes > 1;
    if (travels) bytes_sent_ += request_.collection.state_bytes;
    const double hop_s = travels ? request_.network.message_s(request_.collection.state_bytes) : 0;
    if (is_last) {
      events_.add(own.free_s + hop_s, EventKind::kReductionArrives, node);
    } else {
      events_.add(own.free_s + hop_s, EventKind::kStateArrives, node + 1);
    }
  }
}

void Collected::record_arrives(double now_s, std::uint32_t sender) {
  const std::uint64_t step = nodes_[sender].recorded++;
  collector_free_s_ = std::max(now_s, collector_free_s_) + request_.collection.record_s;
  busy_s_ += request_.collection.record_s;
  begun_steps_ = std::max(begun_steps_, step + 1);
  if (++records_of_[step] == request_.nodes) ++ended_steps_;  // each sender's records come in order
  open_steps_ = std::max(open_steps_, begun_steps_ - ended_steps_);
}

void Collected::reduction_arrives(double now_s) {
  collector_free_s_ = std::max(now_s, collector_free_s_) + request_.collection.record_s;
  busy_s_ += request_.collection.record_s;
  result_s_[results_++] = collector_free_s_;
}

}  // namespace ringside
