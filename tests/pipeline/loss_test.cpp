// SPDX-License-Identifier: BSD-3-Clause
// Processes that are interrupted or killed: no published step is lost, no process waits indefinitely, and no process is
// left behind.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <thread>

#include "tests/pipeline/pipeline_fixture.hpp"

namespace ringside {
namespace {

using namespace testing::names;

// A service's threads are not pinned here. If a process had several, they would wait for cores and not for each other.
void one_thread() {
  setenv("OMP_NUM_THREADS", "1", 1);
}

/// After each of these tests, every slot of the pool must also be intact.
class LossTest : public NoOrphansTest {
 protected:
  void TearDown() override {
    NoOrphansTest::TearDown();
    if (!HasFatalFailure() && std::filesystem::exists(pool_)) expect_intact();
  }
};

using EitherLossTest = testing::Either<LossTest>;
INSTANTIATE_TEST_SUITE_P(Coordination, EitherLossTest, testing::kBothCoordinations, testing::name_of_coordination);

TEST_P(EitherLossTest, CtrlCStopsCleanlyAndStillPrintsTheAccount) {
  IteratingRun ringside(run_arguments("grid:100", {kEndless}));
  expect_has(expect_exit(130, ringside.stop(SIGINT)).out, {"interrupted", "generate"});
  const Json s = summary();
  EXPECT_GT(s["steps_published"].get<std::uint64_t>(), 0u);
  expect_values(s, {{"steps_published", s["steps_committed"]}, {"iterations", s["last"]["iteration"]}});
}

TEST_P(EitherLossTest, AKilledAnalyzerEndsTheRunWithPeerLostIfSoWanted) {
  IteratingRun ringside(run_arguments("grid:100", {kEndless, "--on-analyzer-loss=stop"}));
  kill(wait_for_child(ringside.pid(), "ringside-analyzer"), SIGKILL);
  expect_has(expect_exit(4, ringside.finish()).err, {"analyzer was killed by signal 9"});
}

TEST_P(EitherLossTest, AfterAKilledAnalyzerAnotherOneTakesOverAndNothingIsMissing) {
  for (const char* policy : {"wait", "continue"}) {
    SCOPED_TRACE(policy);
    std::filesystem::remove(pool_);
    Process ringside("ringside", run_arguments("grid:100", {kEndless, "--slots=64", "--durability=process",
                                                            std::string("--on-analyzer-loss=") + policy}));
    kill_three_analyzers(ringside.pid());
    expect_exit(130, ringside.stop(SIGINT));
    const Json s = summary();
    expect_values(s, {{"analyzer_restarts", 3}, {"steps_committed", s["steps_published"]}});
    const std::uint64_t iterations = s["iterations"].get<std::uint64_t>();
    const std::uint64_t skipped = s["steps_skipped"].get<std::uint64_t>();
    EXPECT_EQ(s["steps_published"].get<std::uint64_t>() + skipped, iterations);
    if (std::string(policy) == "wait") {
      EXPECT_EQ(skipped, 0u);
      const Json kept = pool_info()["iterates"];
      ASSERT_EQ(kept.size(), 64u);
      for (std::uint64_t i = 0; i < 64; ++i) ASSERT_EQ(kept[i]["iteration"], iterations - 63 + i) << "contiguous";
    }
    expect_intact();
  }
}

TEST_F(LossTest, AnAnalyzerKilledBeforeItIsReadyIsReplaced) {
  Process ringside("ringside", run_arguments("grid:100", {"--iterations=10"}));
  kill(wait_for_child(ringside.pid(), "ringside-analyzer"), SIGKILL);
  expect_exit(0, ringside.finish());
  expect_values(summary(), {{"analyzer_restarts", 1}, {"steps_committed", 10}});
}

TEST_F(LossTest, AnAnalyzerKilledWhileItCreatesThePoolIsReplaced) {
  // The creation of 512 MB takes some time; the exact moment of the signal does not matter.
  Process ringside("ringside", run_arguments("grid:1000", {"--iterations=10", "--slots=64", "--durability=process"}));
  const pid_t analyzer = wait_for_child(ringside.pid(), "ringside-analyzer");
  while (!std::filesystem::exists(pool_) && kill(ringside.pid(), 0) == 0) std::this_thread::yield();
  kill(analyzer, SIGKILL);
  expect_exit(0, ringside.finish());
  expect_values(summary(), {{"analyzer_restarts", 1}, {"steps_committed", 10}});
}

TEST_F(LossTest, AnAnalyzerThatDiesRepeatedlyIsNotRestarted) {
  IteratingRun ringside(run_arguments("grid:100", {kEndless, "--peer-timeout=2"}));
  std::atomic<bool> done{false};
  const pid_t parent = ringside.pid();
  std::thread killer([&] {
    while (!done) {
      for (const pid_t analyzer : children_of(parent, "ringside-analyzer")) kill(analyzer, SIGKILL);
    }
  });
  const Finished ran = ringside.finish();
  done = true;
  killer.join();
  EXPECT_EQ(ran.exit_code, 4) << ran.err;
}

TEST_P(EitherLossTest, AProducerStoppedByASignalIsNoticedWithinThePeerTimeout) {
  // `ringside run` itself kills a stopped producer after three times --peer-timeout. The analyzer must report the stop
  // earlier, so it must not wait for a disk that other processes keep busy.
  IteratingRun ringside(run_arguments("grid:100", {kEndless, "--peer-timeout=3", "--durability=process"}));
  kill(wait_for_child(ringside.pid(), "ringside-producer"), SIGSTOP);
  expect_has(expect_exit(4, ringside.finish()).err, {"the producer does not answer"});
}

TEST_F(LossTest, ARunEndsEvenIfBothProcessesAreStopped) {
  IteratingRun ringside(run_arguments("grid:100", {kEndless, "--peer-timeout=0.5"}));
  for (const char* name : {"ringside-producer", "ringside-analyzer"}) {
    for (const pid_t pid : children_of(ringside.pid(), name)) kill(pid, SIGSTOP);
  }
  expect_has(expect_exit(4, ringside.finish()).err, {"the producer has been stopped by a signal"});
}

TEST_F(LossTest, AProducerThatIsStoppedBeforeItAttachesIsNoticed) {
  // In one second, the analyzer can end by itself. If it were killed while LeakSanitizer searches, the process of
  // LeakSanitizer would be left behind.
  Process ringside("ringside", run_arguments("grid:8000", {"--peer-timeout=1"}));
  kill(wait_for_child(ringside.pid(), "ringside-producer"), SIGSTOP);
  expect_exit(4, ringside.finish());
}

TEST_P(EitherLossTest, AJobThatIsSuspendedAsAWholeGoesOn) {
  // With many passes, the producer waits most of the time, and could report the analyzer as lost.
  Process ringside("ringside", run_arguments("grid:300", {"--iterations=300", "--peer-timeout=0.5", "--passes=20",
                                                          "--durability=process"}));
  ASSERT_TRUE(wait_for_commits(20));
  std::vector<pid_t> job = {ringside.pid()};
  for (const char* name : {"ringside-producer", "ringside-analyzer"}) {
    for (const pid_t pid : children_of(ringside.pid(), name)) job.push_back(pid);
  }
  ASSERT_EQ(job.size(), 3u);
  for (const pid_t pid : job) kill(pid, SIGSTOP);
  std::this_thread::sleep_for(std::chrono::seconds(2));
  for (const pid_t pid : job) kill(pid, SIGCONT);
  expect_exit(0, ringside.finish());
}

TEST_P(EitherLossTest, AStoppedProducerOfAServiceLetsTheNextOneInAndComesBackItself) {
  Service analyzer({"--socket", socket_, "--pool", pool_, "--peer-timeout=0.2", "--durability=process"});
  Process producer("ringside-producer", {"--matrix=grid:100", "--socket=" + socket_, coordination(), kEndless},
                   one_thread);
  ASSERT_TRUE(wait_for_commits(1));
  producer.signal(SIGSTOP);
  ASSERT_TRUE(analyzer.wait_for_err("event=producer_stopped"));
  const std::uint64_t before = RingReader::open(pool_).recover().newest_seq();
  producer.signal(SIGCONT);
  ASSERT_TRUE(wait_for_commits(before + 10));
  expect_exit(130, producer.stop(SIGINT));
  const Finished stopped = analyzer.stop(SIGTERM);
  EXPECT_NE(stopped.err.find("iterates=own"), std::string::npos) << "it took over its own steps: " << stopped.err;
}

TEST_P(EitherLossTest, AServiceThatIsRestartedContinuesWithTheRunningProducer) {
  const Words arguments = {"--socket", socket_, "--pool", pool_, "--log-level", "info", "--durability=process"};
  std::optional<Process> analyzer(std::in_place, "ringside-analyzer", arguments, one_thread);
  ASSERT_TRUE(analyzer->wait_for_err("event=listening"));
  Process producer("ringside-producer",
                   {"--matrix=grid:100", "--socket=" + socket_, coordination(), "--iterations=2000"}, one_thread);
  for (const int signal : {SIGTERM, SIGKILL}) {
    ASSERT_TRUE(analyzer->wait_for_err("event=attached"));
    analyzer->signal(signal);
    analyzer->finish();
    analyzer.emplace("ringside-analyzer", arguments, one_thread);
  }
  expect_exit(0, producer.finish());
  expect_exit(0, analyzer->stop(SIGTERM));
  const Json info = pool_info();
  for (std::uint64_t i = 0; i < 8; ++i) EXPECT_EQ(info["iterates"][i]["iteration"], 1993 + i);
}

TEST_F(LossTest, AfterAKilledProducerAllItPublishedIsCommitted) {
  IteratingRun ringside(run_arguments("grid:100", {kEndless}));
  kill(wait_for_child(ringside.pid(), "ringside-producer"), SIGKILL);
  expect_has(expect_exit(4, ringside.finish()).err, {"producer was killed by signal 9"});
}

TEST_F(LossTest, KillingTheSupervisorTakesBothProcessesWithIt) {
  IteratingRun ringside(run_arguments("grid:100", {kEndless}));
  ringside.signal(SIGKILL);
  EXPECT_EQ(ringside.finish().death_signal, SIGKILL);
  int ended = 0;
  for (int status = 0; waitpid(-1, &status, 0) > 0; ++ended) {  // adopted children; the test times out if they live
    EXPECT_TRUE(WIFEXITED(status)) << "it stopped cleanly, not by a signal";
  }
  EXPECT_EQ(ended, 2);
}

TEST_F(LossTest, TheServiceContinuesAfterAProducerWasKilled) {
  Service analyzer({"--socket", socket_, "--pool", pool_});
  const Words producer = {"--matrix=grid:100", "--socket=" + socket_, "--overwrite"};
  {
    Words endless = producer;
    endless.push_back(kEndless);
    Process first("ringside-producer", endless);
    ASSERT_TRUE(analyzer.wait_for_err("event=attached"));
    first.stop(SIGKILL);
  }
  ASSERT_TRUE(analyzer.wait_for_err("event=producer_lost"));
  expect_exit(0, run("ringside-producer", producer));
  expect_exit(0, analyzer.stop(SIGTERM));
  EXPECT_EQ(pool_info()["iterates"].back()["iteration"], 100);
}

TEST_F(LossTest, AnInterruptWhileAMatrixLoadsEndsAtOnce) {
  // Making a large grid takes longer than the signal needs to arrive. As no producer is attached, no pool may be made.
  Process ringside("ringside", run_arguments("grid:8000"));
  wait_for_child(ringside.pid(), "ringside-producer");
  expect_exit(130, ringside.stop(SIGINT));
  EXPECT_FALSE(std::filesystem::exists(pool_));
}

TEST_F(LossTest, AHungAnalyzerIsNoticedWithinThePeerTimeout) {
  IteratingRun ringside(run_arguments("grid:100", {kEndless, "--peer-timeout=1"}));
  kill(wait_for_child(ringside.pid(), "ringside-analyzer"), SIGSTOP);
  expect_has(expect_exit(4, ringside.finish()).err, {"made no progress for 1 s", "the analyzer does not answer"});
}

TEST_F(LossTest, AnAnalyzerThatIsTheBottleneckStopsWhenAsked) {
  Service analyzer({"--socket", socket_, "--pool", pool_, "--passes=100"});
  Process producer("ringside-producer",
                   {"--matrix=grid:300", "--socket=" + socket_, kEndless, "--buffers=16", "--on-analyzer-loss=stop"});
  ASSERT_TRUE(analyzer.wait_for_err("event=attached"));
  expect_exit(0, analyzer.stop(SIGTERM));
  // A run in which published steps were never committed must not count as a success.
  expect_refusal(4, producer.finish(), {"asked to stop", pool_});
}

TEST_P(EitherLossTest, StoppingTheServiceCommitsWhatWasPublishedAndTellsTheProducer) {
  Service analyzer({"--socket", socket_, "--pool", pool_});
  Process producer("ringside-producer",
                   {"--matrix=grid:100", "--socket=" + socket_, coordination(), kEndless, "--on-analyzer-loss=stop"});
  ASSERT_TRUE(analyzer.wait_for_err("event=attached"));
  expect_exit(0, analyzer.stop(SIGTERM));
  expect_refusal(4, producer.finish(), {"asked to stop"});
}

}  // namespace
}  // namespace ringside
