// SPDX-License-Identifier: BSD-3-Clause
// `ringside run`, as a user sees it: what is kept, what the account contains, and whether the results are equal in both
// modes and for all thread counts.
#include <gtest/gtest.h>
#include <sched.h>

#include "producer/matrix/grid.hpp"
#include "producer/solver/pagerank.hpp"
#include "tests/pipeline/pipeline_fixture.hpp"
#include "tests/unit/allowed_cpus.hpp"

namespace ringside {
namespace {

using namespace testing::names;

/// x_k of PageRank on grid:SIDE for k = `iterations`, computed in this process.
std::vector<double> solve_grid(std::uint64_t side, int iterations) {
  const auto solver = make_pagerank(make_grid(static_cast<std::uint32_t>(side), Orientation::kInLinks), 0.85);
  std::vector<double> x(side * side);
  std::vector<double> next(side * side);
  solver->start(x.data());
  solver->prepare(x.data(), {});
  for (int k = 0; k < iterations; ++k) {
    solver->iterate(x.data(), next.data());
    x.swap(next);
  }
  return x;
}

using EitherRunTest = testing::Either<PipelineTest>;
INSTANTIATE_TEST_SUITE_P(Coordination, EitherRunTest, testing::kBothCoordinations, testing::name_of_coordination);

TEST_P(EitherRunTest, EveryIterateIsCommittedAndTheLastOnesAreKeptBitForBit) {
  expect_exit(0, run_it("grid:50", {"--iterations=30", "--slots=5"}));
  const Json s = summary();
  expect_values(s, {{"steps_published", 30},
                    {"steps_committed", 30},
                    {"steps_persisted", 30},
                    {"steps_skipped", 0},
                    {"bytes_transferred", 30 * 50 * 50 * 8},
                    {"slots", 5},
                    {"coordination", coordination_}});
  expect_intact();

  const Json iterates = Json::parse(expect_done({"info", pool_, "--json"}).out)["iterates"];
  ASSERT_EQ(iterates.size(), 5u);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(iterates[static_cast<std::size_t>(i)]["iteration"], 26 + i);
    EXPECT_FALSE(iterates[static_cast<std::size_t>(i)]["reductions"].is_null());
  }
  for (const int k : {26, 30}) {
    EXPECT_EQ(exported({"--iteration", std::to_string(k)}), solve_grid(50, k)) << "iteration " << k;
  }
}

constexpr const char* kNeverNull =
    "version run_id problem_id mode solver rows nonzeros iterations converged residual_l1 residual_linf "
    "steps_published steps_committed steps_persisted steps_skipped leases_broken bytes_transferred "
    "total_s load_s generate_s producer_idle_s transfer_s commit_s analyze_s record_s analyzer_idle_s "
    "producer_cores analyzer_cores coordination buffers slots durability storage reduce passes last "
    "hand_off_ns kernel residual_growth matrix_format criterion";

TEST_F(PipelineTest, TheSummaryHasEveryKeyAndItsTimesAddUp) {
  ASSERT_EQ(run_it("grid:200", {"--iterations=20"}).exit_code, 0);
  const Json s = summary();
  std::istringstream never_null(kNeverNull);
  for (std::string key; never_null >> key;) {
    ASSERT_TRUE(s.contains(key)) << key;
    EXPECT_FALSE(s[key].is_null()) << key;
  }
  for (const char* key : {"iteration", "mean", "min", "max", "l1", "l2", "linf"}) EXPECT_TRUE(s["last"].contains(key));
  for (const char* key : {"p50", "p99", "max"}) EXPECT_TRUE(s["hand_off_ns"].contains(key));
  const double total = s["total_s"].get<double>();
  EXPECT_GT(total, 0);
  EXPECT_LE(s["generate_s"].get<double>() + s["producer_idle_s"].get<double>(), total);
  EXPECT_LE(s["transfer_s"].get<double>() + s["commit_s"].get<double>() + s["analyze_s"].get<double>() +
                s["record_s"].get<double>() + s["analyzer_idle_s"].get<double>(),
            total * (1 + 1e-9));
  EXPECT_EQ(s["run_id"].get<std::string>().size(), 32u);
}

TEST_F(PipelineTest, EveryStepOfTheFastestRunHasARecord) {
  constexpr std::uint64_t kSteps = 40'000;  // steps with 9 entries, of a few microseconds: the recorder cannot keep up
  const Finished ran =
      expect_exit(0, run_it("grid:3", {"--iterations=40000", "--tolerance=0", "--durability=process"}));
  EXPECT_EQ(summary()["steps_committed"], kSteps);
  const Json journal = pool_info()["journal"];
  EXPECT_EQ(journal["records_missing"], 0) << ran.err;
  EXPECT_GE(journal["records"], kSteps);
}

TEST_F(PipelineTest, TheFormerNamesOfTheMatrixFormatAreAccepted) {
  // The former names of the option, of the value `bands`, and of the option's key in a settings file.
  ASSERT_EQ(run_it("grid:60", {"--iterations=2", "--kernel=runs"}).exit_code, 0);
  EXPECT_EQ(summary()["matrix_format"], "bands");
  const std::string settings = folder_.file("former.toml");
  std::ofstream(settings) << "kernel = csr\n";
  ASSERT_EQ(run_it("grid:60", {"--iterations=2", "--overwrite", "--config=" + settings}).exit_code, 0);
  expect_values(summary(), {{"matrix_format", "csr"}, {"kernel", "csr"}});
  EXPECT_EQ(run_it("grid:60", {"--kernel=csr", "--matrix-format=csr"}).exit_code, 2);
  std::ofstream(settings) << "kernel = csr\nmatrix-format = packed\n";
  const Finished both = expect_exit(2, run_it("grid:60", {"--iterations=2", "--config=" + settings}));
  expect_has(both.err, {"another name of --matrix-format"});
}

/// The figures of the last iterate that both modes report. Only a run with a pool has results by name.
Json common_of_last(Json summary) {
  summary["last"].erase("results");
  return summary["last"];
}

TEST_F(PipelineTest, TheBaselineComputesTheSameAlsoWithEveryAndKeepsNothing) {
  for (const Words& options : {Words{"--iterations=25"}, {"--iterations=20", "--every=3", "--passes=2"}}) {
    expect_exit(0, run_it("grid:60", options));
    const Json pipeline = summary();
    std::filesystem::remove(pool_);
    expect_exit(0, run_it("grid:60", joined(options, {"--mode=dram"})));
    const Json dram = summary();
    EXPECT_EQ(common_of_last(dram), common_of_last(pipeline));
    for (const char* key : {"residual_l1", "problem_id", "passes", "reduce"})
      EXPECT_EQ(dram[key], pipeline[key]) << key;
    EXPECT_EQ(dram["steps_committed"], 0);
    EXPECT_FALSE(std::filesystem::exists(pool_));
  }
  EXPECT_EQ(summary()["passes"], 2);
}

TEST_F(PipelineTest, AMatrixWhoseNameIsNotUtf8IsSolvedLikeAnyOther) {
  const std::string matrix = write_file("caf\xe9.txt", "0 1\n1 2\n2 0\n");
  expect_exit(0, run_it(matrix, {"--iterations=9"}));
  const std::string shown = "caf\xef\xbf\xbd.txt";  // U+FFFD in place of the invalid byte
  EXPECT_NE(summary()["matrix"].get<std::string>().find(shown), std::string::npos) << summary()["matrix"];
  expect_has(pool_info()["runs"][0]["matrix"].get<std::string>(), {shown});
}

TEST_F(PipelineTest, TheToleranceEndsTheRunAndTheLastIterateIsKeptAlthoughItWasNotDue) {
  expect_exit(0, run_it("grid:40", {"--tolerance=1e-8", "--iterations=1000", "--every=7"}));
  const Json s = summary();
  EXPECT_TRUE(s["converged"].get<bool>());
  EXPECT_LE(s["residual_l1"].get<double>(), 1e-8);
  const int iterations = s["iterations"].get<int>();
  EXPECT_LT(iterations, 1000);
  ASSERT_NE(iterations % 7, 0) << "the test wants a last iterate that was not due; choose another --every";
  EXPECT_EQ(s["steps_published"], iterations / 7 + 1);
  EXPECT_EQ(s["last"]["iteration"], iterations);
  EXPECT_EQ(exported(), solve_grid(40, iterations));
}

TEST_P(EitherRunTest, SkippedStepsAreCountedAndNothingElseIsLost) {
  expect_exit(0, run_it("grid:300", {"--iterations=200", "--when-full=skip", "--passes=20"}));
  const Json s = summary();
  EXPECT_EQ(s["steps_published"], s["steps_committed"]);
  EXPECT_GT(s["steps_skipped"], 0) << "the test wants an analyzer that is too slow; give it more --passes";
  EXPECT_EQ(s["steps_published"].get<int>() + s["steps_skipped"].get<int>(), 200);
  EXPECT_EQ(s["last"]["iteration"], 200);
  expect_intact();
}

TEST_P(EitherRunTest, OneCoreWorksWithAWarning) {
  const Finished ran = run("ringside", run_arguments("grid:30", {"--iterations=10"}), [] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    sched_setaffinity(0, sizeof one, &one);
  });
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  expect_has(ran.err, {"warning"});
  EXPECT_EQ(summary()["steps_committed"], 10);
}

