// SPDX-License-Identifier: BSD-3-Clause
// If a command's output cannot be written, the command has failed: every command reports a standard output that accepts
// no bytes.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <string>
#include <vector>

#include "tests/pipeline/pipeline_fixture.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using namespace testing::names;

void full_output() {
  dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
}

void closed_output() {
  close(STDOUT_FILENO);
}

void output_without_reader() {
  int ends[2];
  if (pipe(ends) != 0) _exit(126);
  dup2(ends[1], STDOUT_FILENO);
  close(ends[0]);
  close(ends[1]);
}

struct Command {
  std::string program;
  Words arguments;
};

class StandardOutputTest : public PipelineTest {
 protected:
  void SetUp() override { keep_a_run(); }

  /// A copy of the pool, for a command that changes it.
  std::string copy_of_pool() const {
    const std::string copy = folder_.file("copy" + std::to_string(++copies_));
    fs::copy_file(pool_, copy);
    return copy;
  }

  /// Each of these commands exits with 0 if its output is written. Call this function again for each try, because some
  /// commands make or delete the files that they name.
  std::vector<Command> commands() const {
    const std::string fresh = folder_.file("fresh" + std::to_string(++copies_));
    fs::create_directory(fresh);
    const std::string matrix = folder_.write("edges.txt", "0 1\n1 0\n");
    expect_done({"keygen", fresh + "/with"});
    return {
        {"ringside", {"info", pool_}},
        {"ringside", {"info", pool_, "--json"}},
        {"ringside", {"verify", pool_}},
        {"ringside", {"verify", pool_, "--json"}},
        {"ringside", {"replay", pool_}},
        {"ringside", {"replay", pool_, "--json"}},
        {"ringside", {"tail", "--pool", pool_}},
        {"ringside", {"tail", "--pool", pool_, "--json"}},
        {"ringside", {"export", pool_, "--output", fresh + "/x.npy"}},
        {"ringside", {"report", pool_, "-o", fresh + "/x.html"}},
        {"ringside", {"export", pool_, "-o", "-"}},
        {"ringside", {"export", pool_, "-o", "-", "--format=csv"}},
        {"ringside", {"report", pool_, "-o", "-"}},
        {"ringside", {"run", "--matrix=grid:9", "--mode=dram", "--summary=-"}},
        {"ringside", {"wipe", copy_of_pool(), "--yes"}},
        {"ringside", {"cache", matrix, "--cache-dir", fresh}},
        {"ringside", {"keygen", fresh + "/keys"}},
        {"ringside", {"keygen", fresh + "/with", "--client", "desk"}},
        {"ringside", {"run", "--matrix=grid:9", "--mode=dram"}},
        {"ringside", {"--help"}},
        {"ringside", {"--version"}},
        {"ringside", {"--help-as=bash"}},
        {"ringside", {"--help-as=man"}},
        {"ringside", {"info", "--help"}},
        {"ringside", {"info", "--help-as=man"}},
        {"ringside", {"run", "--help-as=toml"}},
        {"ringside-producer", {"--help"}},
        {"ringside-analyzer", {"--version"}},
    };
  }

  void expect_each_says(const std::function<void()>& output, const std::string& why) const {
    for (const Command& command : commands()) {
      SCOPED_TRACE(command.program + " " + command.arguments.front());
      const Finished failed = expect_exit(3, run(command.program, command.arguments, output));
      // Standard error also contains progress.
      const std::string said =
          "ringside: standard output: cannot be written: " + why + "; expected one that accepts all";
      expect_has(failed.err, {said});
      expect_lacks(failed.err, {"unexpected"});
    }
  }

  mutable int copies_ = 0;
};

TEST_F(StandardOutputTest, EachCommandWorksWhereItsOutputArrives) {
  for (const Command& command : commands()) {
    EXPECT_EQ(run(command.program, command.arguments).exit_code, 0) << command.program << command.arguments.front();
  }
}

TEST_F(StandardOutputTest, EachCommandFailsOnAFullStandardOutput) {
  expect_each_says(full_output, "No space left on device");
}

TEST_F(StandardOutputTest, EachCommandFailsOnAClosedStandardOutput) {
  expect_each_says(closed_output, "it is closed");
}

TEST_F(StandardOutputTest, APipeWhoseReaderWentAwayEndsEachCommandAsAShellExpects) {
  for (const Command& command : commands()) {
    SCOPED_TRACE(command.program + " " + command.arguments.front());
    const Finished ended = run(command.program, command.arguments, output_without_reader);
    EXPECT_EQ(ended.death_signal, SIGPIPE) << ended.exit_code << ended.err;
    expect_lacks(ended.err, {"standard output"});
  }
}

TEST_F(StandardOutputTest, DoctorNeverExitsWithSuccessIfItsAnswerIsLost) {
  for (const bool with_json : {false, true}) {
    Words arguments = {"doctor", folder_.path()};
    if (with_json) arguments.push_back("--json");
    const int found = run("ringside", arguments).exit_code;
    const Finished failed = run("ringside", arguments, full_output);
    EXPECT_EQ(failed.exit_code, found == 0 ? 3 : found);
    expect_one_line(failed.err, {"standard output: cannot be written"});
  }
}

TEST_F(StandardOutputTest, TheExitCodeReportsDamageEvenIfTheOutputIsLost) {
  damage_payload_of(5);
  const Finished verified = expect_exit(5, run("ringside", {"verify", pool_}, full_output));
  expect_has(verified.err, {"standard output: cannot be written"});
}

TEST_F(StandardOutputTest, ARunWritesItsSummaryWhereItsAccountHasNoPlace) {
  for (const auto& output : {full_output, closed_output, output_without_reader}) {
    fs::remove(summary_);
    run("ringside", run_arguments("grid:20", {"--iterations=5", "--overwrite"}), output);
    EXPECT_EQ(summary()["iterations"], 5);
  }
}

TEST_F(StandardOutputTest, WhatIsPrintedNeverGoesIntoAFileThatTookTheDescriptor) {
  const auto all_closed = [] {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(fd);
  };
  EXPECT_EQ(run("ringside", run_arguments("grid:20", {"--iterations=5", "--overwrite"}), all_closed).exit_code, 3);
  EXPECT_EQ(summary()["iterations"], 5);
  expect_intact();
  const std::string exported = folder_.file("x.npy");
  run("ringside", {"export", pool_, "--output", exported}, closed_output);
  EXPECT_EQ(fs::file_size(exported), 128u + 400 * sizeof(double));
}

TEST_F(StandardOutputTest, AStandardErrorThatTakesNothingDoesNotEndARun) {
  const auto full_error = [] { dup2(open("/dev/full", O_WRONLY), STDERR_FILENO); };
  expect_done(run_arguments("grid:20", {"--iterations=5", "--overwrite"}), full_error);
  EXPECT_EQ(summary()["iterations"], 5);
}

}  // namespace
}  // namespace ringside
