// SPDX-License-Identifier: BSD-3-Clause
// Simulates the rounds of docs/publish/mpi.md, "Results of the whole run". The state of each step goes from analyzer to
// analyzer, in the order of the nodes; each analyzer adds its part. The last analyzer returns the state to the first
// one, which records it.
#pragma once

#include <cstdint>
#include <vector>

#include "node/scale/event_queue.hpp"
#include "node/scale/scale_model.hpp"

namespace ringside {

/// The capacity in steps of a node's store of parts; analyzer/whole_run/part_store computes it for one field of
/// doubles.
std::uint64_t store_steps(double step_bytes) noexcept;
/// The memory that a node's store of parts takes.
double store_bytes(double step_bytes) noexcept;

/// Simulates a thread on each node that processes states in the order of their arrival.
class Collected {
 public:
  Collected(const ScaleRequest& request, std::uint64_t steps, EventQueue& events);

  /// The node's analyzer has reduced its next step and stores the step's part.
  void reduced(double now_s, std::uint32_t node);
  void state_arrives(double now_s, std::uint32_t node);
  /// A state has arrived at the first node, from the last one.
  void state_returns(double now_s);

  double result_s(std::uint64_t step) const { return result_s_[step]; }  // time when the first node recorded it
  double round_s() const { return round_s_; }                            // the time of all rounds together
  std::uint64_t held_steps() const { return held_steps_; }               // the most steps whose parts a node holds
  std::uint64_t begun_again() const { return begun_again_; }             // restarted rounds
  double bytes_sent() const;
  double busy_s() const { return busy_s_; }  // how long the first node's thread was busy

 private:
  struct NodeState {
    std::uint64_t reduced = 0, arrived = 0, passed = 0;  // steps
    std::uint64_t freed = 0;                             // the number of steps that the node knows to be collected
    double free_s = 0;
  };

  void pass(double now_s, std::uint32_t node);

  const ScaleRequest& request_;
  EventQueue& events_;
  const double turn_s_;
  std::vector<NodeState> nodes_;
  std::vector<double> begun_s_;      // the time at which each step's round began
  std::vector<std::uint64_t> told_;  // by step: the steps collected when its round began, as in its state
  std::vector<double> result_s_;
  std::uint64_t collected_ = 0, held_steps_ = 0, begun_again_ = 0;
  double round_s_ = 0, busy_s_ = 0;
};

}  // namespace ringside
