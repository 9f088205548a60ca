// SPDX-License-Identifier: BSD-3-Clause
// The example program, run as a user runs it, with an analyzer that dies.
#include "common/handoff/handoff_reader.hpp"
#include "tests/pipeline/pipeline_fixture.hpp"

namespace ringside {
namespace {

using namespace testing::names;

TEST_F(PipelineTest, TheExampleProgramSaysThatItsAnalyzerDied) {
  std::optional<Listener> listener(std::in_place, socket_);
  Process solver("publish_from_your_solver", {socket_, "--peer-timeout", "0.5"});
  {
    std::optional<Peer> peer = listener->accept(60'000);
    ASSERT_TRUE(peer.has_value());
    HandoffReader reader(std::move(*peer), socket_, 60'000);
    reader.accept();
    PublishedStep step;
    ASSERT_EQ(reader.next(step, false, nullptr), NextStatus::kStep);
    reader.release();
    listener.reset();
  }  // the analyzer dies during the run, and is not replaced
  const Finished ended = solver.finish();
  EXPECT_EQ(ended.death_signal, 0);
  EXPECT_EQ(ended.exit_code, static_cast<int>(ExitCode::kPeerLost)) << ended.err;
  expect_has(ended.err, {"the analyzer was lost after"});
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
}

TEST_F(PipelineTest, TheExampleProgramOverwritesAnEarlierRunOnlyWhenThatIsAskedFor) {
  const auto solve = [&](const Words& more) {
    Process analyzer("ringside-analyzer",
                     {"--socket", socket_, "--pool", pool_, "--once", "--log-level=info", "--durability=process"});
    EXPECT_TRUE(analyzer.wait_for_err("event=listening"));
    return run("publish_from_your_solver", joined({socket_}, more));
  };
  EXPECT_EQ(solve({}).exit_code, 0);
  expect_has(expect_exit(2, solve({})).err, {"--overwrite"});
  expect_exit(0, solve({"--overwrite"}));
}

TEST_F(PipelineTest, TheExampleProgramSaysWhatItAccepts) {
  for (const Words& arguments :
       {Words{"--unknown"}, {"s", "--peer-timeout"}, {"s", "--peer-timeout", "x"}, {"s", "more"}}) {
    expect_has(expect_exit(2, run("publish_from_your_solver", arguments)).err, {"usage: "});
  }
}

}  // namespace
}  // namespace ringside
