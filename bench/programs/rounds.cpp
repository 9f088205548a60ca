// SPDX-License-Identifier: BSD-3-Clause
// How long does the state of a step take to pass through the analyzers of several nodes? The program makes the rounds
// of 2, 4 and 8 nodes in one process, over the loopback device, encrypted as between machines. The program measures,
// one step at a time, how long the first node waits for the results of the whole run, and the processor time of all
// threads of the rounds. In both results, the share of one node is the cost of a hop. The threads of a round work one
// after another; if other programs use the cores, each thread waits for a core.
//
// The program also measures the time of a thread for the exact sums of an entry and of its change, which a node
// computes for a field in boxes.
//
// A hop consists of the sender's encryption, the loopback device, the wake-ups of the thread that moves bytes and of
// the round's thread, decryption, the node's part, and sending.
#include "analyzer/whole_run/rounds.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/programs/bench_program.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "common/ranks/node_address.hpp"
#include "common/records/record_message.hpp"
#include "common/reductions/kernels/reduction_table.hpp"
#include "common/reductions/whole/exact_sums.hpp"
#include "common/threads/openmp_team.hpp"

namespace ringside::bench {
namespace {

constexpr int kWarmUps = 20;
constexpr std::int64_t kPatienceNs = 10'000'000'000;
const std::vector<Scalar> kScalars = {{.name = "residual"}};

Schema field_of(std::uint64_t entries) {
  return Schema::of({{.name = "x", .dtype = DType::kF64, .shape = {entries}}});
}

double seconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// One node of a round. The node's part is reduced only once, because the measurement begins after the reduction of a
/// step.
struct Node {
  Node(const std::string& socket, std::uint64_t entries)
      : schema(field_of(entries)), reducer(schema, team), x(entries, 1.5), link("localhost", socket) {
    const auto reduced = reducer.reduce(x.data(), x.data(), 1);
    results.assign(reduced.begin(), reduced.end());
    address = read_node_address(socket).value();
  }

  void add(std::uint64_t step) {
    StepWithScalars described;
    described.descriptor = {.step = step, .iteration = step, .residual_l1 = static_cast<double>(step % 2)};
    round->prepare(described, reducer, results, x.data(), x.data());
    StepFigures figures;
    figures.step = described.descriptor;
    figures.commit_seq = figures.steps_committed = 1 + step;
    round->add(figures);
  }

  Schema schema;
  OpenMpTeam team;
  StepReducer reducer;
  std::vector<double> x;
  std::vector<std::uint64_t> results;
  NodeLink link;
  NodeAddress address;
  std::optional<Rounds> round;
};

class Nodes {
 public:
  Nodes(const std::string& folder, std::size_t count, std::uint64_t entries) : entries_(entries) {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    for (std::size_t n = 0; n < count; ++n) {
      nodes_.push_back(std::make_unique<Node>(folder + "/socket" + std::to_string(n), entries));
    }
    RecorderOptions recording;
    recording.pool = folder + "/pool";
    recording.socket = folder + "/socket0";
    recording.journal.kind = JournalKind::kFile;
    TriggerOptions triggers;  // one fires at each step, which shows when the results have arrived
    triggers.global_triggers = {"solver.residual > 0.5: stop", "solver.residual < 0.5: stop"};
    plan_ = plan(0);
    collector_.emplace(global_options(recording), triggers, *plan_, kScalars, is_collected_);
    RunToRecord run;
    run.started.set_run_id(bytes_of(Id128{1, 2}));
    run.started.set_first_commit_seq(1);
    run.started.set_slots(3);
    collector_->begin_run(run);
    for (std::size_t n = 0; n < count; ++n) {
      nodes_[n]->round.emplace(plan(n), nodes_[n]->link, nodes_[n]->schema, nodes_[n]->team, std::vector<int>{});
      nodes_[n]->round->begin(0, n == 0 ? &*collector_ : nullptr);
    }
  }

  ~Nodes() {
    {
      std::vector<std::jthread> threads;
      for (const auto& node : nodes_) threads.emplace_back([&node] { node->round->finish(kPatienceNs); });
    }
    collector_->end_run({});
    nodes_.clear();
  }

