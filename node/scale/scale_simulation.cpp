// SPDX-License-Identifier: BSD-3-Clause
#include "node/scale/scale_simulation.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "common/platform/error.hpp"
#include "node/scale/collection.hpp"
#include "node/scale/draws.hpp"
#include "node/scale/event_queue.hpp"
#include "node/scale/global_step.hpp"

namespace ringside {
namespace {

/// Whether the solver's steps are kept; if not, the solver runs alone.
enum class Keeps { kNothing, kEachStep };

struct NodeState {
  // Counts of iterations and of steps.
  std::uint64_t begun = 0, arrived = 0, iterations = 0;
  std::uint64_t published = 0, taken = 0, committed = 0, analyzed = 0;
  std::array<double, 2> arrived_s{};  // when the node arrived at the coupling, by the parity of `arrived`
  double may_begin_s = 0;             // since when the node waits for a buffer
  bool is_waiting = false;            // whether the node waits for a buffer
  bool is_in_call = false;            // whether the node is in an MPI call
  bool is_leaving = false;            // whether all messages of its neighbours have arrived or are on the way
  double analyzer_free_s = 0;
  double waited_s = 0;  // the time of all waits for buffers
};

class Simulation {
 public:
  Simulation(const ScaleRequest& request, Keeps keeps)
      : request_(request),
        node_(request.node),
        keeps_(keeps),
        steps_((request.iterations + request.every - 1) / request.every),
        unsteady_(std::min(kUnsteadySteps, steps_ / 4)),
        draws_(request.seed),
        nodes_(request.nodes),
        global_step_(request.nodes, request.network, events_),
        collected_(request, steps_, events_),
        published_by_(steps_),
        committed_by_(steps_),
        published_s_(steps_) {
    // A message of the coupling cannot overtake an earlier message of an exchange.
    coupling_message_s_ = request.network.message_s(request.coupling_bytes + GlobalStep::kMessageBytes);
    collective_s_ = rounds_of(request.nodes) * coupling_message_s_;
  }

  ScaleResult run() {
    for (std::uint32_t node = 0; node < request_.nodes; ++node) begin_iteration(0, node);
    while (!events_.empty()) {
      const Event event = events_.take();
      now_s_ = event.at_s;
      happens(event);
    }
    return result();
  }

 private:
  void happens(const Event& event) {
    switch (event.kind) {
      case EventKind::kIterationEnds: arrive(event.node); break;
      case EventKind::kAllLeave: leave_all(); break;
      case EventKind::kLeaves: leave(event.node); break;
      case EventKind::kTested: test(event.node); break;
      case EventKind::kCommitted: commit(event.node); break;
      case EventKind::kAnalyzed: end_step(event.node); break;
      case EventKind::kPartialArrives: notice(global_step_.partial_arrives(event.node, event.parity)); break;
      case EventKind::kOutcomeArrives:
        global_step_.outcome_arrives(event.node, event.parity);
        notice(event.node);
        break;
      case EventKind::kStateArrives: collected_.state_arrives(now_s_, event.node); break;
      case EventKind::kStateReturns: collected_.state_returns(now_s_); break;
    }
  }

  // --- the ranks of a node ---------------------------------------------------------------------------------------

  bool publishes(std::uint64_t iteration) const {
    return keeps_ == Keeps::kEachStep &&
           ((iteration + 1) % request_.every == 0 || iteration + 1 == request_.iterations);
  }

  /// from_s: when the iteration may begin, which is now or later; a buffer may be released before that time.
  void begin_iteration(double from_s, std::uint32_t node) {
    NodeState& own = nodes_[node];
    if (own.begun == request_.iterations) return;
    own.may_begin_s = from_s;
    if (publishes(own.begun) && own.committed + node_.buffers < own.published + 1) {
      own.is_waiting = true;
      return;
    }
    work(from_s, node);
  }

  void work(double from_s, std::uint32_t node) {
    const double factor = node == request_.slow_node ? request_.slow_solver : 1;
    const double seconds = factor * draws_.longest(Work::kGenerate, node, nodes_[node].begun++, node_.generate_s,
                                                   node_.generate_spread, node_.ranks);
    sums_.generate_s += seconds;
    events_.add(from_s + seconds, EventKind::kIterationEnds, node);
  }

  /// The node has finished its part of the iteration: it waits for the nodes coupled with it.
  void arrive(std::uint32_t node) {
    NodeState& own = nodes_[node];
    own.arrived_s[++own.arrived % 2] = now_s_;
    if (request_.nodes == 1 || request_.coupling == Coupling::kNone) {
      leave(node);
      return;
    }
    own.is_in_call = true;
    global_step_.progress(now_s_, node);
    if (request_.coupling == Coupling::kAll) {
      if (++in_collective_ < request_.nodes) return;
      in_collective_ = 0;
      events_.add(now_s_ + collective_s_, EventKind::kAllLeave, 0);
      return;
    }
    if (node > 0) leave_when_complete(node - 1);
    leave_when_complete(node);
    if (node + 1 < request_.nodes) leave_when_complete(node + 1);
  }

