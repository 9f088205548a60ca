// SPDX-License-Identifier: BSD-3-Clause
// Inputs from a pipe that the user of the command has made: `--config <(COMMAND)`, `COMMAND | ringside report
// /dev/stdin`.
#include <unistd.h>

#include <functional>
#include <string>

#include "tests/pipeline/pipeline_fixture.hpp"

namespace ringside {
namespace {

using namespace testing::names;

/// Makes `descriptor` the read end of a pipe that contains `text`, as a shell does. `text` must fit into the pipe.
std::function<void()> piped(const std::string& text, int descriptor) {
  return [text, descriptor] {
    int ends[2];
    if (pipe(ends) != 0 || write(ends[1], text.data(), text.size()) != static_cast<ssize_t>(text.size())) _exit(126);
    dup2(ends[0], descriptor);
    close(ends[0]);
    close(ends[1]);
  };
}

using PipedInputTest = PipelineTest;

TEST_F(PipedInputTest, SettingsAreReadFromAPipe) {
  const std::string settings = "matrix = \"grid:9\"\nmode = \"dram\"\nquiet = true\niterations = 3\n";
  for (const auto& [name, descriptor] : {std::pair<const char*, int>{"/dev/stdin", STDIN_FILENO}, {"/dev/fd/63", 63}}) {
    expect_done({"run", "--config", name, "--summary=" + summary_}, piped(settings, descriptor));
    EXPECT_EQ(summary()["iterations"], 3) << name;
    std::filesystem::remove(summary_);
  }
}

TEST_F(PipedInputTest, AReportIsMadeOfASummaryFromAPipe) {
  const Finished solved =
      run("ringside", {"run", "--matrix=grid:9", "--mode=dram", "--quiet", "--summary=/dev/stdout"});
  const std::string page = folder_.file("x.html");
  expect_done({"report", "/dev/stdin", "-o", page}, piped(solved.out, STDIN_FILENO));
  expect_has(content_of(page), {"</html>"});
}

TEST_F(PipedInputTest, APipeOfOtherTextIsRefusedAsNoSummary) {
  const Finished refused = expect_exit(
      2, run("ringside", {"report", "/dev/stdin", "-o", folder_.file("x.html")}, piped("text\n", STDIN_FILENO)));
  expect_one_line(refused.err, {"/dev/stdin"});
}

}  // namespace
}  // namespace ringside
