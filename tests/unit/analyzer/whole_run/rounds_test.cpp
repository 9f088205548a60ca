// SPDX-License-Identifier: BSD-3-Clause
// Rounds of several nodes over real sockets: the recorded results are those of one process, even if a node dies, and no
// node waits for another.
#include "analyzer/whole_run/rounds.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/journal/journal_reader.hpp"
#include "common/ranks/node_address.hpp"
#include "common/records/record_message.hpp"
#include "common/reductions/reduction_catalogue.hpp"
#include "common/threads/openmp_team.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

using testing::TemporaryFolder;

constexpr std::int64_t kPatienceNs = 30'000'000'000;
const std::vector<Scalar> kScalars = {{.name = "residual"}};

/// Entry i of step s.
double entry(std::uint64_t s, std::uint64_t i) {
  return static_cast<double>((i * 2654435761u + s * 97) % 10007) / 3.0 - 1000.0;
}

/// How a field is distributed over the nodes: consecutive rows, or entries from everywhere, as in boxes.
enum class Spread { kRows, kBoxes };

/// Entries [first, first + count) in the order in which nodes keep them. With boxes, every 7919th entry: 7919 is a
/// prime, so that each of up to 7918 entries occurs once.
std::vector<double> entries_of(std::uint64_t step, std::uint64_t first, std::uint64_t count,
                               Spread spread = Spread::kRows, std::uint64_t of_all = 0) {
  std::vector<double> entries(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    entries[i] = entry(step, spread == Spread::kBoxes ? (first + i) * 7919 % of_all : first + i);
  }
  return entries;
}

Schema field_of(std::uint64_t entries) {
  return Schema::of({{.name = "x", .dtype = DType::kF64, .shape = {entries}}});
}

/// One node of a run: its link, and its part in the rounds from its first step on.
class Node {
 public:
  Node(const std::string& socket, std::uint64_t first, std::uint64_t entries, Spread spread, std::uint64_t of_all)
      : socket_(socket),
        first_(first),
        spread_(spread),
        of_all_(of_all),
        schema_(field_of(entries)),
        reducer_(schema_, team_) {
    link_.emplace("localhost", socket);
  }

  NodeAddress address() const { return read_node_address(socket_).value(); }
  std::uint64_t first() const { return first_; }
  std::uint64_t entries() const { return schema_.place(0).entries; }
  const std::string& socket() const { return socket_; }

  void begin(const RoundPlan& plan, Collector* collector, std::uint64_t first_step) {
    round_.emplace(plan, *link_, schema_, team_, std::vector<int>{});
    round_->begin(first_step, collector);
  }

  void add(std::uint64_t step) {
    const std::vector<double> x = part_of(step);
    const std::vector<double> previous = step > 0 ? part_of(step - 1) : std::vector<double>();
    const void* const before = step > 0 ? previous.data() : nullptr;
    StepWithScalars described;
    described.descriptor = {.step = step, .iteration = 10 + step, .residual_l1 = 0.5 + static_cast<double>(step)};
    const auto results = reducer_.reduce(x.data(), before, 1);
    round_->prepare(described, reducer_, results, x.data(), before);
    round_->add({.run_id = Id128{1, 2},
                 .step = described.descriptor,
                 .commit_seq = 1 + step,
                 .transfer_ns = static_cast<std::int64_t>(first_),
                 .bytes_transferred = entries() * sizeof(double),
                 .steps_committed = step + 1});
  }

  void finish(std::int64_t patience_ns) { round_->finish(patience_ns); }
  /// Ends the node in the same way as a kill would end its process.
  void die() {
    round_.reset();
    link_.reset();
  }
  void restart() { link_.emplace("localhost", socket_); }

 private:
  std::vector<double> part_of(std::uint64_t step) const {
    return entries_of(step, first_, entries(), spread_, of_all_);
  }

  std::string socket_;
  std::uint64_t first_;
  Spread spread_;
  std::uint64_t of_all_;
  Schema schema_;
  OpenMpTeam team_;
  StepReducer reducer_;
  std::optional<NodeLink> link_;
  std::optional<Rounds> round_;
};

