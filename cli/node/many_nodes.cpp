// SPDX-License-Identifier: BSD-3-Clause
#include "cli/node/many_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/terminal/format.hpp"
#include "common/options/command_line.hpp"
#include "common/options/option_checks.hpp"
#include "common/platform/error.hpp"
#include "common/text/decimal.hpp"
#include "common/text/printable.hpp"
#include "node/scale/scale_simulation.hpp"

namespace ringside {
namespace {

constexpr std::uint64_t kMostSteps = 200;  // the most steps to simulate; lags and waits become steady much earlier

// Measured times (docs/inside/ranks.md, "Parameters") of a publish, and of testing an exchange and starting the next
// one.
constexpr double kPublishS = 25e-6;
constexpr double kExchangeS = 10e-6;

/// The numbers in a text such as "1.2,24"; empty unless the text has exactly `count` numbers.
std::vector<double> numbers_of(std::string_view text, std::size_t count) {
  std::vector<double> numbers;
  while (numbers.size() < count) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::optional<double> number = decimal_number(text.substr(0, end));
    if (!number) return {};
    numbers.push_back(*number);
    if (end == text.size()) break;
    text.remove_prefix(end + 1);
    if (numbers.size() == count) return {};
  }
  return numbers.size() == count ? numbers : std::vector<double>();
}

/// Sets the spreads of the solver's and the analyzer's times from "0.05" (both) or "0.05,0.3".
void take_spread(const std::string& text, NodeFigures& node) {
  std::vector<double> numbers = numbers_of(text, 1);
  if (numbers.empty()) numbers = numbers_of(text, 2);
  if (numbers.empty() || numbers.front() > 1 || numbers.back() > 1) {
    throw usage_error("--spread: found '{}', expected one or two numbers from 0 to 1, for instance 0.05 or 0.05,0.2",
                      shortened(text));
  }
  node.generate_spread = numbers.front();
  node.analyzer_spread = numbers.back();
}

Network network_of(const std::string& text) {
  if (const std::optional<Network> known = network_named(text)) return *known;
  const std::vector<double> numbers = numbers_of(text, 2);
  if (numbers.empty() || numbers[1] <= 0) {
    throw usage_error(
        "--network: found '{}', expected ALPHA_US,GB_S (microseconds of a message, and a rate above 0), or {}",
        shortened(text), names_of_networks());
  }
  return {.alpha_s = numbers[0] * 1e-6, .bytes_s = numbers[1] * 1e9};
}

std::vector<std::uint32_t> counts_of(const std::vector<int>& nodes) {
  std::vector<std::uint32_t> counts;
  if (nodes.size() > 1) {
    for (const int count : nodes) counts.push_back(static_cast<std::uint32_t>(count));
    return counts;
  }
  const auto most = static_cast<std::uint32_t>(nodes.front());
  for (std::uint32_t count = 1; count < most; count *= 4) counts.push_back(count);
  counts.push_back(most);
  return counts;
}

Coupling coupling_of(const std::string& word) {
  for (const Coupling coupling : {Coupling::kAll, Coupling::kNeighbours}) {
    if (word == to_string(coupling)) return coupling;
  }
  return Coupling::kNone;
}

/// "14.69 ms", "8 us".
std::string short_text(double seconds) {
  if (seconds < 1e-4) return fmt::format("{:.3g} us", seconds * 1e6);
  return seconds < 1 ? fmt::format("{:.4g} ms", seconds * 1e3) : fmt::format("{:.4g} s", seconds);
}

std::string lag_text(const Lag& lag) {
  return fmt::format("{:.2f} ({:.3g})", lag.mean, lag.most);
}

std::string table_row(const ScaleResult& row) {
  const auto share = [&](double seconds) { return 100 * seconds / row.step_s; };
  return fmt::format(
      "  {:>6}  {:>9}  {:>9}  {:>6.1f} %  {:>6.1f} %  {:>9}  {:>9}  {:>13}  {:>9}  {:>10}  {:>7.1f} %  {:>6}\n",
      row.nodes, short_text(row.step_s), short_text(std::max(row.step_s - row.bare_step_s, 0.0)), share(row.coupling_s),
      share(row.buffer_wait_s), lag_text(row.committed_lag), lag_text(row.recorded_lag), lag_text(row.result_lag),
      row.rounds > 0 ? short_text(row.round_s) : "-",
      row.rounds > 0 ? fmt::format("{} of {}", row.held_steps, row.store_steps) : "-", 100 * row.collector_core,
      fmt::format("{:.0f} B", row.bytes_sent));
}

Json to_json(const Lag& lag) {
  return {{"mean", lag.mean}, {"most", lag.most}};
}

Json json_row(const ScaleResult& row) {
  Json object = {{"nodes", row.nodes}, {"steps", row.steps}};
  object["total_s"] = row.total_s;
  object["step_s"] = row.step_s;
  object["bare_step_s"] = row.bare_step_s;
  object["generate_s"] = row.generate_s;
  object["coupling_s"] = row.coupling_s;
  object["buffer_wait_s"] = row.buffer_wait_s;
  object["publish_s"] = row.publish_s;
  object["waited_most_s"] = row.waited_most_s;
  object["waited_for_node"] = row.waited_for_node;
  object["committed_lag"] = to_json(row.committed_lag);
  object["commit_s"] = row.commit_s;
  object["recorded_lag"] = to_json(row.recorded_lag);
  object["exchanges"] = row.exchanges;
  object["result_lag"] = to_json(row.result_lag);
  object["round_s"] = row.round_s;
  object["rounds"] = row.rounds;
  object["held_steps"] = row.held_steps;
  object["store_steps"] = row.store_steps;
  object["collector_core"] = row.collector_core;
  object["bytes_sent"] = row.bytes_sent;
  object["node_bytes"] = row.node_bytes;
  return object;
}

}  // namespace