  /// A neighbour may already be in the next iteration, but not in the one after that.
  void leave_when_complete(std::uint32_t node) {
    NodeState& own = nodes_[node];
    if (!own.is_in_call || own.is_leaving) return;
    double at_s = now_s_;
    for (const std::uint32_t other : {node - 1, node + 1}) {
      if (other >= request_.nodes) continue;  // no such node; node - 1 may have wrapped around
      if (nodes_[other].arrived < own.arrived) return;
      at_s = std::max(at_s, nodes_[other].arrived_s[own.arrived % 2] + coupling_message_s_);
    }
    own.is_leaving = true;
    events_.add(at_s, EventKind::kLeaves, node);
  }

  void leave_all() {
    for (std::uint32_t node = 0; node < request_.nodes; ++node) leave(node);
  }

  void leave(std::uint32_t node) {
    NodeState& own = nodes_[node];
    sums_.coupling_s += now_s_ - own.arrived_s[own.arrived % 2];
    own.is_leaving = false;
    own.is_in_call = false;
    if (publishes(own.iterations++)) {
      publish(node);
      return;
    }
    ended_s_ = std::max(ended_s_, now_s_);
    if (keeps_ == Keeps::kNothing && own.iterations % request_.every == 0)
      note_published(own.iterations / request_.every);
    begin_iteration(now_s_, node);
  }

  void publish(std::uint32_t node) {
    NodeState& own = nodes_[node];
    ++own.published;
    note_published(own.published);
    if (own.published > unsteady_) note(sums_.recorded_lag, own.published - global_step_.known(node), lags_recorded_);
    if (own.taken == own.analyzed) take(node, now_s_ > own.analyzer_free_s || own.taken == 0 ? node_.hand_off_s : 0);
    sums_.publish_s += node_.publish_s;
    events_.add(now_s_ + node_.publish_s, EventKind::kTested, node);
  }

  void test(std::uint32_t node) {
    const NodeState& own = nodes_[node];
    global_step_.advance(now_s_, node, own.committed, own.waited_s);
    const double exchange_s = request_.nodes > 1 ? node_.exchange_s : 0;
    sums_.publish_s += exchange_s;
    ended_s_ = std::max(ended_s_, now_s_ + exchange_s);
    begin_iteration(now_s_ + exchange_s, node);
  }

  void note_published(std::uint64_t published) {
    if (++published_by_[published - 1] < request_.nodes) return;
    published_s_[published - 1] = now_s_;
    if (published > unsteady_) note(sums_.committed_lag, published - committed_everywhere_, lags_committed_);
  }

  static void note(Lag& lag, std::uint64_t steps, std::uint64_t& count) {
    ++count;
    lag.mean += static_cast<double>(steps);  // `mean` is a sum until the end
    lag.most = std::max(lag.most, static_cast<double>(steps));
  }

  void notice(std::uint32_t node) {
    if (nodes_[node].is_in_call || request_.progress == Progress::kAlways) global_step_.progress(now_s_, node);
  }

  // --- the analyzer of a node ------------------------------------------------------------------------------------

  double analyzer_s(Work work, std::uint32_t node, double mean_s) const {
    return draws_.longest(work, node, nodes_[node].taken, mean_s, node_.analyzer_spread, 1);
  }

  void take(std::uint32_t node, double hand_off_s) {
    ++nodes_[node].taken;
    events_.add(now_s_ + hand_off_s + analyzer_s(Work::kTransfer, node, node_.transfer_s), EventKind::kCommitted, node);
  }

  void commit(std::uint32_t node) {
    NodeState& own = nodes_[node];
    if (++committed_by_[own.committed++] == request_.nodes) {
      sums_.commit_s += now_s_ - published_s_[committed_everywhere_++];
    }
    if (own.is_waiting) {
      own.is_waiting = false;
      double waited_s = std::max(now_s_ - own.may_begin_s, 0.0);
      if (waited_s > kProducerSpinS) waited_s += node_.wake_up_s;
      own.waited_s += waited_s;
      work(own.may_begin_s + waited_s, node);
    }
    const double factor = node == request_.slow_node ? request_.slow_analyzer : 1;
    events_.add(now_s_ + factor * analyzer_s(Work::kAnalyze, node, node_.analyze_s), EventKind::kAnalyzed, node);
  }

