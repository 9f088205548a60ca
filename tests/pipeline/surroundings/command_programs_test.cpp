// SPDX-License-Identifier: BSD-3-Clause
// Commands that are separate programs: `ringside` executes them, and refuses a missing program and a program of another
// version.
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include "common/platform/version.hpp"
#include "tests/pipeline/pipeline_fixture.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using namespace testing::names;

class CommandProgramsTest : public PipelineTest {
 protected:
  /// Makes a prefix that contains only `ringside` in bin.
  std::string lonely_ringside() const {
    const fs::path prefix = folder_.file("prefix");
    fs::create_directories(prefix / "bin");
    fs::copy_file(fs::path(RINGSIDE_BIN_DIR) / "ringside", prefix / "bin" / "ringside");
    return (prefix / "bin" / "ringside").string();
  }

  static Finished run_at(const std::string& path, const std::vector<const char*>& arguments) {
    return run("ringside", {}, [&] {
      std::vector<const char*> words = {"ringside"};
      words.insert(words.end(), arguments.begin(), arguments.end());
      words.push_back(nullptr);
      execv(path.c_str(), const_cast<char* const*>(words.data()));
    });
  }
};

TEST_F(CommandProgramsTest, AMissingProgramIsRefusedNamingItsFileAndTheWayToGetIt) {
  const std::string ringside = lonely_ringside();
  const std::string file = folder_.file("prefix/libexec/ringside/ringside-serve");
  for (const std::vector<const char*>& arguments : {std::vector<const char*>{"serve"}, {"help", "serve"}}) {
    const Finished refused = expect_exit(3, run_at(ringside, arguments));
    expect_one_line(refused.err, {file, "`ringside serve`", "the package ringside"});
    EXPECT_EQ(refused.out, "");
  }
  EXPECT_EQ(run_at(ringside, {"info", "--help"}).exit_code, 0);
}

TEST_F(CommandProgramsTest, InABuildTheWayToGetAMissingProgramIsToBuildIt) {
  const std::string ringside = lonely_ringside();
  folder_.write("prefix/CMakeCache.txt", "");
  expect_refusal(3, run_at(ringside, {"plan"}),
                 {folder_.file("prefix/bin/ringside-plan"),
                  "cmake --build " + folder_.file("prefix") + " --target ringside-plan"});
}

TEST_F(CommandProgramsTest, AProgramOfAnotherVersionThanRingsideRefusesToWork) {
  const Finished refused =
      run("ringside-export", {"export", "--help"}, [] { setenv("RINGSIDE_COMMANDS_OF", "0.0.1", 1); });
  EXPECT_EQ(refused.exit_code, 3);
  expect_one_line(refused.err, {"ringside-export", std::string("found version ") + version(), "expected 0.0.1"});
  EXPECT_EQ(refused.out, "");
}

TEST_F(CommandProgramsTest, AProgramThatRingsideDidNotStartNamesItsCommands) {
  expect_refusal(2, run("ringside-plan", {"plan", "--help"}),
                 {"ringside-plan", "`ringside calibrate`", "`ringside plan`", "`ringside experiment`"});
}

TEST_F(CommandProgramsTest, ACommandIsTheProcessThatRingsideWas) {
  Process serve("ringside", {"serve", "--listen=127.0.0.1:0", "--socket=" + folder_.file("none")});
  ASSERT_TRUE(serve.wait_for_out("Ctrl-C ends it"));
  const std::string of_process = "/proc/" + std::to_string(serve.pid());
  EXPECT_EQ(fs::read_symlink(of_process + "/exe").filename(), "ringside-serve");
  EXPECT_TRUE(content_of(of_process + "/cmdline").find(std::string("\0serve\0--listen", 15)) != std::string::npos);
  expect_exit(0, serve.stop(SIGTERM));
}

TEST_F(CommandProgramsTest, ASignalThatKillsACommandIsSeenByTheCaller) {
  Process serve("ringside", {"serve", "--listen=127.0.0.1:0", "--socket=" + folder_.file("none")});
  ASSERT_TRUE(serve.wait_for_out("Ctrl-C ends it"));
  serve.signal(SIGKILL);
  EXPECT_EQ(serve.finish().death_signal, SIGKILL);
}

TEST_F(CommandProgramsTest, TheExitCodeOfACommandIsThatOfItsProgram) {
  EXPECT_EQ(run("ringside", {"export", folder_.file("none"), "--output=-"}).exit_code, 2);
  for (const char* damping : {"--damping=0.5", "--damping=0.6"}) {
    expect_done({"run", "--quiet", "--matrix=grid:9", "--iterations=4", damping, "--pool=" + folder_.file(damping)});
  }
  expect_exit(
      5, run("ringside", {"compare", "--expect-equal", folder_.file("--damping=0.5"), folder_.file("--damping=0.6")}));
}

}  // namespace
}  // namespace ringside
