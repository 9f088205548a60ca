// SPDX-License-Identifier: BSD-3-Clause
// Analyses of a run, with a shell script in place of Python and the user's functions: what is counted, and where
// results are recorded if no analyzer takes them. tests/analyses tests real runs.
#include "cli/analyses/live_analysis.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <thread>

#include "analyzer/journal/journal.hpp"
#include "analyzer/pool/ring_pool.hpp"
#include "analyzer/ring/ring_writer.hpp"
#include "cli/pool/decoded_journal.hpp"
#include "common/records/record_message.hpp"
#include "tests/unit/analyzer/ring/several_variables.hpp"
#include "tests/unit/cli/analyses/fake_analyzer.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

/// A script that the tests use in place of a Python interpreter: FILE is the rest of the script. `step KIND MORE K`
/// writes a line for the step of iteration K.
constexpr const char* kInterpreter = R"sh(#!/bin/sh
exec 3>/proc/self/fd/$5 4</proc/self/fd/$6
echo '{"kind":"hello"}' >&3
step() {
  echo '{"kind":"'$1'",'"$2"'"analysis":'$4',"run":"'$run'","step":'$3',"iteration":'$3',"commit_seq":'$3',"skipped":0}' >&3
}
result() { step result '"names":["analysis.a"],"values":["3fe0000000000000"],' $1 0; }
. "$3"
)sh";
/// Reads the command to begin, which names the run. All lines that the script writes name this run.
constexpr const char* kBegin = R"sh(
echo '{"kind":"ready","analyses":[["a",1],["third",3]]}' >&3
read command <&4
run=$(echo "$command" | sed 's/.*"run":"\([0-9a-f]*\)".*/\1/')
)sh";

class LiveAnalysisTest : public ::testing::Test {
 protected:
  void SetUp() override {
    chmod(folder_.write("python", kInterpreter).c_str(), 0700);
    const Schema schema = Schema::of({{.name = "u", .dtype = DType::kF64, .shape = {4}}});
    const Catalogue catalogue = catalogue_of(schema, {});
    owner_.emplace(RingPool::create(pool_, RingShape::of(schema, catalogue), 8));
    RingWriter writer(owner_->ring(), owner_->persistence(), owner_->storage(), Durability::kProcess);
    writer.begin_run(run_with(schema), catalogue);
    const std::vector<double> payload(4, 0.5);
    for (std::uint64_t k = 1; k <= 6; ++k) {
      ASSERT_EQ(writer.begin(), CommitStatus::kOk);
      writer.copy(reinterpret_cast<const std::byte*>(payload.data()), step_of(k));
      ASSERT_EQ(writer.commit(), CommitStatus::kOk);
      writer.end_lease();
    }
    Journal::open(pool_, {}, Storage::kFile, Durability::kProcess);
  }

  /// Runs the script for a run of which the pool keeps six steps. has_ended: whether the run has already ended.
  ExitCode follow(const std::string& script, bool has_ended = true) {
    workers_ = std::make_unique<AnalysisWorkers>(std::vector<std::string>{folder_.write("my.py", kBegin + script)}, pool_,
                                                 folder_.file("python"), 0, signals_);
    if (has_ended) raise(SIGTERM);
    const LiveRun run{.pool = pool_, .socket = folder_.file("s"), .is_ours = true, .timeout_s = 60};
    LiveAnalysis live(run, {}, *workers_, signals_);
    return live.follow([&](const wire::AnalysisResults& results) { seen_.push_back(results.iteration()); });
  }
  std::uint64_t count(std::size_t analysis, const char* key) const { return workers_->to_json().at(analysis).at(key).get<std::uint64_t>(); }
  std::size_t recorded() const {
    std::size_t results = 0;
    for (const wire::Record& record : read_journal(pool_).records) results += record.has_analysis_results() ? 1u : 0u;
    return results;
  }

  testing::TemporaryFolder folder_;
  const std::string pool_ = folder_.file("a.pool");
  StopSignals signals_;
  std::optional<RingPool> owner_;
  std::unique_ptr<AnalysisWorkers> workers_;
  std::vector<std::uint64_t> seen_;
};

