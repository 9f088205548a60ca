// SPDX-License-Identifier: BSD-3-Clause
// Compares two real runs: equal runs, one flipped bit, different problems, and runs that cannot be compared.
#include <chrono>
#include <gtest/gtest.h>

#include <csignal>
#include <cstddef>
#include <fstream>
#include <sstream>

#include "common/journal/journal_layout.hpp"
#include "tests/pipeline/pipeline_fixture.hpp"

namespace ringside {
namespace {

using namespace testing::names;

class CompareTest : public PipelineTest {
 protected:
  std::string solve(const std::string& name, const std::string& matrix, const Words& more = {}) {
    const std::string pool = folder_.file(name);
    const Words words = {"run", "--matrix=" + matrix, "--pool=" + pool, "--summary=" + pool + ".json"};
    expect_done(joined(joined(words, {"--iterations=40", "--quiet", "--durability=process"}), more));
    return pool;
  }

  /// Runs the program, and returns what it wrote to standard error.
  std::string publish(const std::string& pool, int seed, const std::string& how = {}) {
    const Words words = {"run", "--pool=" + pool, "--quiet", "--durability=process", "--overwrite", "--"};
    return expect_done(joined(words, {RINGSIDE_BIN_DIR "/flipped_program", std::to_string(seed), how})).err;
  }