void declare(CommandLine& line, ManyNodesOptions& options) {
  OptionSet set = line.options_of<ManyNodesOptions>("Many nodes");
  const Option nodes = set.option("--nodes", options.nodes,
                                  "simulate a run on this many nodes and on 1, 4, 16, ... nodes, or on each number in "
                                  "a list (docs/inside/ranks.md)")
                           .comma_separated()
                           .check(whole_number_within(1, kMostSimulatedNodes))
                           .value_name("N");
  set.option("--ranks-per-node", options.ranks_per_node,
             "ranks on each node; each of them takes the time of an iteration")
      .check(whole_number_within(1, 4096))
      .needs(nodes)
      .show_default()
      .value_name("N");
  set.option("--network", options.network,
             "latency of a message in microseconds and rate in GB/s, or one of: " + names_of_networks())
      .needs(nodes)
      .show_default()
      .value_name("ALPHA,RATE");
  set.option("--coupling", options.coupling, "the nodes that an iteration waits for: all|neighbours|none")
      .check(one_of({"all", "neighbours", "none"}))
      .needs(nodes)
      .show_default()
      .value_name("WHICH");
  set.option("--progress", options.progress,
             "when MPI exchanges counters: only during the solver's MPI calls (calls), or at any time (always)")
      .check(one_of({"calls", "always"}))
      .needs(nodes)
      .show_default()
      .value_name("WHEN");
  set.option("--spread", options.spread,
             "standard deviation of the iterations' times, divided by their mean; a second value is for the analyzer's "
             "work")
      .needs(nodes)
      .show_default()
      .value_name("SHARE[,SHARE]");
  set.option("--slow-solver", options.slow_solver,
             "the last node's iterations take this many times as long as those of other nodes")
      .check(number_within(1, 1000))
      .needs(nodes)
      .show_default()
      .value_name("FACTOR");
  set.option("--slow-analyzer", options.slow_analyzer,
             "the last node's reductions take this many times as long as those of other nodes")
      .check(number_within(1, 1000))
      .needs(nodes)
      .show_default()
      .value_name("FACTOR");
  set.option("--turn-cost", options.turn_cost_us,
             "microseconds that a node needs to add its part to a step's state and to send the state to the next node")
      .check(number_within(0, 1e6))
      .needs(nodes)
      .show_default()
      .value_name("US");
  set.option("--step-figures", options.step_figures,
             "use measured figures instead of a planned node: ms of an iteration, ms of transfer and commit, ms of "
             "analyze, and MB of a step")
      .needs(nodes)
      .value_name("MS,MS,MS,MB");
}

NodeFigures figures_given(const ManyNodesOptions& options, const PublishOptions& publish, const RingOptions& ring) {
  const std::vector<double> numbers = numbers_of(options.step_figures, 4);
  if (numbers.empty() || numbers[0] <= 0) {
    throw usage_error(
        "--step-figures: found '{}', expected four numbers such as 10,0.8,1.2,32: the milliseconds of an iteration "
        "(above 0), of transfer and commit, and of analyze, and the megabytes of a step",
        shortened(options.step_figures));
  }
  return {.generate_s = numbers[0] * 1e-3,
          .transfer_s = numbers[1] * 1e-3,
          .analyze_s = numbers[2] * 1e-3,
          .buffers = publish.buffers,
          .slots = ring.slots,
          .step_bytes = numbers[3] * 1e6};
}