TEST_F(PipelineTest, TheCoresAreThoseThatTheKernelAllowsWhateverAJobScriptTellsOpenMpAndHwloc) {
  if (allowed_cpus().size() < 2) GTEST_SKIP() << "needs two cores";
  ASSERT_EQ(run_it("grid:30", {"--iterations=3"}).exit_code, 0);
  const Json expected = summary();
  const std::vector<std::pair<const char*, const char*>> settings = {
      {"OMP_PROC_BIND", "true"},   {"OMP_PLACES", "{0}"},          {"GOMP_CPU_AFFINITY", "0"},
      {"HWLOC_SYNTHETIC", "pu:1"}, {"HWLOC_XMLFILE", "/none.xml"}, {"HWLOC_FSROOT", "/nonexistent"},
      {"HWLOC_THISSYSTEM", "0"},   {"HWLOC_COMPONENTS", "-linux"},
  };
  for (const auto& [name, value] : settings) {
    const Finished ran = run("ringside", run_arguments("grid:30", {"--iterations=3", "--overwrite"}),
                             [name = name, value = value] { setenv(name, value, 1); });
    ASSERT_EQ(ran.exit_code, 0) << name << ran.err;
    EXPECT_EQ(ran.err.find("warning"), std::string::npos) << name << ran.err;
    EXPECT_EQ(summary()["producer_cores"], expected["producer_cores"]) << name;
    EXPECT_EQ(summary()["analyzer_cores"], expected["analyzer_cores"]) << name;
  }
}

