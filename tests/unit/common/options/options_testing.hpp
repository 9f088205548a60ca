// SPDX-License-Identifier: BSD-3-Clause
// Common parts of the options tests: a program that parses words, and two solvers that accept different options.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "common/options/command_line.hpp"
#include "common/options/solver_choice.hpp"

namespace ringside::testing {

using Words = std::vector<std::string>;

inline const SolverChoices kSolvers = {{.name = "pagerank", .help = "ranks", .damping = true},
                                       {.name = "jacobi", .help = "solutions", .rhs = true}};

class ParsingTest : public ::testing::Test {
 protected:
  std::optional<int> parse(const Words& words) {
    std::vector<const char*> argv = {"program"};
    for (const std::string& word : words) argv.push_back(word.c_str());
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const std::optional<int> code = parse_or_exit_code(line_, static_cast<int>(argv.size()), argv.data());
    out_ = ::testing::internal::GetCapturedStdout();
    err_ = ::testing::internal::GetCapturedStderr();
    return code;
  }

  /// Expects exit code 2 and a message that contains `part`.
  void expect_refused(const Words& words, const std::string& part) {
    EXPECT_EQ(parse(words), 2) << words.back();
    EXPECT_NE(err_.find(part), std::string::npos) << err_;
  }
  void expect_accepted(const Words& words) { EXPECT_EQ(parse(words), std::nullopt) << err_; }

  CommandLine line_{"A program.", "program"};
  std::string out_;  // the output of `parse`
  std::string err_;
};

}  // namespace ringside::testing
