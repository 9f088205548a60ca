// SPDX-License-Identifier: BSD-3-Clause
// What the tests of `ringside run -- PROGRAM` share: its arguments, and the lines that a person sees.
#pragma once

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "tests/pipeline/pipeline_fixture.hpp"

namespace ringside::testing {

using Words = std::vector<std::string>;

inline const std::string kScripted = std::string(RINGSIDE_BIN_DIR) + "/scripted_program";

class ProgramTest : public PipelineTest {
 protected:
  // Orphans of `ringside run` become children of this process, which can then see whether there are any.
  void SetUp() override { ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0); }

  static void expect_no_child_left() {
    errno = 0;
    EXPECT_EQ(waitpid(-1, nullptr, 0), -1) << "a process was left behind";
    EXPECT_EQ(errno, ECHILD);
  }

  /// run OPTIONS -- PROGRAM ARGS.
  Words with(const Words& program, const Words& options = {}) const {
    Words words = {"run", "--pool=" + pool_, "--summary=" + summary_, "--durability=process"};
    if (coordination_ != "locks") words.push_back(coordination());
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back("--");
    words.insert(words.end(), program.begin(), program.end());
    return words;
  }
  /// With the scripted program.
  Words scripted(const Words& script, const Words& options = {}) const {
    Words program = {kScripted};
    program.insert(program.end(), script.begin(), script.end());
    return with(program, options);
  }
  /// With a shell, in which $P is the scripted program.
  Words shell(const std::string& text, const Words& options = {}) const {
    return with({"sh", "-c", "P=" + kScripted + "; " + text}, options);
  }

  /// The lines on standard error that are not progress, with each process's number as N.
  static std::string lines(const Finished& ran) {
    std::istringstream text(ran.err);
    std::string kept;
    for (std::string line; std::getline(text, line);) {
      if (line.starts_with("waiting for ") || line.starts_with("iteration ") ||
          line.find(" has attached (process ") != std::string::npos) {
        continue;
      }
      kept += std::regex_replace(line, std::regex("(process|child) [0-9]+"), "$1 N") + "\n";
    }
    return kept;
  }

  /// Waits for the end of a run, and expects its exit code and exactly these lines.
  static void expect_end(Process& ringside, int exit_code, const std::string& expected) {
    const Finished ran = ringside.finish();
    EXPECT_EQ(ran.exit_code, exit_code) << ran.err;
    EXPECT_EQ(lines(ran), expected);
  }
  void expect_run(const Words& words, int exit_code, const std::string& expected) const {
    Process ringside("ringside", words);
    expect_end(ringside, exit_code, expected);
  }

  std::string fifo(const std::string& name) const {
    const std::string path = folder_.file(name);
    EXPECT_EQ(mkfifo(path.c_str(), 0600), 0);
    return path;
  }

  std::vector<double> exported(std::uint64_t iteration) const {
    const std::string file = folder_.file("x.npy");
    const Finished ran = run("ringside", {"export", pool_, "--iteration", std::to_string(iteration), "--output", file});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    std::ifstream stream(file, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
    std::vector<double> values((bytes.size() - bytes.find('\n') - 1) / sizeof(double));
    std::memcpy(values.data(), bytes.data() + bytes.find('\n') + 1, values.size() * sizeof(double));
    return values;
  }

  const std::string prefix_ = "ringside: " + kScripted;
};

}  // namespace ringside::testing
