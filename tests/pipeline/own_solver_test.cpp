// SPDX-License-Identifier: BSD-3-Clause
// The example program, run as a user would, with an analyzer that dies.
#include "common/handoff/handoff_reader.hpp"
#include "tests/pipeline/pipeline_fixture.hpp"

namespace ringside {
namespace {

using testing::Finished;
using testing::PipelineTest;

TEST_F(PipelineTest, TheExampleProgramSaysThatItsAnalyzerDied) {
  const std::string socket = folder_.file("s");
  std::optional<Listener> listener(std::in_place, socket);
  testing::Process solver("publish_from_your_solver", {socket, "--peer-timeout", "0.5"});
  {
    std::optional<Peer> peer = listener->accept(60'000);
    ASSERT_TRUE(peer.has_value());
    HandoffReader reader(std::move(*peer), socket, 60'000);
    reader.accept();
    PublishedStep step;
    ASSERT_EQ(reader.next(step, false, nullptr), NextStatus::kStep);
    reader.release();
    listener.reset();
  }  // killed during the run, with no successor
  const Finished ended = solver.finish();
  EXPECT_EQ(ended.death_signal, 0);
  EXPECT_EQ(ended.exit_code, static_cast<int>(ExitCode::kPeerLost)) << ended.err;
  testing::expect_has(ended.err, {"the analyzer was lost after"});
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
}

TEST_F(PipelineTest, TheExampleProgramOverwritesAnEarlierRunOnlyWhenThatIsAskedFor) {
  const auto solve = [&](const std::vector<std::string>& more) {
    const std::string socket = folder_.file("s");
    testing::Process analyzer("ringside-analyzer", {"--socket", socket, "--pool", pool_, "--once", "--log-level=info",
                                                    "--durability=process"});
    EXPECT_TRUE(analyzer.wait_for_err("event=listening"));
    std::vector<std::string> arguments = {socket};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return testing::run("publish_from_your_solver", arguments);
  };
  EXPECT_EQ(solve({}).exit_code, 0);
  const Finished refused = expect_exit(2, solve({}));
  testing::expect_has(refused.err, {"--overwrite"});
  expect_exit(0, solve({"--overwrite"}));
}

TEST_F(PipelineTest, TheExampleProgramSaysWhatItAccepts) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--unknown"}, {"s", "--peer-timeout"}, {"s", "--peer-timeout", "x"}, {"s", "more"}}) {
    const Finished ended = expect_exit(2, testing::run("publish_from_your_solver", arguments));
    testing::expect_has(ended.err, {"usage: "});
  }
}

}  // namespace
}  // namespace ringside