TEST_F(PipelineTest, QuietPrintsNothing) {
  const Finished ran = expect_exit(0, run_it("grid:20", {"--iterations=5", "--quiet"}));
  EXPECT_EQ(ran.out + ran.err, "");
}

TEST_F(PipelineTest, TheBinaryCacheGivesTheSameProblemAndIterates) {
  const std::string matrix = write_file("g.txt", "0 1\n1 2\n2 0\n2 1\n");
  ASSERT_EQ(run_it(matrix, {"--iterations=9"}).exit_code, 0);
  const Json plain = summary();
  expect_done({"cache", matrix});
  ASSERT_EQ(run_it(matrix, {"--iterations=9", "--cache", "--overwrite"}).exit_code, 0);
  expect_values(summary(), {{"problem_id", plain["problem_id"]}, {"last", plain["last"]}});
}

TEST_F(PipelineTest, AnExportHasTheFormatThatIsAskedForElseTheOneOfItsName) {
  ASSERT_EQ(run_it("grid:20", {"--iterations=5"}).exit_code, 0);
  struct Case {
    const char* file;
    Words options;
    const char* begins;
  };
  for (const Case& one : {Case{"x.csv", {}, "row,value"}, Case{"x.mtx", {}, "%%MatrixMarket"},
                          Case{"x.npy", {}, "\x93NUMPY"}, Case{"x.txt", {"--format=npy"}, "\x93NUMPY"}, Case{"csv", {}, "\x93NUMPY"},
                          Case{"y.csv", {"--format=mtx"}, "%%MatrixMarket"}}) {
    expect_done(joined({"export", pool_, "--output", folder_.file(one.file)}, one.options));
    EXPECT_TRUE(content_of(folder_.file(one.file)).starts_with(one.begins)) << one.file;
  }
}