class RoundsTest : public ::testing::Test {
 protected:
  /// Makes the nodes. bounds: the bounds of the nodes' parts.
  void make(const std::vector<std::uint64_t>& bounds) {
    for (std::size_t n = 0; n + 1 < bounds.size(); ++n) {
      nodes_.push_back(std::make_unique<Node>(folder_.file("socket" + std::to_string(n)), bounds[n],
                                              bounds[n + 1] - bounds[n], spread_, bounds.back()));
    }
    entries_ = bounds.back();
    plan_ = plan(0);
    collect_from(0);
    for (std::size_t n = 0; n < nodes_.size(); ++n) begin(n, 0);
  }

  /// Makes three nodes with 7 steps. Node 1 had 4 of the steps when it was killed; its successor has not yet taken part
  /// in a round.
  void make_and_restart_node_1() {
    make({0, 1000, 2000, 3000});
    add_on_all(0, 4);
    nodes_[1]->die();
    for (std::uint64_t step = 4; step < 7; ++step) {
      nodes_[0]->add(step);
      nodes_[2]->add(step);
    }
    nodes_[1]->restart();
  }

  /// Adds the steps [first, end) on each node.
  void add_on_all(std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t step = first; step < end; ++step) {
      for (const auto& node : nodes_) node->add(step);
    }
  }

  void collect_from(std::uint64_t step) {
    collector_.emplace(recording(), triggers_, *plan_, kScalars, stop_run_);
    RunToRecord run;
    run.started.set_run_id(bytes_of(Id128{1, 2}));
    run.started.set_from_step(step);
    run.started.set_first_commit_seq(1 + step);
    run.started.set_slots(3);
    collector_->begin_run(run);
  }

  void begin(std::size_t n, std::uint64_t first_step) {
    nodes_[n]->begin(plan(n), n == 0 ? &*collector_ : nullptr, first_step);
  }

  RecorderOptions recording() const {
    RecorderOptions options;
    options.pool = folder_.file("pool");
    options.socket = folder_.file("socket0");
    options.journal.kind = JournalKind::kFile;
    return global_options(options);
  }

  RoundPlan plan(std::size_t n) const {
    const std::size_t count = nodes_.size();
    const NodeAddress next = nodes_[(n + 1) % count]->address();
    return {.attachment = Id128{7, 8},
            .problem_id = Id128{3, 4},
            .node = static_cast<std::uint32_t>(n),
            .nodes = static_cast<std::uint32_t>(count),
            .next_address = next.address,
            .next_key = next.public_key,
            .previous_key = nodes_[(n + count - 1) % count]->address().public_key,
            .ranks = {},
            .regions = {},
            .whole = field_of(entries_),
            .places = {PartPlace{nodes_[n]->first(), spread_ == Spread::kBoxes}},
            .has_results = {true},
            .in_boxes = {spread_ == Spread::kBoxes}};
  }

  /// Finishes all nodes at the same time, as their processes do.
  void finish(std::int64_t patience_ns = kPatienceNs) {
    {
      std::vector<std::jthread> threads;
      for (const auto& node : nodes_) threads.emplace_back([&node, patience_ns] { node->finish(patience_ns); });
    }
    collector_->end_run({});
  }

  std::vector<wire::Record> recorded() const {
    JournalReader journal = JournalReader::open(recording().pool);
    std::vector<wire::Record> records;
    while (const auto encoded = journal.next(0)) {
      EXPECT_TRUE(
          records.emplace_back().ParseFromArray(encoded->bytes.data(), static_cast<int>(encoded->bytes.size())));
    }
    return records;
  }

  /// Expects the values that one process would have recorded.
  void expect_step_of_one_process(const wire::StepRecord& found) {
    const std::uint64_t step = found.step();
    const std::vector<double> x = entries_of(step, 0, entries_);
    const std::vector<double> previous = step > 0 ? entries_of(step - 1, 0, entries_) : std::vector<double>();
    const void* const before = step > 0 ? previous.data() : nullptr;
    StepReducer reducer(field_of(entries_));
    std::span<const std::uint64_t> words = reducer.reduce(x.data(), before, 1);
    const std::vector<std::uint64_t> exact = with_exact_sums(reducer, words, x.data(), before);
    if (spread_ == Spread::kBoxes) words = exact;
    const RecordLayout layout(field_of(entries_), catalogue_of(field_of(entries_), kScalars, {}));
    StepWithScalars described;
    described.descriptor.residual_l1 = 0.5 + static_cast<double>(step);
    std::vector<std::uint64_t> values(layout.words());
    layout.gather(words, &described, values);
    wire::StepRecord expected;
    fill(expected, StepFigures{}, layout, values);
    EXPECT_EQ(found.results().SerializeAsString(), expected.results().SerializeAsString()) << "step " << step;
    EXPECT_EQ(found.iteration(), 10 + step);
    EXPECT_EQ(found.bytes_transferred(), entries_ * sizeof(double));
    EXPECT_EQ(found.transfer_ns(), static_cast<std::int64_t>(nodes_.back()->first())) << "the greatest of all nodes";
  }

  /// The words that one process records with exact sums, when all entries are one box.
  std::vector<std::uint64_t> with_exact_sums(const StepReducer& reducer, std::span<const std::uint64_t> words,
                                             const void* x, const void* previous) const {
    OpenMpTeam team;
    const std::optional<PartPlace> place = PartPlace{.first = 0, .in_boxes = true};
    StepParts parts(reducer.schema(), std::span(&place, 1), team);
    std::vector<std::uint64_t> memory(parts.words());
    parts.store(reducer, words, x, previous, memory);
    WholeField whole;
    whole.take(parts.part(0, memory));
    std::vector<std::uint64_t> exact(words.begin(), words.end());
    exact[0] = whole.finish(false, &exact[1]);
    return exact;
  }

  struct Found {
    std::uint64_t steps = 0;
    std::uint64_t missing = 0;
    bool operator==(const Found&) const = default;
  };
  /// Checks that each of `end_step` steps was recorded once, or recorded once as missing.
  Found expect_all_accounted_for(std::uint64_t end_step) {
    Found found;
    std::uint64_t next = 0;
    for (const wire::Record& record : recorded()) {
      if (record.has_step()) {
        EXPECT_EQ(record.step().step(), next++);
        expect_step_of_one_process(record.step());
        ++found.steps;
      } else if (record.has_records_missing()) {
        EXPECT_EQ(record.records_missing().first_step(), next);
        EXPECT_EQ(record.records_missing().first_commit_seq(), next + 1);
        next += record.records_missing().steps();
        found.missing += record.records_missing().steps();
      }
    }
    EXPECT_EQ(next, end_step);
    return found;
  }

  TemporaryFolder folder_;
  Spread spread_ = Spread::kRows;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::uint64_t entries_ = 0;
  std::atomic<bool> stop_run_{false};
  TriggerOptions triggers_;
  std::optional<RoundPlan> plan_;
  std::optional<Collector> collector_;
};

