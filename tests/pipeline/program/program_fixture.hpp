// SPDX-License-Identifier: BSD-3-Clause
// Shared by the tests of `ringside run -- PROGRAM`: the arguments, and the lines that a user sees.
#pragma once

#include <sys/stat.h>

#include <regex>
#include <string>
#include <vector>

#include "tests/pipeline/pipeline_fixture.hpp"

namespace ringside::testing {

inline const std::string kScripted = std::string(RINGSIDE_BIN_DIR) + "/scripted_program";

/// A `ringside run` whose program has printed "up".
class UpRun : public Process {
 public:
  explicit UpRun(const Words& words) : Process("ringside", words) {
    if (!wait_for_out("up\n")) throw std::runtime_error("the program did not print up");
  }
};

class ProgramTest : public NoOrphansTest {
 protected:
  /// The arguments `run OPTIONS -- PROGRAM ARGS`.
  Words with(const Words& program, const Words& options = {}) const {
    Words words = {"run", "--pool=" + pool_, "--summary=" + summary_, "--durability=process"};
    if (coordination_ != "locks") words.push_back(coordination());
    return joined(joined(joined(words, options), {"--"}), program);
  }
  /// The arguments of `ringside run` with the scripted program.
  Words scripted(const Words& script, const Words& options = {}) const {
    return with(joined({kScripted}, script), options);
  }
  /// The arguments of `ringside run` with a shell, in which $P is the scripted program.
  Words shell(const std::string& text, const Words& options = {}) const {
    return with({"sh", "-c", "P=" + kScripted + "; " + text}, options);
  }

  /// The lines on standard error without the progress, with N in place of each process's number.
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
    const Finished ran = expect_exit(exit_code, ringside.finish());
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
    return PipelineTest::exported({"--iteration=" + std::to_string(iteration)});
  }

  /// The step records that `ringside tail --pool` prints.
  std::vector<Json> recorded_steps() const {
    std::vector<Json> records = json_lines(run("ringside", {"tail", "--pool", pool_, "--json"}).out);
    std::erase_if(records, [](const Json& record) { return record["event"] != "step"; });
    return records;
  }

  const std::string prefix_ = "ringside: " + kScripted;
};

}  // namespace ringside::testing
