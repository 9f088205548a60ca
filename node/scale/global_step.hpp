// SPDX-License-Identifier: BSD-3-Clause
// Simulates the exchange of docs/publish/mpi.md, "The global step": mpi/counters.cpp, with the trees by which Open MPI
// reduces a few numbers (up a binomial tree to node 0, and down another tree).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "node/scale/event_queue.hpp"
#include "node/scale/network.hpp"

namespace ringside {

class GlobalStep {
 public:
  static constexpr double kMessageBytes =
      78;  // three numbers and headers, measured over TCP (docs/inside/benchmarking.md)

  GlobalStep(std::uint32_t nodes, const Network& network, EventQueue& events);

  /// At a publish: applies the outcome of a finished exchange and begins the next exchange. committed: the number of
  /// steps that this node has committed. waited_s: the time that this node has waited for buffers so far.
  void advance(double now_s, std::uint32_t node, std::uint64_t committed, double waited_s);

  /// Call this function while the node is in an MPI call: the node processes the messages that have arrived.
  void progress(double now_s, std::uint32_t node);

  /// A message has arrived. Returns its receiver.
  std::uint32_t partial_arrives(std::uint32_t sender, std::uint8_t parity);
  void outcome_arrives(std::uint32_t node, std::uint8_t parity) { nodes_[node].part[parity].has_outcome = true; }

  /// The newest step committed on all nodes, and the node that waited longest, according to this node's latest outcome.
  std::uint64_t known(std::uint32_t node) const { return nodes_[node].known.committed; }
  std::uint32_t known_to_wait(std::uint32_t node) const { return nodes_[node].known.waited_node; }

  std::uint64_t begun(std::uint32_t node) const { return nodes_[node].begun; }
  std::uint64_t messages() const { return messages_; }

 private:
  /// The figures of some nodes: the least commit, the longest wait.
  struct Numbers {
    std::uint64_t committed = 0;
    double waited_s = 0;
    std::uint32_t waited_node = 0;

    void take(const Numbers& other);
  };
  /// A node's part in an exchange. Another node may already be in the next exchange, but not in the one after that:
  /// hence a node has two parts.
  struct Part {
    Numbers numbers;
    std::uint8_t missing = 0;  // the number of nodes below it in the tree that have sent nothing yet
    bool is_begun = false;
    bool is_sent = false;
    bool has_outcome = false;
  };
  struct NodeState {
    std::array<Part, 2> part;
    Numbers newest;  // the newest outcome
    Numbers known;   // the outcome that was applied last
    std::uint64_t begun = 0;
    bool is_under_way = false;
  };

  std::uint8_t below(std::uint32_t node) const;  // the number of nodes that send to `node`
  void send_up(double now_s, std::uint32_t node, std::uint8_t parity);
  void send_down(double now_s, std::uint32_t node, std::uint8_t parity);

  std::uint32_t count_;
  double hop_s_;
  EventQueue& events_;
  std::vector<NodeState> nodes_;
  std::array<Numbers, 2> outcome_;
  std::uint64_t messages_ = 0;
};

}  // namespace ringside