  /// Returns the duration of the next step's round.
  double round_s() {
    is_collected_.store(false);
    for (std::size_t n = nodes_.size() - 1; n > 0; --n) nodes_[n]->add(step_);
    const std::int64_t begin_ns = now_ns();
    nodes_[0]->add(step_++);
    while (!is_collected_.load()) {
      if (now_ns() - begin_ns > kPatienceNs) throw system_error("step {}: the round did not end in time", step_ - 1);
      std::this_thread::sleep_for(std::chrono::microseconds(10));
    }
    return static_cast<double>(now_ns() - begin_ns) * 1e-9;
  }

  /// The size of a state after the first node has added its part.
  std::size_t state_bytes(std::uint64_t more_entries) const {
    RoundState state = state_of_figures();
    const std::vector<double> head(more_entries, 1.5);
    const std::vector<std::uint64_t> values(kRealFieldWords);
    FieldPart part;
    part.entries = more_entries;
    part.head = part.head_change = head;
    part.values = values;
    part.has_change = true;
    state.fields[0].take(part);
    state.fields[0].min = -1;
    state.fields[0].max = 2;
    state.fields[0].change_linf = 1e-3;
    state.fields[0].entries += 10'000'000'000 / kReductionBlockRows * kReductionBlockRows;
    return bytes_of_message(state);
  }

  /// The size of the message for a field in boxes, whose entries are normally distributed with both signs, and whose
  /// changes are a millionth of their value.
  std::size_t state_bytes_of_boxes() const {
    RoundState state = state_of_figures();
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    auto sums = std::make_unique<ExactSums>();
    ExactAdder adder;
    std::vector<double> x(kReductionBlockRows);
    std::vector<double> change(kReductionBlockRows);
    for (std::uint64_t block = 0; block < 4096; ++block) {
      for (double& entry : x) entry = normal(random);
      for (double& entry : change) entry = 1e-6 * normal(random);
      adder.add(x.data(), change.data(), x.size(), false, *sums);
    }
    state.fields[0].exact_sums = std::move(sums);
    state.fields[0].min = -1;
    state.fields[0].max = 2;
    state.fields[0].change_linf = 1e-3;
    state.fields[0].entries = 10'000'000'000;
    return bytes_of_message(state);
  }

 private:
  static RoundState state_of_figures() {
    RoundState state;
    state.step = state.iteration = 100'000;
    state.node = 1;
    state.collected = state.step - 100;
    state.has_figures = true;
    StepFigures& figures = state.figures;
    figures.step.generate_ns = figures.analyzer_idle_ns = 10'000'000;
    figures.step.producer_idle_ns = 1'000;
    figures.hand_off_ns = 20'000;
    figures.transfer_ns = figures.analyze_ns = 3'000'000;
    figures.commit_ns = 100'000;
    figures.bytes_transferred = 100'000'000'000;
    figures.steps_committed = figures.steps_persisted = state.step;
    state.fields.resize(1);
    return state;
  }

  std::size_t bytes_of_message(const RoundState& state) const {
    RoundPlan of_all = *plan_;
    of_all.nodes = 1000;
    wire::RoundStep message;
    write(of_all, state, message);
    return message.ByteSizeLong();
  }

  RoundPlan plan(std::size_t n) const {
    const std::size_t count = nodes_.size();
    const NodeAddress& next = nodes_[(n + 1) % count]->address;
    return {.attachment = Id128{7, 8},
            .problem_id = Id128{3, 4},
            .node = static_cast<std::uint32_t>(n),
            .nodes = static_cast<std::uint32_t>(count),
            .next_address = next.address,
            .next_key = next.public_key,
            .previous_key = nodes_[(n + count - 1) % count]->address.public_key,
            .ranks = {},
            .regions = {},
            .whole = field_of(count * entries_),
            .places = {PartPlace{n * entries_}},
            .has_results = {true},
            .in_boxes = {false}};
  }