TEST_F(PipelineTest, JacobiSolvesWithItsRightHandSide) {
  const std::string matrix =
      write_file("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 4\n1 2 1\n2 1 1\n2 2 3\n");
  const std::string rhs = write_file("b.mtx", "%%MatrixMarket matrix array real general\n2 1\n6\n7\n");
  expect_exit(0, run_it(matrix, {"--solver=jacobi", "--rhs=" + rhs, "--tolerance=1e-14"}));
  const std::string file = folder_.file("x.csv");
  expect_has(expect_done({"export", pool_, "--output", file}).out, {", as csv\n"});
  std::ifstream csv(file);
  std::string line;
  std::getline(csv, line);
  EXPECT_EQ(line, "row,value");
  for (const double expected : {1.0, 2.0}) {  // 4 + 2 = 6, 1 + 6 = 7
    std::getline(csv, line);
    EXPECT_NEAR(std::stod(line.substr(line.find(',') + 1)), expected, 1e-12);
  }
}

TEST_F(PipelineTest, AnExportToALinkWritesWhereItPoints) {
  ASSERT_EQ(run_it("grid:3", {"--iterations=5"}).exit_code, 0);
  const std::string target = write_file("target.npy", "");
  std::filesystem::create_symlink(target, folder_.file("link.npy"));
  expect_done({"export", pool_, "--output", folder_.file("link.npy")});
  EXPECT_TRUE(std::filesystem::is_symlink(folder_.file("link.npy")));
  EXPECT_EQ(testing::read_npy(target), solve_grid(3, 5));
}

TEST_F(PipelineTest, AnExportedVectorCanBeReadAgainAsAMatrix) {
  ASSERT_EQ(run_it("grid:3", {"--iterations=5"}).exit_code, 0);
  const std::string file = folder_.file("b.mtx");
  expect_done({"export", pool_, "--format=mtx", "--output", file});
  std::string identity = "%%MatrixMarket matrix coordinate real general\n9 9 9\n";
  for (int i = 1; i <= 9; ++i) identity += std::to_string(i) + " " + std::to_string(i) + " 1\n";
  const std::string matrix = write_file("i.mtx", identity);
  expect_exit(0, run_it(matrix, {"--solver=jacobi", "--rhs=" + file, "--iterations=1", "--overwrite"}));
  EXPECT_EQ(exported(), solve_grid(3, 5)) << "the identity's solution is b";
}

TEST_F(PipelineTest, AnySolverCanPublish) {
  Service analyzer({"--socket", socket_, "--pool", pool_, "--once"});
  expect_exit(0, run("publish_from_your_solver", {socket_}));
  EXPECT_EQ(analyzer.finish().exit_code, 0);
  expect_has(run("ringside", {"info", pool_}).out, {"heat of rod"});
  expect_intact();
}

TEST_F(PipelineTest, HelpNamesEveryOption) {
  expect_has(expect_done({"run", "--help"}).out,
             {"--matrix",       "--solver",         "--damping",        "--tolerance",    "--iterations", "--every",
              "--mode",         "--producer-cores", "--analyzer-cores", "--coordination", "--buffers",    "--when-full",
              "--peer-timeout", "--pool",           "--slots",          "--durability",   "--reduce",     "--passes",
              "--overwrite",    "--summary",        "--config",         "--quiet",        "--cache"});
}

}  // namespace
}  // namespace ringside
