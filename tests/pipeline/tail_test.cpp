// SPDX-License-Identifier: BSD-3-Clause
// Followers of real runs: each step is shown once, whichever process dies; the past of an ended run is shown; a run
// ends on request; and no follower can delay a run.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <memory>

#include "tests/pipeline/pipeline_fixture.hpp"
#include "tests/unit/free_ports.hpp"

namespace ringside {
namespace {

using namespace testing::names;

class TailTest : public PipelineTest {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(runtime_);
    chmod(runtime_.c_str(), 0700);
  }

  /// A `ringside run` whose socket is in this test's folder.
  std::unique_ptr<Process> start_run(const std::string& matrix, const Words& more) const {
    return std::make_unique<Process>("ringside", run_arguments(matrix, more),
                                     [this] { setenv("XDG_RUNTIME_DIR", runtime_.c_str(), 1); });
  }

  /// Waits until the run's socket exists, and returns its path.
  std::string socket_of_run() const {
    EXPECT_TRUE(wait_for_commits(1));
    for (const auto& entry : std::filesystem::directory_iterator(runtime_)) {
      return (entry.path() / "analyzer.socket").string();
    }
    ADD_FAILURE() << "no folder of a run";
    return {};
  }

  /// Expects that the records are numbered 1, 2, 3 ..., and that there is one for each of `steps` steps, in order.
  static void expect_each_step_once(const std::vector<Json>& records, std::uint64_t steps) {
    std::uint64_t seq = 1;
    std::uint64_t next = 0;
    for (const Json& record : records) {
      ASSERT_EQ(record["seq"], seq++);
      if (record["event"] == "step") {
        ASSERT_EQ(record["step"], next++);
      }
    }
    EXPECT_EQ(next, steps);
  }