  void end_step(std::uint32_t node) {
    NodeState& own = nodes_[node];
    ++own.analyzed;
    own.analyzer_free_s = now_s_;
    ended_s_ = std::max(ended_s_, now_s_);
    collected_.reduced(now_s_, node);
    if (own.published > own.taken) take(node, 0);
  }

  // --- the result ------------------------------------------------------------------------------------------------

  ScaleResult result() {
    ScaleResult all = sums_;
    const auto nodes = static_cast<double>(request_.nodes);
    const auto steps = static_cast<double>(steps_);
    all.nodes = request_.nodes;
    all.steps = steps_;
    all.total_s = ended_s_;
    const std::uint64_t last = request_.iterations / request_.every - 1;  // excludes a shorter last step
    all.step_s = last > unsteady_
                     ? (published_s_[last] - published_s_[unsteady_]) / static_cast<double>(last - unsteady_)
                     : ended_s_ / steps;
    for (double ScaleResult::*const seconds :
         {&ScaleResult::generate_s, &ScaleResult::coupling_s, &ScaleResult::publish_s}) {
      all.*seconds /= nodes * steps;
    }
    if (keeps_ == Keeps::kNothing) return all;
    for (std::uint32_t node = 0; node < request_.nodes; ++node) {
      const double waited_s = nodes_[node].waited_s;
      all.buffer_wait_s += waited_s / (nodes * steps);
      all.waited_most_s = std::max(all.waited_most_s, waited_s);
      all.exchanges += static_cast<double>(global_step_.begun(node)) / (nodes * steps);
    }
    all.waited_for_node = global_step_.known_to_wait(0);
    all.committed_lag.mean /= static_cast<double>(lags_committed_);
    all.recorded_lag.mean /= static_cast<double>(lags_recorded_);
    all.commit_s /= steps;
    add_collection(all);
    return all;
  }

  void add_collection(ScaleResult& all) const {
    const auto nodes = static_cast<double>(request_.nodes);
    const auto steps = static_cast<double>(steps_);
    for (std::uint64_t step = unsteady_; step < steps_; ++step) {
      const double lag = (collected_.result_s(step) - published_s_[step]) / all.step_s;
      all.result_lag.mean += lag / static_cast<double>(steps_ - unsteady_);
      all.result_lag.most = std::max(all.result_lag.most, lag);
    }
    all.round_s = collected_.round_s() / steps;
    all.rounds = request_.nodes == 1 ? 0 : 1 + static_cast<double>(collected_.begun_again()) / steps;
    all.held_steps = collected_.held_steps();
    all.store_steps = store_steps(node_.step_bytes);
    all.collector_core = collected_.busy_s() / steps / all.step_s;
    const double exchanged = static_cast<double>(global_step_.messages()) * GlobalStep::kMessageBytes;
    all.bytes_sent = (exchanged + collected_.bytes_sent()) / (nodes * steps);
    all.node_bytes = node_.step_bytes * (node_.buffers + node_.slots) +
                     (request_.nodes == 1 ? 0 : store_bytes(node_.step_bytes));
  }

  const ScaleRequest& request_;
  const NodeFigures& node_;
  const Keeps keeps_;
  const std::uint64_t steps_;
  const std::uint64_t unsteady_;
  const Draws draws_;
  double coupling_message_s_ = 0;
  double collective_s_ = 0;
  EventQueue events_;
  std::vector<NodeState> nodes_;
  GlobalStep global_step_;
  Collected collected_;
  double now_s_ = 0;
  double ended_s_ = 0;
  std::uint32_t in_collective_ = 0;
  std::vector<std::uint32_t> published_by_;  // by step: the number of nodes that have published it
  std::vector<std::uint32_t> committed_by_;
  std::vector<double> published_s_;  // by step: the time at which the last node published it
  std::uint64_t committed_everywhere_ = 0;
  std::uint64_t lags_committed_ = 0, lags_recorded_ = 0;
  ScaleResult sums_;
};

void check(const ScaleRequest& request) {
  if (request.nodes < 1 || request.nodes > kMostSimulatedNodes) {
    throw usage_error("found {} nodes, expected 1 to {}", request.nodes, kMostSimulatedNodes);
  }
  if (request.node.buffers < 1 || request.every < 1 || request.iterations < request.every) {
    throw usage_error(
        "found {} buffers and {} iterations, of which every {}th is published; expected at least one buffer and one "
        "step",
        request.node.buffers, request.iterations, request.every);
  }
  if (request.slow_node >= request.nodes) {
    throw usage_error("the slow node: found {}, expected a number less than {}", request.slow_node, request.nodes);
  }
}

}  // namespace

ScaleResult simulate(const ScaleRequest& request) {
  check(request);
  ScaleResult result = Simulation(request, Keeps::kEachStep).run();
  result.bare_step_s = Simulation(request, Keeps::kNothing).run().step_s;
  return result;
}

}  // namespace ringside
