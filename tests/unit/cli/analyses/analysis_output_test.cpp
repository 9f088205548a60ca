// SPDX-License-Identifier: BSD-3-Clause
// Endless output of functions: for each function, the output is shown up to a limit; output beyond the limit is only
// counted.
#include "cli/analyses/analysis_output.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ringside {
namespace {

class AnalysisOutputTest : public ::testing::Test {
 protected:
  void SetUp() override {
    output_.add_function("a");
    output_.add_function("a.b");
  }
  std::uint64_t shown_bytes() const {
    std::uint64_t bytes = 0;
    for (const std::string& line : said_) bytes += line.size() + 1;
    return bytes;
  }

  std::vector<std::string> said_;
  AnalysisOutput output_{[this](const std::string& text) { said_.push_back(text); }};
};

TEST_F(AnalysisOutputTest, AFloodIsCutOnceAndCountedAtTheEnd) {
  const std::string line = "a: " + std::string(1020, 'x');  // 1024 bytes with the newline
  for (int i = 0; i < 300; ++i) output_.show(line);
  ASSERT_EQ(said_.size(), 257u);
  EXPECT_EQ(said_.back(), "a: printed more than 256 KiB; the rest is left out");
  output_.show("a: short");
  output_.show("a.b: still here");
  output_.show("and so is this: line");
  ASSERT_EQ(said_.size(), 259u) << "the limit is that of one function";
  output_.end();
  ASSERT_EQ(said_.size(), 260u);
  EXPECT_EQ(said_.back(), "a: left out: 45 lines of output (45 KiB)");
  output_.end();
  EXPECT_EQ(said_.size(), 260u);
}

TEST_F(AnalysisOutputTest, WhatNamesNoFunctionHasALimitOfItsOwn) {
  for (int i = 0; i < 1000; ++i) output_.show("b: " + std::string(1020, 'x'));
  output_.show(std::string(AnalysisOutput::kMostBytes * 2, 'a'));
  EXPECT_EQ(said_.size(), 257u);
  EXPECT_LT(shown_bytes(), AnalysisOutput::kMostBytes + 100);
  EXPECT_EQ(said_.back(), "printed more than 256 KiB; the rest is left out");
  output_.show("a: heard");
  EXPECT_EQ(said_.back(), "a: heard");
  output_.end();
  EXPECT_EQ(said_.back(), "left out: 745 lines of output (1,257 KiB)");
}

TEST_F(AnalysisOutputTest, NothingIsSaidOfWhatWasShown) {
  output_.show("a: one");
  output_.show("");
  output_.end();
  EXPECT_EQ(said_, (std::vector<std::string>{"a: one", ""}));
}

}  // namespace
}  // namespace ringside
