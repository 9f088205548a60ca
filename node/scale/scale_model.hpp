// SPDX-License-Identifier: BSD-3-Clause
// The parameters and results of the simulation of many nodes: the symbols of docs/inside/ranks.md.
#pragma once

#include <cstdint>
#include <string_view>

#include "node/model/node.hpp"
#include "node/plan/pipeline_simulation.hpp"
#include "node/scale/network.hpp"

namespace ringside {

inline constexpr std::uint32_t kMostSimulatedNodes = 10'000;

/// One node of the run, planned or measured. All nodes are alike, except the slow one of a request.
struct NodeFigures {
  int ranks = 1;
  double generate_s = 0;       // the mean time of a rank's iteration
  double generate_spread = 0;  // the standard deviation of that time ÷ its mean, at most 1
  double transfer_s = 0;       // the time of a step's copy and commit, after which the step's buffer is released
  double analyze_s = 0;        // the time of the analyzer's work after the commit
  double analyzer_spread = 0;  // the spread of transfer and of analyze
  double hand_off_s = 0;       // the time from a publish to the copy, if the analyzer was waiting
  double wake_up_s = 0;        // the time to wake ranks that wait for a buffer longer than they spin
  double publish_s = 0;        // the time that the ranks take to publish a step
  double exchange_s = 0;       // the time to test an exchange and to begin the next one, if there are two nodes or more
  std::uint32_t buffers = 2;
  std::uint32_t slots = 8;
  double step_bytes = 0;
};

/// The figures of a node, from a plan of one node: seconds are means over its run, so they include the slowdown of each
/// side by the other.
NodeFigures node_figures(const Prediction& prediction, const RunShape& run, const Costs& costs);

/// How an iteration waits for other nodes.
enum class Coupling {
  kAll,         // a collective call: every node waits for all nodes
  kNeighbours,  // messages of both neighbours in a row of nodes
  kNone
};
std::string_view to_string(Coupling coupling) noexcept;

/// The time at which the receiver processes a message of an exchange.
enum class Progress {
  kInCalls,  // while the receiver is in an MPI call: the coupling, a publish
  kAlways    // on arrival: by a thread or the network card
};

/// The rounds in which all nodes reduce a step together (docs/inside/ranks.md, "Parameters").
struct Collection {
  double state_bytes = 907;  // the size of a step's state, which passes from node to node
  double turn_s = 140e-6;    // the time from a state's arrival at a node until the node sends it
  double block_s = 15e-9;    // the additional time for each of the node's blocks of 1024 entries
  double record_s = 3e-6;    // the time to record a returned state
};

struct ScaleRequest {
  NodeFigures node;
  Network network;
  Coupling coupling = Coupling::kAll;
  double coupling_bytes = 8;  // the size of each message of the coupling
  Progress progress = Progress::kInCalls;
  Collection collection;
  std::uint32_t nodes = 1;
  std::uint64_t iterations = 200;
  std::uint64_t every = 1;  // the last iteration and those divisible by this number are published
  std::uint32_t slow_node = 0;
  double slow_solver = 1;    // multiplies the slow node's time for `generate`
  double slow_analyzer = 1;  // multiplies the slow node's time for `analyze`
  std::uint64_t seed = 1;
};

struct Lag {
  double mean = 0;
  double most = 0;
};

/// Seconds of a step are means over steps and nodes, from the first iteration on. Lags exclude the first steps
/// (kUnsteadySteps).
struct ScaleResult {
  std::uint32_t nodes = 0;
  std::uint64_t steps = 0;
  double total_s = 0;      // the time until the last analyzer is free
  double step_s = 0;       // the time from one step, published by all nodes, to the next
  double bare_step_s = 0;  // the time of a step of the solver alone, without kept steps

  // Seconds per step of a node's ranks, by use.
  double generate_s = 0;
  double coupling_s = 0;     // waiting for other nodes, and the messages
  double buffer_wait_s = 0;  // back-pressure
  double publish_s = 0;      // including exchange_s

  double waited_most_s = 0;           // the wait for buffers in the whole run, of the node that waited longest
  std::uint32_t waited_for_node = 0;  // this node, according to the last exchange; 0 if no node waited

  // The global commit, in steps. A step counts as published when its last node has published it.
  Lag committed_lag;     // steps published, including this one, but not committed on all nodes; counted at each publish
  double commit_s = 0;   // the time from a step's publish to its global commit
  Lag recorded_lag;      // a step's number minus the newest global step that is recorded with it
  double exchanges = 0;  // per step

  // Results of the whole run.
  Lag result_lag;                 // the lag from a step's publish to its result at the collector, in step_s
  double round_s = 0;             // the mean time from a round's beginning to its result
  double rounds = 0;              // rounds begun per step: more than 1 if long rounds are restarted
  std::uint64_t held_steps = 0;   // the most steps whose parts a node must hold
  std::uint64_t store_steps = 0;  // a store's capacity; if held_steps exceeds it, results lack steps
  double collector_core = 0;      // the share of one core that the collector's thread takes

  double bytes_sent = 0;  // per step and node: by exchanges and states
  double node_bytes = 0;  // the memory of buffers, slots and parts
};

}  // namespace ringside