ManyNodes simulate_many(const ManyNodesOptions& options, const NodeFigures& node, const SolveOptions& solve) {
  ManyNodes all;
  ScaleRequest& request = all.request;
  request.node = node;
  request.node.ranks = options.ranks_per_node;
  take_spread(options.spread, request.node);
  request.node.publish_s = kPublishS;
  request.node.exchange_s = kExchangeS;
  request.network = network_of(options.network);
  request.coupling = coupling_of(options.coupling);
  request.progress = options.progress == "always" ? Progress::kAlways : Progress::kInCalls;
  request.every = std::min(solve.every, solve.last_iteration());
  request.iterations = std::min(solve.last_iteration(), kMostSteps * request.every);
  request.slow_solver = options.slow_solver;
  request.slow_analyzer = options.slow_analyzer;
  request.collection.turn_s = options.turn_cost_us * 1e-6;
  for (const std::uint32_t nodes : counts_of(options.nodes)) {
    request.nodes = nodes;
    request.slow_node = nodes - 1;
    all.rows.push_back(simulate(request));
  }
  return all;
}

std::string many_nodes_table(const ManyNodes& simulated) {
  const ScaleRequest& request = simulated.request;
  const NodeFigures& node = request.node;
  std::string out = fmt::format("ringside plan: many nodes, {} on each node\n",
                                counted(static_cast<std::uint64_t>(node.ranks), "rank"));
  out += fmt::format(
      "  node       an iteration {}, transfer and commit {}, analyze {}; spread {:.3g} and {:.3g} %; {} of {}\n",
      short_text(node.generate_s), short_text(node.transfer_s), short_text(node.analyze_s), 100 * node.generate_spread,
      100 * node.analyzer_spread, counted(node.buffers, "buffer"),
      megabytes(static_cast<std::uint64_t>(node.step_bytes)));
  out += fmt::format("  network    {} per message, {:.3g} GB/s; each iteration waits for {}\n",
                     short_text(request.network.alpha_s), request.network.bytes_s / 1e9,
                     request.coupling == Coupling::kNone  ? "no other node"
                     : request.coupling == Coupling::kAll ? "all nodes"
                                                          : "its neighbours");
  out += fmt::format("  exchange   {}\n", request.progress == Progress::kAlways
                                              ? "MPI makes progress at any time"
                                              : "MPI makes progress only in the solver's calls");
  out += fmt::format("  simulated  {} of {}, every {}\n\n", counted(simulated.rows.front().steps, "step"),
                     counted(request.iterations, "iteration"), request.every);
  out +=
      "                         for                          lag, mean and most, in steps                  steps held\n"
      "   nodes       step    keeping  coupling   buffers  committed   recorded         result      round     by a "
      "node  "
      "collector    sent\n";
  for (const ScaleResult& row : simulated.rows) out += table_row(row);
  const ScaleResult& last = simulated.rows.back();
  if (last.waited_most_s > 0) {
    out += fmt::format("\n  node {} waited longest for its analyzer: {} of {}\n", last.waited_for_node,
                       short_text(last.waited_most_s), short_text(last.total_s));
  }
  const auto too_slow = std::ranges::find_if(simulated.rows, [](const ScaleResult& row) {
    return row.held_steps > row.store_steps || row.collector_core > 1;  // the stores then fill with states
  });
  if (too_slow != simulated.rows.end()) {
    out += fmt::format("\n  rounds of {} nodes take too long: steps are missing in the results of the whole run\n",
                       too_slow->nodes);
  }
  return out;
}

Json to_json(const ManyNodes& simulated) {
  const ScaleRequest& request = simulated.request;
  const NodeFigures& node = request.node;
  Json object;
  object["node"] = {{"ranks", node.ranks},
                    {"generate_s", node.generate_s},
                    {"transfer_s", node.transfer_s},
                    {"analyze_s", node.analyze_s},
                    {"generate_spread", node.generate_spread},
                    {"analyzer_spread", node.analyzer_spread},
                    {"hand_off_s", node.hand_off_s},
                    {"wake_up_s", node.wake_up_s},
                    {"publish_s", node.publish_s},
                    {"exchange_s", node.exchange_s},
                    {"buffers", node.buffers},
                    {"slots", node.slots},
                    {"step_bytes", node.step_bytes}};
  object["network"] = {{"alpha_s", request.network.alpha_s}, {"bytes_s", request.network.bytes_s}};
  object["coupling"] = to_string(request.coupling);
  object["progress"] = request.progress == Progress::kAlways ? "always" : "calls";
  object["slow_solver"] = request.slow_solver;
  object["slow_analyzer"] = request.slow_analyzer;
  object["collection"] = {{"state_bytes", request.collection.state_bytes},
                          {"turn_s", request.collection.turn_s},
                          {"block_s", request.collection.block_s},
                          {"record_s", request.collection.record_s}};
  object["iterations"] = request.iterations;
  object["every"] = request.every;
  object["rows"] = Json::array();
  for (const ScaleResult& row : simulated.rows) object["rows"].push_back(json_row(row));
  return object;
}

}  // namespace ringside