  std::string runtime_ = folder_.file("r");
};

TEST_F(TailTest, ShowsEachStepOnceAlthoughTheAnalyzerIsKilled) {
  // The steps that the recorder had not yet taken when it was killed are in the ring: these are the steps of the last
  // quarter of a second.
  const auto running = start_run("grid:100", {kEndless, "--slots=256", "--every=100", "--durability=process"});
  const std::string socket = socket_of_run();
  Process tail("ringside", {"tail", "--socket=" + socket, "--json"});
  ASSERT_TRUE(tail.wait_for_out("\"run_started\""));  // records of the analyzer that will be killed have arrived
  const pid_t first = wait_for_child(running->pid(), "ringside-analyzer");
  kill(first, SIGKILL);
  ASSERT_TRUE(tail.wait_for_err("another analyzer continues"));
  // The producer must be attached to the new analyzer: if a run is stopped while its producer waits for an analyzer,
  // the run ends without an analyzer.
  ASSERT_TRUE(tail.wait_for_out("\"run_started\"", 2));
  expect_exit(130, running->stop(SIGINT));
  const std::vector<Json> records = json_lines(expect_exit(0, tail.finish()).out);
  EXPECT_EQ(records.back()["event"], "run_ended");
  expect_each_step_once(records, summary()["steps_committed"].get<std::uint64_t>());
  EXPECT_EQ(std::count_if(records.begin(), records.end(),
                          [](const Json& record) { return record["event"] == "analyzer_started"; }),
            2);
  const std::vector<Json> kept = json_lines(run("ringside", {"tail", "--pool", pool_, "--json"}).out);
  EXPECT_EQ(kept, records) << "what was seen live is what is kept";
}

TEST_F(TailTest, ShowsThePastOfARunThatHasEnded) {
  ASSERT_EQ(run_it("grid:50", {"--iterations=300"}).exit_code, 0);
  expect_each_step_once(json_lines(expect_done({"tail", "--pool", pool_, "--json"}).out), 300);
  const std::vector<Json> late = json_lines(run("ringside", {"tail", "--pool", pool_, "--json", "--since=300"}).out);
  EXPECT_EQ(late.front()["seq"], 300);
  EXPECT_EQ(late.size(), 4u) << "299 is the step before, 303 the end";
  const Finished table = run("ringside", {"tail", "--pool", pool_, "--since=iteration=300"});
  expect_has(table.out, {"ended: finished"});
  EXPECT_EQ(table.out.find('\x1b'), std::string::npos) << "no colours in a pipe";
}

TEST_F(TailTest, WithoutAJournalOrAnAnalyzerItSaysSoInOneLine) {
  expect_refusal(2, run("ringside", {"tail", "--pool", pool_}), {pool_});
  const Finished nobody = expect_exit(4, run("ringside", {"stop", "--socket", folder_.file("nobody")}));
  expect_one_line(nobody.err, {"nobody", "does not answer"});
  const Finished unheard = expect_exit(4, run("ringside", {"tail", "--socket", folder_.file("nobody")}));
  expect_has(unheard.err, {"nothing was heard", "--telemetry on"});
}

TEST_F(TailTest, OptionsThatWouldDoNothingAreRefused) {
  const std::vector<Words> wrong = {
      {"--keys=k"}, {"--keys=k", "--pool=p"}, {"--keys=k", "--socket=s"}, {"--since=5", "--once"}};
  for (const Words& arguments : wrong) {
    const std::string option = arguments[0].substr(0, arguments[0].find('='));
    expect_refusal(2, run("ringside", joined({"tail"}, arguments)), {option, "expected"});
  }
}

TEST_F(TailTest, SurvivesTheAnalyzersRestartWhereItsSocketIsNamedRelatively) {
  const auto in_folder = [this] { std::filesystem::current_path(folder_.file("")); };
  const Words service = {"--socket", "a.socket", "--pool", pool_, "--log-level", "info"};
  auto analyzer = std::make_unique<Process>("ringside-analyzer", service, in_folder);
  ASSERT_TRUE(analyzer->wait_for_err("event=listening"));
  expect_exit(0, run("ringside-producer", {"--matrix=grid:50", "--socket=a.socket", "--iterations=20"}, in_folder));
  Process tail("ringside", {"tail", "--socket=a.socket", "--json"}, [&] {
    in_folder();
    dup2(STDERR_FILENO, STDOUT_FILENO);  // the test also waits for records
  });
  ASSERT_TRUE(tail.wait_for_err("run_ended"));
  analyzer->stop(SIGKILL);
  ASSERT_TRUE(tail.wait_for_err("is silent"));
  analyzer = std::make_unique<Process>("ringside-analyzer", service, in_folder);
  EXPECT_TRUE(tail.wait_for_err("another analyzer continues"));
  expect_exit(130, tail.stop(SIGINT));
}

TEST_F(TailTest, ShowsAJournalThatEndsWithinARecordAndSaysSo) {
  ASSERT_EQ(run_it("grid:50", {"--iterations=30"}).exit_code, 0);
  const std::string log = pool_ + ".journal-0";
  std::filesystem::resize_file(log, std::filesystem::file_size(log) - 3);
  const Finished past = expect_done({"tail", "--pool", pool_, "--json"});
  expect_one_line(past.err, {log, "ends within a record at byte"});
  expect_each_step_once(json_lines(past.out), 30);
  for (const char* command : {"info", "replay"}) {
    expect_has(expect_done({command, pool_}).out, {"ends within a record at byte"});
  }
}

TEST_F(TailTest, OnceShowsTheStatusOfARunAndStopEndsItWithoutReplacingItsAnalyzer) {
  const auto running = start_run("grid:50", {kEndless});
  const std::string socket = socket_of_run();
  const Finished once = expect_done({"tail", "--socket", socket, "--once"});
  expect_has(once.out, {"is being served: pagerank of grid:50"});
  const Finished as_json = run("ringside", {"tail", "--socket", socket, "--once", "--json"});
  EXPECT_TRUE(Json::parse(as_json.out)["attached"].get<bool>()) << as_json.out;
  expect_done({"stop", "--socket", socket});
  const Finished ran = expect_exit(130, running->finish());
  expect_lacks(ran.err, {"takes over"});
  expect_intact();
  const std::vector<Json> records = json_lines(run("ringside", {"tail", "--pool", pool_, "--json"}).out);
  EXPECT_EQ(records.back()["how"], "stop_requested");
}

TEST_F(TailTest, OfSeveralRunsEachSocketIsNamedWithItsProblemAndPool) {
  const auto first = start_run("grid:50", {kEndless, "--durability=process"});
  const std::string socket = socket_of_run();
  const std::string other_pool = folder_.file("other.pool");
  Process second("ringside",
                 {"run", "--matrix=grid:40", "--pool=" + other_pool, kEndless, "--durability=process", "--quiet"},
                 [this] { setenv("XDG_RUNTIME_DIR", runtime_.c_str(), 1); });
  ASSERT_TRUE(wait_for_commits(1, other_pool));
  for (const char* subcommand : {"tail", "serve", "stop"}) {
    Process asked("ringside", {subcommand}, [this] { setenv("XDG_RUNTIME_DIR", runtime_.c_str(), 1); });
    expect_has(expect_exit(2, asked.finish()).err, {socket + " (pagerank of grid:50", "pool " + pool_ + ")",
                                                    "(pagerank of grid:40", "pool " + other_pool + ")"});
  }
  first->signal(SIGINT);
  second.signal(SIGINT);
  EXPECT_EQ(first->finish().exit_code, 130);
  EXPECT_EQ(second.finish().exit_code, 130);
}

TEST_F(TailTest, AServiceTakesTheNextProducerAfterAStop) {
  Service analyzer({"--socket", socket_, "--pool", pool_});
  expect_refusal(2, run("ringside", {"stop", "--socket", socket_}), {"serves no run"});
  Process first("ringside-producer", {"--matrix=grid:50", "--socket=" + socket_, kEndless});
  ASSERT_TRUE(analyzer.wait_for_err("event=attached"));
  EXPECT_TRUE(wait_for_commits(10));
  expect_done({"stop", "--socket", socket_});
  expect_refusal(130, first.finish(), {"asked to stop", pool_});
  expect_exit(0,
              run("ringside-producer", {"--matrix=grid:50", "--socket=" + socket_, "--overwrite", "--iterations=20"}));
  expect_exit(0, analyzer.stop(SIGTERM));
  expect_intact();
}

TEST_F(TailTest, AStoppedSubscriberDoesNotDelayTheRunAndReceivesEveryRecord) {
  const auto running = start_run("grid:50", {kEndless, "--durability=process"});
  Process tail("ringside", {"tail", "--socket", socket_of_run(), "--json"});
  ASSERT_TRUE(tail.wait_for_out("\"run_started\""));
  tail.signal(SIGSTOP);
  // 20,000 records cannot all be in the connection's buffers. At its end, the analyzer waits a tenth of a second until
  // the buffered records are sent.
  ASSERT_TRUE(wait_for_commits(20000));
  expect_exit(130, running->stop(SIGINT));
  const std::vector<Json> past = json_lines(run("ringside", {"tail", "--pool", pool_, "--json"}).out);
  expect_each_step_once(past, summary()["steps_committed"].get<std::uint64_t>());
  EXPECT_EQ(json_lines(expect_exit(0, tail.stop(SIGCONT)).out), past);
}

TEST_F(TailTest, OverTcpOnlyAKnownClientMayFollow) {
  const std::string keys = folder_.file("keys");
  const std::string tcp = "127.0.0.1:" + std::to_string(testing::free_ports());
  const Words service = {"--socket",         socket_, "--pool",      pool_, "--telemetry-tcp", tcp,
                         "--telemetry-keys", keys,    "--log-level", "info"};
  expect_done({"keygen", keys});
  expect_refusal(2, run("ringside-analyzer", service), {"clients.allowed", "keygen"});
  expect_done({"keygen", keys, "--client", "desk"});
  EXPECT_EQ(run("ringside", {"keygen", keys, "--client", "desk"}).exit_code, 2);
  Process analyzer("ringside-analyzer", service);
  ASSERT_TRUE(analyzer.wait_for_err("event=listening")) << analyzer.finish().err;
  expect_done({"tail", "--tcp", tcp, "--keys", keys + "/desk", "--once"});
  expect_exit(0, analyzer.stop(SIGTERM));
}

}  // namespace
}  // namespace ringside
