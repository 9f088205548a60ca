// What the tests of whole runs share: a folder with a pool and a summary in it.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/pipeline/process.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside::testing {

class PipelineTest : public ::testing::Test {
 protected:
  /// The arguments of `ringside run` on grid:SIDE with this test's pool and summary, and `more`.
  std::vector<std::string> run_arguments(const std::string& matrix, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"run", "--matrix=" + matrix, "--pool=" + pool_, "--summary=" + summary_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  nlohmann::json summary() const { return read_json(summary_); }

  static nlohmann::json read_json(const std::string& path) {
    std::ifstream file(path);
    return nlohmann::json::parse(file);
  }

  /// Every slot of the pool verifies.
  void expect_intact() const {
    const Finished verified = run("ringside", {"verify", pool_, "--json"});
    EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
    EXPECT_TRUE(nlohmann::json::parse(verified.out).at("intact").get<bool>());
  }

  /// One line, that begins as all our errors do and holds each of `fragments`.
  static void expect_one_line(const std::string& err, const std::vector<std::string>& fragments) {
    EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
    EXPECT_EQ(err.rfind("ringside", 0), 0u) << err;
    for (const std::string& fragment : fragments) {
      EXPECT_NE(err.find(fragment), std::string::npos) << "'" << fragment << "' in: " << err;
    }
  }

  std::string write_file(const std::string& name, const std::string& text) const { return folder_.write(name, text); }

  TemporaryFolder folder_;
  std::string pool_ = folder_.file("test.pool");
  std::string summary_ = folder_.file("summary.json");
};

}  // namespace ringside::testing