  const std::uint64_t entries_;
  std::atomic<bool> is_collected_{false};
  std::vector<std::unique_ptr<Node>> nodes_;
  std::optional<RoundPlan> plan_;
  std::optional<Collector> collector_;
  std::uint64_t step_ = 0;
};

Json measure(const std::string& folder, std::size_t count, std::uint64_t entries, int repeats) {
  Nodes nodes(folder, count, entries);
  for (int i = 0; i < kWarmUps; ++i) nodes.round_s();
  const auto own_s = [] { return seconds_of(CLOCK_PROCESS_CPUTIME_ID) - seconds_of(CLOCK_THREAD_CPUTIME_ID); };
  const auto per_node = 1e6 / static_cast<double>(count);
  std::vector<double> hops;
  std::vector<double> cpu;
  for (int i = 0; i < repeats; ++i) {
    const double begin_s = own_s();
    hops.push_back(nodes.round_s() * per_node);
    cpu.push_back((own_s() - begin_s) * per_node);
  }
  return {{"nodes", count},
          {"entries_of_node", entries},
          {"hop", spread(hops, "us")},
          {"processor_time_of_hop", spread(cpu, "us")},
          {"state_bytes", nodes.state_bytes(0)},
          {"state_bytes_of_an_open_block", nodes.state_bytes(1000)},
          {"state_bytes_of_boxes", nodes.state_bytes_of_boxes()}};
}

/// The additional time of exact sums, compared with the reductions of a step: for entries within a few octaves; for
/// equal entries, each of which waits for the previous one; and for entries of every exponent. One thread computes; the
/// entries are in a cache.
Json measure_exact_sums(int repeats) {
  constexpr std::size_t kEntries = 64 * kReductionBlockRows;
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> octave(-500, 500);
  const std::array<std::pair<const char*, std::function<double()>>, 3> kinds = {{
      {"normal", [&] { return normal(random); }},
      {"equal", [] { return 1.5; }},
      {"every_exponent", [&] { return std::exp2(octave(random)); }},
  }};
  Json document;
  for (const auto& [name, entry] : kinds) {
    std::vector<double> x(kEntries);
    for (double& one : x) one = entry();
    ExactAdder adder;
    ExactSums sums;
    std::vector<double> ns;
    for (int i = 0; i < repeats; ++i) {
      const std::int64_t begin_ns = now_ns();
      for (std::size_t at = 0; at < kEntries; at += kReductionBlockRows) {
        adder.add(&x[at], &x[at], kReductionBlockRows, false, sums);
      }
      ns.push_back(static_cast<double>(now_ns() - begin_ns) / static_cast<double>(kEntries));
    }
    document[name] = spread(ns, "ns");
  }
  return document;
}

}  // namespace
}  // namespace ringside::bench

int main(int argc, char** argv) {
  using namespace ringside;
  using namespace ringside::bench;
  BenchProgram program("rounds",
                       "Measures how long a step's state takes to pass the analyzers of several nodes, and how long "
                       "exact sums of a field in boxes take. Prints JSON.");
  std::vector<int> nodes = {2, 4, 8};
  std::vector<int> entries = {1024, 1 << 22};
  int repeats = 501;
  std::string folder = "/tmp";
  program.line.option("--nodes", nodes, "Measure with these numbers of nodes")
      .comma_separated()
      .check(whole_number_within(2, 64));
  program.line.option("--entries", entries, "Doubles that a node keeps")
      .comma_separated()
      .check(whole_number_within(1024, 1 << 26));
  program.line.option("--repeats", repeats, "Measured rounds").check(whole_number_within(5, 100'000));
  program.line.option("--folder", folder, "Folder for temporary sockets and a temporary journal");
  return program.run(argc, argv, [&](Json& report) {
    prctl(PR_SET_TIMERSLACK, 1);  // sleeps of microseconds end in time
    report["repeats"] = repeats;
    folder += "/bench_rounds." + std::to_string(getpid());
    for (const int of_node : entries) {
      for (const int count : nodes) {
        report["rounds"].push_back(
            measure(folder, static_cast<std::size_t>(count), static_cast<std::uint64_t>(of_node), repeats));
      }
    }
    std::filesystem::remove_all(folder);
    report["exact_sums_of_an_entry"] = measure_exact_sums(repeats);
  });
}