TEST_F(LiveAnalysisTest, ResultsThatNoAnalyzerTookAreInTheJournalAtTheEnd) {
  owner_.reset();
  EXPECT_EQ(follow("result 5\nresult 6\nread end <&4\necho '{\"kind\":\"end\",\"skipped\":[4,1]}' >&3\n"), ExitCode::kDone);
  EXPECT_EQ(seen_, (std::vector<std::uint64_t>{5, 6}));
  EXPECT_EQ(recorded(), 2u);
  EXPECT_EQ(count(0, "steps"), 2u);
  EXPECT_EQ(count(0, "skipped"), 4u);
  EXPECT_EQ(count(1, "skipped"), 1u);
}

TEST_F(LiveAnalysisTest, ResultsThatCannotBeRecordedAreAFailure) {
  EXPECT_EQ(follow("result 6\nread end <&4\necho '{\"kind\":\"end\",\"skipped\":[5,2]}' >&3\n"), ExitCode::kSystem)
      << "another process has the pool";
  EXPECT_EQ(recorded(), 0u);
}

TEST_F(LiveAnalysisTest, OfOneThatEndsEarlyTheStepsThatEachFunctionWouldHaveTakenCountAsSkipped) {
  owner_.reset();
  follow("result 1\nresult 2\nstep failed '' 3 0\nstep nothing '' 3 1\nresult 4\nexit 7\n");
  EXPECT_EQ(count(0, "steps") + count(0, "failed"), 4u);
  EXPECT_EQ(count(0, "skipped"), 2u) << "5 and 6";
  EXPECT_EQ(count(1, "steps"), 1u);
  EXPECT_EQ(count(1, "skipped"), 1u) << "6";
  EXPECT_EQ(workers_->to_json().at(0).at("ended"), "ended with exit code 7");
  EXPECT_EQ(recorded(), 3u);
}

TEST_F(LiveAnalysisTest, OfOneThatEndsAtOnceAllStepsCountAsSkipped) {
  owner_.reset();
  follow("exit 7\n");
  EXPECT_EQ(count(0, "skipped"), 6u);
  EXPECT_EQ(count(1, "skipped"), 2u);
}

TEST_F(LiveAnalysisTest, ResultsGoToTheAnalyzerAlsoIfItServesTheRunLater) {
  owner_.reset();
  std::size_t refused = 0;
  std::size_t taken = 0;
  std::jthread analyzer([&] {
    testing::FakeAnalyzer fake(folder_.file("s"));
    while (taken < 2) {  // otherwise the test's time limit ends the test
      if (!fake.receive(1000)) continue;
      if (fake.asked().has_status()) {
        wire::ControlReply reply;
        wire::Status& status = *reply.mutable_status();
        status.set_attached(true);
        status.mutable_run()->set_run_id(bytes_of(run_of(4, 7).run_id));
        status.mutable_run()->set_first_commit_seq(1);
        fake.reply(reply);
      } else if (const wire::RecordAnalysis& asked = fake.asked().record_analysis(); refused == 0) {
        ++refused;  // as the successor of a lost analyzer does
        fake.refuse("no run is being served", true);
      } else {
        taken += static_cast<std::size_t>(asked.results_size());
        fake.reply_taken(asked.request(), static_cast<std::uint32_t>(asked.results_size()));
      }
    }
    kill(getpid(), SIGTERM);  // the run is over
  });
  EXPECT_EQ(follow("result 5\nresult 6\nread end <&4\necho '{\"kind\":\"end\",\"skipped\":[4,1]}' >&3\n", false),
            ExitCode::kDone);
  analyzer.join();
  EXPECT_EQ(refused, 1u);
  EXPECT_EQ(taken, 2u);
}

TEST_F(LiveAnalysisTest, CtrlCEndsThemAndKeepsWhatTheyFound) {
  owner_.reset();
  // The script itself sends the interrupt, after its result.
  EXPECT_EQ(follow("result 5\nkill -INT $PPID\nread end <&4\nread never <&4\n"), ExitCode::kInterrupted);
  EXPECT_EQ(workers_->to_json().at(0).at("ended"), "interrupted");
  EXPECT_EQ(recorded(), 1u);
}

}  // namespace
}  // namespace ringside
