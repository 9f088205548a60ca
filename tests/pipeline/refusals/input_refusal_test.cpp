// SPDX-License-Identifier: BSD-3-Clause
// The refusal of an input that is damaged or that a solver cannot use: exit code 2, and a message that names the file,
// the line and the numbers in this line.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/pipeline/pipeline_fixture.hpp"
#include "tests/unit/producer/text/packing.hpp"

namespace ringside {
namespace {

using namespace testing::names;

class InputRefusalTest : public PipelineTest {
 protected:
  void expect_refused(const Words& arguments, const Words& fragments) const {
    expect_refusal(2, run("ringside", arguments), fragments);
  }
};

TEST_F(InputRefusalTest, ADamagedSecondMemberIsNamedAndNothingIsRanked) {
  std::string second = testing::gzip_of("2 3\n3 0\n");
  second[0] ^= 1;
  expect_refused(run_arguments(write_file("a.txt.gz", testing::gzip_of("0 1\n1 2\n") + second)),
                 {"a.txt.gz: ", "after a whole gzip member", "expected another member"});
  EXPECT_FALSE(std::filesystem::exists(pool_));
}

TEST_F(InputRefusalTest, JacobiThatLeavesADoublesRangeSaysThatAndNoMore) {
  const std::string matrix =
      write_file("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 1\n1 2 3\n2 1 2\n2 2 1\n");
  for (const char* mode : {"--mode=pipeline", "--mode=dram"}) {
    expect_refused(
        run_arguments(matrix, {"--solver=jacobi", "--tolerance=1e-9", "--overwrite", mode}),
        {"a.mtx: jacobi exceeded a double's range", "iteration 793 is not finite", "spectral radius below 1"});
  }
}

TEST_F(InputRefusalTest, ARunThatEndsWhileItsChangeGrowsSaysSo) {
  const std::string matrix =
      write_file("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 1\n1 2 3\n2 1 2\n2 2 1\n");
  for (const char* mode : {"--mode=pipeline", "--mode=dram"}) {
    const Finished ran = expect_exit(0, run_it(matrix, {"--solver=jacobi", "--overwrite", "--iterations=50", mode}));
    expect_has(ran.out, {"the L1 change grows by a factor of 2.449 per iteration"});
    EXPECT_NEAR(summary()["residual_growth"].get<double>(), std::sqrt(6.0), 1e-9);
  }
}

TEST_F(InputRefusalTest, AMatrixThatIsNotPositiveDefiniteIsNamedWithTheIterationThatShowsIt) {
  const std::string indefinite =
      write_file("a.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1\n2 1 2\n2 2 1\n");
  const std::string b = write_file("b.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n0\n");
  expect_refused(run_arguments(indefinite, {"--solver=cg", "--rhs=" + b, "--mode=dram", "--quiet"}),
                 {"a.mtx: cg broke down in iteration 2: found p.Ap = -12, expected a number above 0: the matrix is not "
                  "positive definite"});
  EXPECT_EQ(summary()["iterations"], 1) << "the second one made no step";
  EXPECT_FALSE(summary()["converged"].get<bool>());
}

TEST_F(InputRefusalTest, WhatNoPositiveDefiniteMatrixHasIsNamedByFileAndLine) {
  const auto refused = [&](const std::string& matrix, const Words& fragments) {
    expect_refused(run_arguments(matrix, {"--solver=cg", "--mode=dram"}), fragments);
  };
  refused(write_file("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 4\n1 2 2\n2 1 3\n2 2 4\n"),
          {"a.mtx: line 4: found the entry 2 in row 1, column 2 (counted from 1), and 3 at the mirrored position"});
  refused(write_file("b.txt", "0 0 4\n0 1 nan\n1 0 1\n1 1 4\n"),
          {"b.txt: line 2: found the entry nan on the edge 0 1, cg accepts finite entries"});
  refused(write_file("c.txt", "0 0 4\n0 1 1\n1 0 1\n"), {"c.txt", "no entry on the diagonal at node 1"});
  refused("grid:9", {"grid:9: found no entry on the diagonal in row 1 (counted from 1)"});
}

TEST_F(InputRefusalTest, AMistypedMatrixIsReportedBeforeThePoolOfAnotherRun) {
  ASSERT_EQ(run_it("grid:20", {"--iterations=5"}).exit_code, 0);
  for (const char* matrix : {"no-such.mtx", "gird:20", "grid:0", "grid:abc", "rmat:99"}) {
    const Finished ran = expect_exit(2, run_it(matrix));
    expect_one_line(ran.err, {matrix, "expected"});
    expect_lacks(ran.err, {"--overwrite"});
  }
}

}  // namespace
}  // namespace ringside