TEST_F(RoundsTest, TheResultsOfTheWholeAreThoseOfOneProcess) {
  make({0, 1500, 1600, 5000});
  add_on_all(0, 20);
  finish();
  EXPECT_EQ(expect_all_accounted_for(20), (Found{20, 0}));
}

TEST_F(RoundsTest, PartsThatAreBoxesHaveTheExactSumsOfAllEntries) {
  spread_ = Spread::kBoxes;
  make({0, 1, 1500, 1600, 5000});
  add_on_all(0, 10);
  finish();
  EXPECT_EQ(expect_all_accounted_for(10).steps, 10u);
}

TEST_F(RoundsTest, StatesWaitForANodeThatIsBehind) {
  make({0, 1024, 3000});
  for (std::uint64_t step = 0; step < 10; ++step) nodes_[0]->add(step);
  for (std::uint64_t step = 0; step < 10; ++step) nodes_[1]->add(step);
  finish();
  EXPECT_EQ(expect_all_accounted_for(10).steps, 10u);
}

TEST_F(RoundsTest, TheLastStepIsRecordedAlthoughTheStoreWasFull) {
  make({0, 1000, 2000});
  // The first node's store is full after kMost steps, because no round is finished before node 1 has steps.
  constexpr std::uint64_t kSteps = 2 * PartStore::kMost;
  for (std::uint64_t step = 0; step < kSteps; ++step) nodes_[0]->add(step);
  for (std::uint64_t step = 0; step < kSteps; ++step) nodes_[1]->add(step);
  finish();
  EXPECT_EQ(expect_all_accounted_for(kSteps), (Found{PartStore::kMost + 1, PartStore::kMost - 1}));
  std::uint64_t newest = 0;
  for (const wire::Record& record : recorded()) newest = record.has_step() ? record.step().step() : newest;
  EXPECT_EQ(newest, kSteps - 1);
}

