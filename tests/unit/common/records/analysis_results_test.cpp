// SPDX-License-Identifier: BSD-3-Clause
#include "common/records/analysis_results.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/wire_text.hpp"

namespace ringside {
namespace {

wire::AnalysisResults some_results() {
  return testing::wire_message<wire::AnalysisResults>(
      R"(run_id: "0123456789abcdef" commit_seq: 1 name: "analysis.energy" value: 1)");
}

TEST(AnalysisResultsTest, NamesBeginWithALetterAndHaveNothingThatATerminalWouldObey) {
  for (const char* name : {"a", "_", "energy", "a.b-c_9"}) EXPECT_TRUE(is_analysis_name(name)) << name;
  for (const char* name : {"", "9", ".a", "-a", "a b", "a\n", "\xc3\xa4"}) EXPECT_FALSE(is_analysis_name(name)) << name;
  EXPECT_TRUE(is_analysis_name(std::string(63, 'a')));
  EXPECT_FALSE(is_analysis_name(std::string(64, 'a')));
}

TEST(AnalysisResultsTest, FullNamesBeginWithTheirKind) {
  EXPECT_TRUE(is_analysis_result("analysis.energy"));
  EXPECT_TRUE(is_analysis_result("analysis." + std::string(63, 'a') + "." + std::string(63, 'b')));
  EXPECT_FALSE(is_analysis_result("analysis." + std::string(128, 'a')));
  for (const char* name : {"", "analysis", "analysis.", "analysis..a", "energy", "x.l2"}) EXPECT_FALSE(is_analysis_result(name)) << name;
}

TEST(AnalysisResultsTest, AProblemIsNamed) {
  EXPECT_EQ(problem_of(some_results()), "");
  const auto problem_with = [](auto change) {
    wire::AnalysisResults results = some_results();
    change(results);
    return problem_of(results);
  };
  EXPECT_EQ(problem_with([](auto& r) { r.set_run_id("short"); }), "the results name no run");
  EXPECT_EQ(problem_with([](auto& r) { r.set_commit_seq(0); }), "the results name no step");
  EXPECT_EQ(problem_with([](auto& r) { r.add_value(2); }),
            "found 1 names of results and 2 values; expected equal numbers");
  EXPECT_EQ(problem_with([](auto& r) {
              r.clear_name();
              r.clear_value();
            }),
            "found 0 results of one step; expected 1 to 64");
  EXPECT_EQ(problem_with([](auto& r) { r.set_name(0, "x.l2"); }),
            "found a result named 'x.l2', expected analysis.NAME or analysis.NAME.KEY");
}

}  // namespace
}  // namespace ringside
