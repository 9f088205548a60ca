// SPDX-License-Identifier: BSD-3-Clause
// Runs whose solver is a program of the user: what is kept and accounted for, Ctrl-C, resuming, and an analyzer that
// dies.
#include <atomic>
#include <filesystem>
#include <thread>

#include "tests/pipeline/program/program_fixture.hpp"

namespace ringside {
namespace {

using namespace testing::names;
using testing::ProgramTest;
using testing::UpRun;

using EitherProgramTest = testing::Either<ProgramTest>;
INSTANTIATE_TEST_SUITE_P(Coordination, EitherProgramTest, testing::kBothCoordinations, testing::name_of_coordination);

std::string first_line_of(const std::string& path) {
  const std::string text = content_of(path);
  return text.substr(0, text.find('\n'));
}

/// x_k of the scripted program.
std::vector<double> solve(int iterations) {
  std::vector<double> x(1000, 0.0);
  for (int k = 0; k < iterations; ++k) {
    for (std::size_t row = 0; row < x.size(); ++row) x[row] = x[row] / 2 + static_cast<double>(row);
  }
  return x;
}

TEST_P(EitherProgramTest, EveryStepIsKeptAndAccountedFor) {
  const Finished ran = expect_done(scripted({"attach", "publish", "30", "detach"}, {"--slots=5", "--buffers=3"}));
  EXPECT_EQ(lines(ran), "");
  EXPECT_EQ(ran.out.rfind("ringside run: done\n  program    " + testing::kScripted, 0), 0u) << ran.out;
  expect_has(ran.out, {"\n  problem    scripted of a problem: x f64[1000]\n"});
  EXPECT_NE(ran.out.find("\n  solved     30 iterations\n"), std::string::npos) << "it publishes no residuals:\n"
                                                                               << ran.out;
  expect_lacks(ran.out, {"loading"});
  const Json s = summary();
  expect_values(s, {{"steps_published", 30}, {"steps_committed", 30}, {"steps_skipped", 0}, {"iterations", 30}});
  double columns_s = 0;
  for (const char* column : {"transfer_s", "commit_s", "analyze_s", "record_s", "analyzer_idle_s"}) {
    EXPECT_GT(s[column].get<double>(), 0) << column;
    columns_s += s[column].get<double>();
  }
  EXPECT_NEAR(columns_s, s["total_s"].get<double>(), 1e-8) << "each nanosecond of the analyzer is in one column";
  expect_values(s, {{"resumed_from", 0},
                    {"bytes_transferred", 30 * 8000},
                    {"coordination", coordination_},
                    {"buffers", 3},
                    {"solver", "scripted"},
                    {"program", testing::kScripted + " attach publish 30 detach"}});
  EXPECT_TRUE(s["converged"].is_null());
  EXPECT_GT(s["total_s"].get<double>(), 0);
  EXPECT_LE(s["generate_s"].get<double>() + s["producer_idle_s"].get<double>(), s["total_s"].get<double>());
  expect_intact();
  EXPECT_EQ(exported(30), solve(30));
  EXPECT_EQ(exported(26), solve(26));
}

TEST_F(ProgramTest, ABuiltInSolverHasNoProgramInItsSummary) {
  ASSERT_EQ(run_it("grid:20", {"--iterations=2"}).exit_code, 0);
  EXPECT_TRUE(summary().at("program").is_null());
}

TEST_P(EitherProgramTest, CtrlCReachesAProgramThatHandlesItAndTheRunStopsCleanly) {
  UpRun ringside(scripted({"handle", "attach", "publish", "5", "say", "up", "await", "publish", "1", "detach"}));
  const Finished ran = expect_exit(130, ringside.stop(SIGINT));
  EXPECT_EQ(lines(ran), "");
  expect_has(ran.out, {"ringside run: interrupted, stopped cleanly\n"});
  EXPECT_EQ(summary()["steps_committed"], 6);
}

TEST_P(EitherProgramTest, CtrlCEndsAProgramThatDoesNotHandleItAndEveryPublishedStepIsCommitted) {
  UpRun ringside(scripted({"attach", "publish", "5", "say", "up", "pause"}));
  const Finished ran = expect_exit(130, ringside.stop(SIGINT));
  EXPECT_EQ(lines(ran), prefix_ +
                            ": process N died of signal 2 (Interrupt) after iteration 5; 5 steps are committed; "
                            "ringside run --resume continues\n");
  expect_has(ran.out, {"ringside run: interrupted; the account so far\n"});
  EXPECT_EQ(summary()["steps_committed"], 5);
}

TEST_F(ProgramTest, ABatchSystemsAnnouncementIsAMatterOfAProgramThatHandlesIt) {
  for (const bool to_all : {false, true}) {
    UpRun ringside(scripted({"handle", "attach", "publish", "5", "say", "up", "await", "publish", "1", "detach"},
                            {"--overwrite"}));
    if (to_all) kill(wait_for_child(ringside.pid(), "ringside-analyzer"), SIGUSR1);
    const Finished ran = expect_exit(130, ringside.stop(SIGUSR1));
    EXPECT_EQ(lines(ran),
              prefix_ +
                  " stopped after iteration 6, after signal 10 (User defined signal 1); 6 steps are committed; "
                  "ringside run --resume continues\n");
    EXPECT_EQ(summary()["steps_committed"], 6);
  }
}

TEST_F(ProgramTest, ABatchSystemsAnnouncementStopsARunWhoseProgramDoesNotHandleIt) {
  for (const int number : {SIGUSR1, SIGUSR2, SIGXCPU}) {
    UpRun ringside(scripted({"attach", "publish", "5", "say", "up", "pause"}, {"--overwrite"}));
    ringside.signal(number);
    expect_has(expect_exit(130, ringside.finish()).out, {"the account so far"});
    EXPECT_EQ(summary()["steps_committed"], 5);
  }
}

TEST_F(ProgramTest, ARunBelowNohupOutlivesItsTerminal) {
  struct sigaction before {};
  ASSERT_EQ(sigaction(SIGHUP, nullptr, &before), 0);
  std::signal(SIGHUP, SIG_IGN);  // as nohup does; children inherit this setting
  const std::string go = fifo("go");
  Process ringside("ringside", scripted({"attach", "publish", "5", "say", "up", "read", go, "publish", "1", "detach"}));
  ASSERT_EQ(sigaction(SIGHUP, &before, nullptr), 0);
  ASSERT_TRUE(ringside.wait_for_out("up\n"));
  for (const char* name : {"scripted_program", "ringside-analyzer"}) kill(wait_for_child(ringside.pid(), name), SIGHUP);
  ringside.signal(SIGHUP);
  std::ofstream(go) << '\n';
  const Finished ran = expect_exit(0, ringside.finish());
  EXPECT_EQ(lines(ran), "");
  EXPECT_EQ(summary()["steps_committed"], 6);
}

TEST_F(ProgramTest, AThirdSignalKillsAProgramThatIgnoresTheOthers) {
  UpRun ringside(scripted({"ignore", "attach", "publish", "2", "say", "up", "pause"}));
  for (const int number : {SIGINT, SIGHUP, SIGTERM}) ringside.signal(number);  // three signals, so that none is merged
  expect_exit(130, ringside.finish());
}

TEST_F(ProgramTest, CtrlCBeforeTheProgramHasAttachedEndsTheRun) {
  UpRun ringside(with({"sh", "-c", "echo up; exec tail -f /dev/null"}));
  const Finished ran = expect_exit(130, ringside.stop(SIGINT));
  EXPECT_EQ(lines(ran).rfind("ringside: sh died of signal 2 (Interrupt) before it attached; expected it to attach with "
                             "RINGSIDE_SOCKET=/",
                             0),
            0u)
      << ran.err;
  EXPECT_EQ(ran.out, "up\n");
  EXPECT_FALSE(std::filesystem::exists(pool_));
  EXPECT_FALSE(std::filesystem::exists(summary_));
}

TEST_P(EitherProgramTest, AKilledProgramResumesToTheSameBits) {
  UpRun ringside(scripted({"attach", "publish", "10", "say", "up", "pause"}));
  kill(wait_for_child(ringside.pid(), "scripted_program"), SIGKILL);
  expect_end(ringside, 4,
             prefix_ +
                 ": process N died of signal 9 (Killed) after iteration 10; 10 steps are committed; ringside run "
                 "--resume continues\n");
  expect_run(scripted({"attach", "publish", "10", "detach"}, {"--resume"}), 0, "");
  expect_values(summary(), {{"resumed_from", 10}, {"iterations", 20}, {"steps_committed", 10}});
  for (const int k : {13, 20}) EXPECT_EQ(exported(static_cast<std::uint64_t>(k)), solve(k)) << k;
  expect_intact();
}

TEST_F(ProgramTest, ARunThatWasDoneHasNothingLeftToDo) {
  expect_run(scripted({"attach", "publish", "3", "detach"}), 0, "");
  const Finished ran = expect_done(scripted({"attach", "detach"}, {"--resume"}));
  expect_has(ran.out, {"already complete: nothing was left to do"});
  EXPECT_EQ(ran.out.find("total"), std::string::npos) << "a table of zeros: " << ran.out;
}

TEST_F(ProgramTest, TheRefusalOfAPoolNamesTheSolverIfTheProblemHasNoName) {
  expect_run(scripted({"attach", "publish", "3", "detach"}), 0, "");
  const Finished ran = expect_exit(2, run("ringside", scripted({"attach", "detach"})));
  expect_has(ran.err, {"of another run ("});
  expect_lacks(ran.err, {"of another run (,"});
}

TEST_F(ProgramTest, ResumingFromNothingIsNoted) {
  expect_run(scripted({"attach", "publish", "3", "detach"}, {"--resume"}), 0,
             "ringside: nothing to continue from: the run begins with iteration 1\n");
}

TEST_P(EitherProgramTest, AfterAKilledAnalyzerAnotherOneTakesOverAndNothingIsMissing) {
  const std::string go = fifo("go");
  UpRun ringside(
      scripted({"attach", "publish", "10", "say", "up", "read", go, "publish", "10", "detach"}, {"--slots=32"}));
  const pid_t first = wait_for_child(ringside.pid(), "ringside-analyzer");
  kill(first, SIGKILL);
  wait_for_child(ringside.pid(), "ringside-analyzer", first);
  std::ofstream(go) << '\n';
  expect_end(ringside, 0, "ringside: the analyzer was killed by signal 9 (Killed); another one takes over\n");
  const Json s = summary();
  expect_values(s, {{"analyzer_restarts", 1}, {"steps_committed", 20}, {"iterations", 20}});
  EXPECT_EQ(pool_info()["iterates"].size(), 20u);
  EXPECT_EQ(exported(20), solve(20));
}

TEST_F(ProgramTest, AnAnalyzerThatIsStoppedBeforeTheProgramComesBackIsReplaced) {
  const std::string go = fifo("go");
  const std::string at = folder_.file("at");
  UpRun ringside(scripted({"attach", "publish", "10", "run", "echo $RINGSIDE_SOCKET >" + at, "say", "up", "read", go,
                           "publish", "10", "detach"}));
  const std::string socket = first_line_of(at);
  pid_t analyzer = wait_for_child(ringside.pid(), "ringside-analyzer");
  for (int stopped = 0; stopped < 2; ++stopped) {
    kill(analyzer, SIGTERM);
    analyzer = wait_for_child(ringside.pid(), "ringside-analyzer", analyzer);
    while (!std::filesystem::exists(socket) && kill(ringside.pid(), 0) == 0)
      std::this_thread::yield();  // until the new analyzer has its socket, and handles signals
  }
  std::ofstream(go) << '\n';
  const std::string stopped = "ringside: the analyzer ended with exit code 0; another one takes over\n";
  expect_end(ringside, 0, stopped + stopped);
  expect_values(summary(), {{"analyzer_restarts", 2}, {"steps_committed", 20}});
  EXPECT_EQ(exported(20), solve(20));
}

TEST_F(ProgramTest, OfAnalyzersThatAreStoppedAgainAndAgainTheRunsEndSpeaksNotOfTheProgramsSignal) {
  UpRun ringside(scripted({"attach", "publish", "10", "say", "up", "pause"}));
  ASSERT_TRUE(ringside.wait_for_err("iteration 10"));
  std::atomic<bool> done{false};
  std::thread stopper([&, parent = ringside.pid()] {
    while (!done) {
      for (const pid_t analyzer : children_of(parent, "ringside-analyzer")) kill(analyzer, SIGTERM);
    }
  });
  const Finished ran = ringside.finish();
  done = true;
  stopper.join();
  EXPECT_EQ(ran.exit_code, 4) << ran.err;
  EXPECT_TRUE(std::regex_search(
      ran.err, std::regex("\nringside: the analyzer was (stopped by another process|killed by signal 15 "
                          "\\(Terminated\\))\n")))
      << ran.err;
  expect_lacks(ran.err, {"died of signal 2"});
}

TEST_F(ProgramTest, TheAnalyzerThatTakesOverAdmitsOnlyTheProcessOfTheRun) {
  const std::string go = fifo("go");
  const std::string other = testing::kScripted + " problem other attach publish 1 detach";
  UpRun ringside(scripted({"attach", "publish", "10", "say", "up", "read", go, "run", other, "publish", "1", "detach"},
                          {"--overwrite"}));
  const pid_t first = wait_for_child(ringside.pid(), "ringside-analyzer");
  kill(first, SIGKILL);
  wait_for_child(ringside.pid(), "ringside-analyzer", first);
  std::ofstream(go) << '\n';
  const Finished ran = expect_exit(0, ringside.finish());
  expect_has(ran.out, {"status 2\n"});
  expect_has(lines(ran), {"process N cannot attach: process N publishes this run"});
  EXPECT_EQ(exported(11), solve(11));
}

TEST_F(ProgramTest, WithoutAnotherAnalyzerTheRunEndsWithPeerLost) {
  UpRun ringside(scripted({"attach", "publish", "1", "say", "up", "pause"}, {"--on-analyzer-loss=stop"}));
  kill(wait_for_child(ringside.pid(), "ringside-analyzer"), SIGKILL);
  expect_end(ringside, 4, "ringside: the analyzer was killed by signal 9 (Killed)\n");
}

TEST_F(ProgramTest, StopEndsTheRunAndTheProgramIsTold) {
  const std::string at = folder_.file("at");
  UpRun ringside(scripted(
      {"attach", "publish", "2", "run", "echo $RINGSIDE_SOCKET >" + at, "say", "up", "publish", "1000000000000"}));
  const std::string socket = first_line_of(at);
  expect_done({"stop", "--socket", socket});
  const Finished ran = expect_exit(130, ringside.finish());
  for (const char* who : {"scripted_program", "ringside"}) {
    EXPECT_NE(lines(ran).find(std::string(who) + ": the run was asked to stop (`ringside stop`); the "),
              std::string::npos)
        << ran.err;
  }
  expect_has(ran.out, {"interrupted, stopped cleanly"});
  EXPECT_EQ(summary()["iterations"], summary()["steps_committed"]);
}

TEST_F(ProgramTest, TheExampleProgramFindsItsAnalyzer) {
  const Finished ran = expect_done(with({std::string(RINGSIDE_BIN_DIR) + "/publish_from_your_solver"}));
  EXPECT_EQ(lines(ran), "");
  expect_has(ran.out, {"200 iterates published"});
  expect_values(summary(), {{"steps_committed", 200}, {"matrix", "rod of 100,000 points"}});
  EXPECT_GT(summary()["residual_l1"].get<double>(), 0);
  EXPECT_GT(summary()["generate_s"].get<double>(), 0);
}

TEST_F(ProgramTest, ARunOfSeveralFieldsIsShownByTheirNames) {
  expect_done(scripted({"variables", "several", "attach", "publish", "30", "detach"}));
  const Json last = summary()["last"];
  EXPECT_EQ(last["results"]["u.mean"], 15.0);
  EXPECT_EQ(last["results"]["n.max"], 30'000'000'000'000);
  EXPECT_EQ(last["results"]["n.change_linf"], 1'000'000'000'000);
  EXPECT_EQ(last["results"]["solver.restarts"], 3);
  EXPECT_EQ(last["mean"], 15.0) << "the first field";
  EXPECT_FALSE(last["results"].contains("r.mean")) << "a state";
  EXPECT_TRUE(summary()["residual_l1"].is_null()) << "the program publishes none";

  const std::vector<Json> steps = recorded_steps();
  ASSERT_EQ(steps.size(), 30u);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Json& results = steps[i]["results"];
    EXPECT_EQ(results["u.mean"], static_cast<double>(i + 1) / 2);
    EXPECT_EQ(results["n.sum"], 10'000'000'000'000 * static_cast<std::int64_t>(i + 1));
    EXPECT_EQ(results["solver.energy"], 1.0 / static_cast<double>(i + 1));
    EXPECT_EQ(results["u.change_l1"].is_null(), i == 0);
    EXPECT_EQ(steps[i]["reductions"]["mean"], results["u.mean"]);
    EXPECT_TRUE(steps[i]["residual_l1"].is_null());
  }
  const std::string table = run("ringside", {"tail", "--pool", pool_}).out;
  expect_has(table, {"r f64[1000] state, u f32[20,50] m s-1, n i64[10]", " energy ", " 3.33e-02 "});
  expect_done({"replay", pool_});
  expect_done({"report", pool_, "-o", folder_.file("report.html")});
}

TEST_F(ProgramTest, ARunOfStatesShowsItsScalarsAndNoReductions) {
  expect_done(scripted({"variables", "states", "attach", "publish", "5", "detach"}));
  EXPECT_TRUE(summary()["last"]["mean"].is_null());
  EXPECT_EQ(summary()["last"]["results"], (Json{{"solver.energy", 0.2}, {"solver.restarts", 0}}));
  const std::vector<Json> steps = recorded_steps();
  ASSERT_EQ(steps.size(), 5u);
  EXPECT_TRUE(steps[4]["reductions"].is_null());
  EXPECT_EQ(steps[4]["results"]["solver.energy"], 0.2);
  expect_lacks(run("ringside", {"tail", "--pool", pool_}).out, {"change"});
}

}  // namespace
}  // namespace ringside