TEST_F(RoundsTest, ASuccessorTakesPartAgainAndTheStepsBetweenAreMissing) {
  make_and_restart_node_1();
  begin(1, 7);
  add_on_all(7, 12);
  finish();
  const Found found = expect_all_accounted_for(12);
  EXPECT_GE(found.steps, 5u) << "those after the restart";
  EXPECT_GE(found.missing, 3u) << "those without a part of node 1";
}

TEST_F(RoundsTest, ASuccessorThatAddsItsStepsAgainLosesNone) {
  make_and_restart_node_1();
  begin(1, 0);
  for (std::uint64_t step = 0; step < 7; ++step) nodes_[1]->add(step);
  finish();
  EXPECT_EQ(expect_all_accounted_for(7), (Found{7, 0}));
}

TEST_F(RoundsTest, ASuccessorOfTheCollectorRecordsWhatIsNotInTheJournal) {
  make({0, 1000, 2000});
  for (std::uint64_t step = 0; step < 6; ++step) nodes_[0]->add(step);
  for (std::uint64_t step = 0; step < 3; ++step) nodes_[1]->add(step);  // so that some rounds are not finished
  nodes_[0]->die();
  collector_.reset();
  std::uint64_t next = 0;
  for (const wire::Record& record : recorded()) {
    if (record.has_step()) next = record.step().step() + 1;
  }
  EXPECT_LE(next, 3u);
  nodes_[0]->restart();
  collect_from(next);
  begin(0, next);
  for (std::uint64_t step = next; step < 6; ++step) nodes_[0]->add(step);
  for (std::uint64_t step = 3; step < 6; ++step) nodes_[1]->add(step);
  finish();
  EXPECT_EQ(expect_all_accounted_for(6), (Found{6, 0}));
}

TEST_F(RoundsTest, NobodyWaitsForANodeThatIsGone) {
  make({0, 1000, 2000});
  nodes_[1]->die();
  for (std::uint64_t step = 0; step < 2 * PartStore::kMost; ++step) nodes_[0]->add(step);
  nodes_.pop_back();
  finish(50'000'000);
  EXPECT_EQ(expect_all_accounted_for(2 * PartStore::kMost).steps, 0u);
}

TEST_F(RoundsTest, WhoHasAnotherKeyIsNotLetIn) {
  make({0, 1000, 2000});
  const NodeAddress door = nodes_[1]->address();
  ChannelContext context;
  Channel stranger(context, ChannelKind::kDealer,
                   {.name = {}, .curve = CurveKeys{.own = make_key_pair(), .server_key = door.public_key}});
  stranger.connect("tcp://" + door.address);
  wire::RoundStep lie;
  RoundState lost;
  lost.node = 1;
  lost.lost_by = 0;
  write(plan(1), lost, lie);
  for (int i = 0; i < 10; ++i) stranger.send(lie.SerializeAsString());
  add_on_all(0, 5);
  finish();
  EXPECT_EQ(expect_all_accounted_for(5).steps, 5u);
}

TEST_F(RoundsTest, ATriggerOverTheWholeLeavesAMarkAndEndsTheRun) {
  triggers_.global_triggers = {"solver.residual > 3: stop"};
  make({0, 1000, 2000});
  add_on_all(0, 5);
  finish();
  EXPECT_TRUE(stop_run_.load());
  std::vector<std::uint64_t> marked;
  for (const wire::Record& record : recorded()) {
    if (record.has_mark()) marked.push_back(record.mark().iteration());
  }
  EXPECT_EQ(marked, std::vector<std::uint64_t>{13}) << "the residual of step 3 is 3.5";
}

}  // namespace
}  // namespace ringside