  static Json compared(const Words& runs, int exit_code = 0) {
    return Json::parse(expect_exit(exit_code, run("ringside", joined({"compare", "--json"}, runs))).out);
  }
};

TEST_F(CompareTest, EqualRunsAreEqualByRecordsAndThenByTheIteratesThatBothKeep) {
  const std::string a = solve("a.pool", "grid:20");
  const std::string b = solve("b.pool", "grid:20", {"--slots=5"});
  const Json found = compared({a, b, "--expect-equal"});
  EXPECT_EQ(found["same_problem"], true);
  EXPECT_EQ(found["facts_differing"].size(), 1u) << found["facts_differing"];
  EXPECT_EQ(found["facts_differing"][0]["name"], "slots");
  const Json& pair = found["pairs"][0];
  EXPECT_TRUE(pair["first_difference"].is_null()) << pair;
  ASSERT_EQ(pair["equal_ranges"].size(), 2u) << pair;
  EXPECT_EQ(pair["equal_ranges"][0], (Json{{"first_iteration", 1}, {"last_iteration", 35}, {"steps", 35}, {"by", "records"}}));
  EXPECT_EQ(pair["equal_ranges"][1], (Json{{"first_iteration", 36}, {"last_iteration", 40}, {"steps", 5}, {"by", "iterates"}}));
}

TEST_F(CompareTest, AFlippedMantissaBitIsNamedExactly) {
  const std::string a = folder_.file("a.pool");
  const std::string b = folder_.file("b.pool");
  for (int seed = 1; seed <= 10; ++seed) {
    publish(a, seed);
    const std::string printed = publish(b, seed, "flip");
    std::istringstream words(printed.substr(printed.find("flipped ")));
    std::string word, variable;
    std::uint64_t iteration = 0, entry = 0, bit = 0;
    words >> word >> iteration >> variable >> entry >> bit;
    const Json found = compared({a, b, "--expect-equal"}, 5)["pairs"][0]["first_difference"];
    expect_values(found, {{"kind", "iterate"},
                          {"iteration", iteration},
                          {"variable", variable},
                          {"index", variable == "v" ? Json{entry} : Json({entry / 70, entry % 70})}});
    EXPECT_EQ(found["distance"], std::uint64_t{1} << bit);
    EXPECT_EQ(found["entries_differing"], 1);
  }
}

TEST_F(CompareTest, DifferentProblemsAreSaidFirstAndTheirIteratesAreNotCompared) {
  const std::string a = solve("a.pool", "grid:20");
  const std::string b = solve("b.pool", "grid:21");
  const Finished text = expect_done({"compare", a, b});
  EXPECT_EQ(text.out.rfind("ringside compare: 2 runs of DIFFERENT PROBLEMS\n", 0), 0u) << text.out;
  expect_has(text.out, {"their variables differ"});
}

TEST_F(CompareTest, RunsOfOtherUnitsAreNotEqualThoughAllTheirNumbersAre) {
  const std::string a = folder_.file("a.pool");
  const std::string b = folder_.file("b.pool");
  publish(a, 1);
  publish(b, 1, "unit");
  const Json pair = compared({a, b, "--expect-equal"}, 5)["pairs"][0];
  EXPECT_TRUE(pair["first_difference"].is_null()) << pair;
  EXPECT_EQ(pair["same_variables"], false);
  for (const std::string& pool : {a, b}) std::filesystem::remove(pool);  // the journals must be sufficient
  compared({a, b, "--expect-equal"}, 5);
}

TEST_F(CompareTest, MeasurementsAreNoContentAndWhatIsIgnoredIsNotCompared) {
  const std::string a = folder_.file("a.pool");
  const std::string b = folder_.file("b.pool");
  for (const std::string& pool : {a, b}) publish(pool, 1, "measured");
  const Json found = compared({a, b, "--expect-equal"}, 5)["pairs"][0]["first_difference"];
  ASSERT_EQ(found["results"].size(), 1u) << found;
  EXPECT_EQ(found["results"][0]["name"], "solver.took");
  compared({a, b, "--expect-equal", "--ignore=solver.took"});
  expect_refusal(2, run("ringside", {"compare", a, b, "--ignore=solver.took", "--ignore=took"}),
                 {"--ignore", "'took'", "solver.took"});
}

TEST_F(CompareTest, SummariesJournalsAndOneRunOfAPoolAreTaken) {
  const std::string a = solve("a.pool", "grid:20");
  const std::string id = read_json(a + ".json")["run_id"].text();
  std::filesystem::rename(a, folder_.file("away"));  // its journal remains
  const Json found = compared({a + "@" + id.substr(0, 6), a + ".json", a + ".journal-0"});
  EXPECT_EQ(found["runs"][0]["kind"], "journal");
  EXPECT_EQ(found["runs"][1]["kind"], "summary");
  EXPECT_EQ(found["runs"][2]["run_id"], id);
  EXPECT_EQ(found["pairs"][1]["equal"], true) << found["pairs"][1];
}

TEST_F(CompareTest, ADamagedIterateIsNamedAndNeverTakenForADifference) {
  pool_ = solve("a.pool", "grid:20");
  const std::string b = solve("b.pool", "grid:20", {"--damping=0.8"});
  damage_payload_of(39);
  EXPECT_EQ(compared({pool_, b}, 5)["pairs"][0]["damaged_first"], Json{39});
}

TEST_F(CompareTest, APoolThatChangesMeanwhileIsComparedWithoutAMixture) {
  const std::string a = solve("a.pool", "grid:20");
  Process running("ringside", run_arguments("grid:20", {kEndless, "--durability=process"}));
  ASSERT_TRUE(wait_for_commits(100));
  for (int look = 0; look < 5; ++look) {
    const Json found = compared({a, pool_, pool_});  // the last two are one pool, which changes between the readings
    EXPECT_TRUE(found["pairs"][0]["first_difference"].is_null()) << found["pairs"][0];
  }
  // The journal is written after the ring: on a busy disk, it may not contain the run yet.
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  Json state;
  while (state != "running" && std::chrono::steady_clock::now() < end) state = compared({a, pool_})["runs"][1]["state"];
  EXPECT_EQ(state, "running");
  expect_exit(130, running.stop(SIGINT));
}

TEST_F(CompareTest, AJournalOfALaterFormatIsRefused) {
  const std::string a = solve("a.pool", "grid:20", {"--journal=file"});
  const std::string b = solve("b.pool", "grid:20", {"--journal=file"});
  for (const char* log : {".journal-0", ".journal-1"}) {
    if (!std::filesystem::exists(b + log)) continue;
    std::fstream file(b + log, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(offsetof(JournalHeader, version));
    file.put('\x7f');
  }
  const Finished refused = run("ringside", {"compare", a, b});
  EXPECT_NE(refused.exit_code, 0);
  expect_one_line(refused.err, {"journal"});
}

TEST_F(CompareTest, WhatCannotBeComparedIsRefusedInOneLine) {
  const std::string a = solve("a.pool", "grid:20");
  const std::string other = write_file("other.json", "{}");
  for (const auto& [words, fragment] :
       std::vector<std::pair<Words, std::string>>{{{a, folder_.file("none")}, "found neither this file"},
                                                  {{a, other}, "not a summary"},
                                                  {{a, a + "@xyz"}, "first digits of a run's id"},
                                                  {{a, a + "@0000000000000"}, "none of its runs"},
                                                  {{a, a, "--residuals=0"}, "positive numbers"},
                                                  {{a, a, "--result=x.none"}, "expected a result of the runs: x.sum"},
                                                  {{a, a, "--output=" + a}, "--output"}}) {
    expect_refusal(2, run("ringside", joined({"compare"}, words)), {fragment});
  }
}

}  // namespace
}  // namespace ringside
