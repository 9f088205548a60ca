// SPDX-License-Identifier: BSD-3-Clause
// An interrupted run is resumed: its iterates are bit-equal to those of an undisturbed run, whichever process was
// killed. A pool and a problem that do not belong together are refused.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "analyzer/pool/ring_pool.hpp"
#include "tests/pipeline/resume_fixture.hpp"

namespace ringside {
namespace {

using namespace testing::names;
using testing::ResumeTest;

using EitherResumeTest = testing::Either<ResumeTest>;
INSTANTIATE_TEST_SUITE_P(Coordination, EitherResumeTest, testing::kBothCoordinations, testing::name_of_coordination);

TEST_P(EitherResumeTest, AResumedRunEndsBitEqual) {
  ASSERT_EQ(run_it("grid:60", {"--iterations=30"}).exit_code, 0);
  const std::string run_id = summary()["run_id"].text();
  const Finished resumed = expect_exit(0, run_it("grid:60", {"--iterations=80", "--resume"}));
  const Json s = summary();
  EXPECT_EQ(s["run_id"], run_id) << "it is the same run";
  expect_values(s, {{"resumed_from", 30}, {"iterations", 80}, {"steps_published", 50}});
  expect_has(resumed.out, {"from iteration 30"});
  EXPECT_EQ(export_last(pool_), undisturbed("grid:60", {"--iterations=80"}));
  expect_intact();
}

TEST_F(ResumeTest, JacobiContinuesBitEqualToo) {
  const std::string matrix =
      write_file("a.mtx",
                 "%%MatrixMarket matrix coordinate real general\n3 3 7\n1 1 4\n1 2 1\n2 1 1\n2 2 "
                 "5\n2 3 2\n3 2 1\n3 3 6\n");
  ASSERT_EQ(run_it(matrix, {"--solver=jacobi", "--iterations=7"}).exit_code, 0);
  ASSERT_EQ(run_it(matrix, {"--solver=jacobi", "--iterations=19", "--resume"}).exit_code, 0);
  EXPECT_EQ(export_last(pool_), undisturbed(matrix, {"--solver=jacobi", "--iterations=19"}));
}

TEST_F(ResumeTest, WithEveryTenthIterateKeptItContinuesFromTheLastOfThem) {
  ASSERT_EQ(run_it("grid:60", {"--iterations=40", "--every=10"}).exit_code, 0);
  ASSERT_EQ(run_it("grid:60", {"--iterations=75", "--every=10", "--resume"}).exit_code, 0);
  const Json info = pool_info();
  std::vector<int> kept;
  for (const Json& iterate : info["iterates"]) kept.push_back(iterate["iteration"].get<int>());
  EXPECT_EQ(kept, (std::vector<int>{10, 20, 30, 40, 50, 60, 70, 75}));
  EXPECT_EQ(export_last(pool_), undisturbed("grid:60", {"--iterations=75", "--every=10"}));
}

TEST_F(ResumeTest, ARunThatHadConvergedSaysSoAndDoesNothing) {
  const Words options = {"--tolerance=1e-6"};
  ASSERT_EQ(run_it("grid:60", options).exit_code, 0);
  const Json before = summary();
  const std::string last = export_last(pool_);
  expect_has(expect_exit(0, run_it("grid:60", {"--tolerance=1e-6", "--resume"})).out, {"nothing was left to do"});
  const Json s = summary();
  EXPECT_TRUE(s["converged"].get<bool>());
  expect_values(s,
                {{"iterations", before["iterations"]}, {"residual_l1", before["residual_l1"]}, {"steps_published", 0}});
  EXPECT_EQ(s["last"], before["last"]) << "as it was recorded";
  EXPECT_EQ(export_last(pool_), last);

  const Finished tighter = expect_exit(0, run_it("grid:60", {"--tolerance=1e-8", "--resume"}));
  EXPECT_GT(summary()["steps_published"], 0) << "a tighter tolerance is no other problem";
}

TEST_F(ResumeTest, WithoutAKeptIterateTheRunStartsFromTheBeginningAndReportsIt) {
  expect_has(expect_exit(0, run_it("grid:60", {"--iterations=10", "--resume"})).err, {"begins with iteration 1"});
  expect_values(summary(), {{"resumed_from", 0}, {"iterations", 10}});
}

TEST_F(ResumeTest, AnotherProblemIsRefusedAndNamed) {
  ASSERT_EQ(run_it("grid:60", {"--iterations=10"}).exit_code, 0);
  const std::string last = export_last(pool_);
  const auto refused = [&](const std::string& matrix, Words more, const std::string& what) {
    more.push_back("--resume");
    expect_refusal(2, run_it(matrix, more), {"--resume", pool_, what});
  };
  refused("grid:60", {"--damping=0.9"}, "damping=0.9 instead of damping=0.85");
  refused("grid:61", {}, "rows 3721 instead of 3600");
  const std::string matrix = write_file("a.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 4\n");
  refused(matrix, {"--solver=jacobi"}, "solver jacobi instead of pagerank");
  refused("grid:60", {"--slots=4"}, "--slots");
  EXPECT_EQ(export_last(pool_), last) << "a refusal changes nothing";
}

TEST_F(ResumeTest, AMatrixWithAnotherContentUnderTheSameNameIsAnotherProblem) {
  const std::string edges = write_file("g.txt", "0 1\n1 2\n2 0\n0 2\n");
  ASSERT_EQ(run_it(edges, {"--iterations=5"}).exit_code, 0);
  write_file("g.txt", "0 1\n1 2\n2 0\n1 0\n");
  expect_refusal(2, run_it(edges, {"--resume"}), {"different content of " + edges});
}

TEST_F(ResumeTest, TheContradictionOfResumeAndOverwriteIsNamed) {
  expect_refusal(2, run_it("grid:60", {"--resume", "--overwrite"}), {"--resume", "--overwrite"});
  EXPECT_EQ(run_it("grid:60", {"--resume", "--mode=dram"}).exit_code, 2);
}

TEST_P(EitherResumeTest, BothProcessesKilledTheRunContinuesBitEqual) {
  const std::uint64_t newest = kill_a_run("grid:40", {});
  const std::string end = "--iterations=" + std::to_string(newest + 25);
  expect_exit(0, run_it("grid:40", {end, "--resume"}));
  EXPECT_EQ(summary()["resumed_from"], newest);
  EXPECT_EQ(export_last(pool_), undisturbed("grid:40", {end}));
}

TEST_F(ResumeTest, ConjugateGradientsContinueBitEqualInEveryVariableAfterBothProcessesWereKilled) {
  // A matrix with this number of rows needs the same number of iterations, so that the run is killed before it has
  // finished.
  constexpr int kRows = 50'000;
  std::string text =
      fmt::format("%%MatrixMarket matrix coordinate real symmetric\n{0} {0} {1}\n", kRows, 2 * kRows - 1);
  for (int row = 1; row <= kRows; ++row) {
    text += fmt::format("{0} {0} 2\n", row);
    if (row > 1) text += fmt::format("{} {} -1\n", row, row - 1);
  }
  const std::string matrix = write_file("a.mtx", text);
  const std::uint64_t newest = kill_a_run(matrix, {"--solver=cg"});
  const std::string end = "--iterations=" + std::to_string(newest + 25);
  expect_exit(0, run_it(matrix, {"--solver=cg", end, "--resume"}));
  EXPECT_EQ(summary()["resumed_from"], newest);
  EXPECT_EQ(export_last(pool_, "last.npz"), undisturbed(matrix, {"--solver=cg", end}, "last.npz"));
  const Json info = pool_info();
  EXPECT_EQ(info["variables"].size(), 3u);
  EXPECT_EQ(summary()["schema"], info["variables"]);
  EXPECT_TRUE(info["iterates"].back()["scalars"].contains("solver.rho"));
  expect_intact();
}

TEST_F(ResumeTest, DamageIsNamedByItsVariable) {
  const std::string matrix = write_file("a.txt", "0 0 4\n0 1 1\n1 0 1\n1 1 3\n");
  ASSERT_EQ(run_it(matrix, {"--solver=cg", "--iterations=1"}).exit_code, 0);
  {
    const RingPool pool = RingPool::open(pool_);
    const RingGeometry& shape = pool.ring().geometry();
    *(pool.ring().writable_payload(0) + shape.schema().place(2).offset) ^= std::byte{1};
  }
  expect_has(expect_exit(5, run("ringside", {"verify", pool_})).out, {"1 of 3 chunks of 16384 bytes differ: 2 (p)"});
  const Json slots = Json::parse(run("ringside", {"verify", pool_, "--json"}).out)["slots"];
  EXPECT_EQ(slots[0]["damaged_variables"], Json::array({"p"}));
}

TEST_F(ResumeTest, OtherVariablesAreRefusedAndNamed) {
  const std::string matrix = write_file("a.txt", "0 0 4\n0 1 1\n1 0 1\n1 1 3\n");
  ASSERT_EQ(run_it(matrix, {"--solver=cg", "--iterations=1"}).exit_code, 0);
  expect_refusal(2, run_it(matrix, {"--solver=jacobi", "--resume"}),
                 {"--resume: the steps in the pool have different variables", "no r f64[2] state"});
}

TEST_F(ResumeTest, ADamagedNewestIterateCostsOneIteration) {
  ASSERT_EQ(run_it("grid:60", {"--iterations=20"}).exit_code, 0);
  damage_payload_of(20);
  const Finished resumed = expect_exit(0, run_it("grid:60", {"--iterations=30", "--resume"}));
  expect_has(resumed.err, {"iteration 20 is damaged; the run continues from 19"});
  EXPECT_EQ(export_last(pool_), undisturbed("grid:60", {"--iterations=30"}));
}

TEST_F(ResumeTest, TheServiceLetsAProducerGoOn) {
  Service analyzer({"--socket", socket_, "--pool", pool_});
  const auto produce = [&](const std::string& iterations) {
    return run("ringside-producer", {"--matrix=grid:60", "--socket=" + socket_, "--resume", iterations});
  };
  EXPECT_EQ(produce("--iterations=10").exit_code, 0);
  EXPECT_EQ(produce("--iterations=25").exit_code, 0);
  expect_exit(0, analyzer.stop(SIGTERM));
  EXPECT_EQ(export_last(pool_), undisturbed("grid:60", {"--iterations=25"}));
}

}  // namespace
}  // namespace ringside
