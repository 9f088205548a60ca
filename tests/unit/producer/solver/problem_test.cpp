// SPDX-License-Identifier: BSD-3-Clause
// The message about an entry that a solver refuses names the file, the line, and the entry's numbers in this file.
#include "producer/solver/problem.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/unit/expect_text.hpp"
#include "tests/unit/producer/matrix/matrix_testing.hpp"
#include "tests/unit/producer/text/archiving.hpp"
#include "tests/unit/producer/text/packing.hpp"

namespace ringside {
namespace {

constexpr const char* kWeights = ", PageRank accepts finite weights of 0 or more";

class RefusedProblem : public ::testing::Test {
 protected:
  /// The message of `load_problem` for a file with this content.
  std::string refusal(const std::string& name, std::string_view content, const std::string& solver = "pagerank") const {
    SolveOptions options;
    options.matrix = folder_.write(name, content);
    options.solver = solver;
    return refusal(options);
  }
  std::string refusal(const SolveOptions& options) const {
    const std::string error = failure_line([&] { load_problem(options); });
    EXPECT_TRUE(error.starts_with(options.matrix + ": ")) << error;
    return error.substr(std::min(error.size(), options.matrix.size() + 2));
  }

  /// What `refusal` returns before the rule of PageRank for weights.
  std::string weight(const std::string& name, std::string_view content) const {
    return between("", refusal(name, content), kWeights);
  }

  static std::string real(const std::string& body, const std::string& symmetry = "general") {
    return "%%MatrixMarket matrix coordinate real " + symmetry + "\n% comment\n" + body;
  }

  testing::TemporaryFolder folder_;
};

TEST_F(RefusedProblem, AWeightOfAnEdgeListIsNamedByItsLineAndTheIdsThatStandThere) {
  EXPECT_EQ(weight("a.txt", "# comment\n0 1 1\n1 2 -2\n2 0 1\n"), "line 3: found the weight -2 on the edge 1 2");
  EXPECT_EQ(weight("a.txt", "1 2 1\n2 3 inf\n3 1 1\n"), "line 2: found the weight inf on the edge 2 3");
  EXPECT_EQ(weight("a.txt", "4 3\n0 1 1\n1 2 nan\n2 0 1\n"), "line 3: found the weight nan on the edge 1 2");
  EXPECT_EQ(weight("a.txt", "5000000000 7 1\r\n7 18446744073709551615 -1\r\n"),
            "line 2: found the weight -1 on the edge 7 18446744073709551615");
}

TEST_F(RefusedProblem, AWeightThatIsASumIsNamedByTheLineThatSpoilsIt) {
  EXPECT_EQ(weight("a.txt", "0 1 1\n1 2 1\n0 1 -3\n0 1 1\n"),
            "line 3: found the weight -1 on the edge 0 1 (the sum of 3 lines)");
  EXPECT_EQ(weight("a.txt", "1 0 1\n0 1 1e308\n0 1 1e308\n"),
            "line 2: found the weight inf on the edge 0 1 (the sum of 2 lines)");
}

TEST_F(RefusedProblem, AMatrixThatIsNotSquareIsNamedByItsShape) {
  const std::string found = refusal("a.mtx", real("2 3 1\n1 1 1\n"));
  EXPECT_NE(found.find("found a matrix of 2 rows and 3 columns"), std::string::npos) << found;
}

TEST_F(RefusedProblem, AnEntryOfAMatrixMarketFileIsNamedByItsLineRowAndColumn) {
  EXPECT_EQ(weight("a.mtx", real("3 3 3\n1 2 1\n\n2 3 -4\n3 1 1\n")),
            "line 6: found the weight -4 in row 2, column 3 (counted from 1)");
  EXPECT_EQ(weight("a.mtx", real("2 2 2\n1 1 1\n2 1 -4\n", "symmetric")),
            "line 5: found the weight -4 in row 2, column 1 (counted from 1)");
  EXPECT_EQ(weight("a.mtx", real("2 2 1\n2 1 4\n", "skew-symmetric")),
            "line 4: found the weight -4 in row 1, column 2 (counted from 1)");
  EXPECT_EQ(weight("a.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n-3\n4\n"),
            "line 5: found the weight -3 in row 1, column 2 (counted from 1)");
}

TEST_F(RefusedProblem, APackedTextAndACachedOneAreNamedLikeThePlainOne) {
  const std::string text = "0 1 1\n1 2 -2\n2 0 1\n";
  const std::string expected = std::string("line 2: found the weight -2 on the edge 1 2") + kWeights;
  EXPECT_EQ(refusal("a.txt.gz", testing::gzip_of(text)), expected);
  EXPECT_EQ(refusal("a.txt.xz", testing::xz_of(text)), expected);
  EXPECT_EQ(refusal("a.txt.bz2", testing::bzip2_of(text)), expected);

  SolveOptions options;
  options.matrix = folder_.write("a.txt", text);
  options.solver = "pagerank";
  options.cache = true;
  EXPECT_EQ(refusal(options), expected);
  EXPECT_EQ(refusal(options), expected) << "from the cache that the first run made";
  options.matrix += ".in-links.rsm";  // a cache does not record from which number its source counts
  EXPECT_EQ(refusal(options), std::string("found the weight -2 in row 2, column 3 (counted from 1)") + kWeights);
}

TEST_F(RefusedProblem, AWeightInAnArchiveIsNamedByTheMemberAndItsLine) {
  SolveOptions options;
  options.solver = "pagerank";
  options.matrix = folder_.write(
      "a.tar.gz", testing::gzip_of(testing::tar_of({{.name = "x/x.mtx", .content = real("2 2 1\n1 2 -4\n")}})));
  EXPECT_EQ(failure_line([&] { load_problem(options); }),
            options.matrix + ":x/x.mtx: line 4: found the weight -4 in row 1, column 2 (counted from 1)" + kWeights);
}

TEST_F(RefusedProblem, AnExtremeSumOfWeightsIsNamedByTheFileAndTheFirstLineOfItsNode) {
  constexpr const char* kSums = ", PageRank accepts sums from 1e-300 to 1e+300 over the links that leave a node";
  EXPECT_EQ(refusal("a.txt", "0 1 1\n1 2 9e-301\n2 0 1\n"),
            std::string("line 2: found weights that add up to 9e-301 at node 1") + kSums);
  EXPECT_EQ(refusal("a.txt", "0 1 1\n1 2 1\n2 0 9e299\n2 1 9e299\n"),
            std::string("line 3: found weights that add up to 1.8e+300 at node 2") + kSums);
  EXPECT_EQ(refusal("a.mtx", real("2 2 2\n1 2 1\n2 1 1e-305\n")),
            std::string("line 5: found weights that add up to 1e-305 in row 2 (counted from 1)") + kSums);
}

TEST_F(RefusedProblem, TheLimitsOfASumAreAccepted) {
  SolveOptions options;
  options.solver = "pagerank";
  options.matrix = folder_.write("a.txt", "0 1 1e-300\n1 2 1e300\n2 0 1\n");
  EXPECT_EQ(load_problem(options).description.entries, 3u);
  options.damping = 1e-10;
  expect_has(refusal(options), {"line 2: found weights that add up to 1e+300 at node 1, PageRank accepts sums from "
                                "1e-300 to 4.49"});
}

TEST_F(RefusedProblem, JacobiNamesEntriesAndRowsAsTheInputDoes) {
  EXPECT_EQ(refusal("a.txt", "0 0 1\n0 1 inf\n1 1 1\n", "jacobi"),
            "line 2: found the entry inf on the edge 0 1, Jacobi accepts finite entries");
  constexpr const char* kDiagonal =
      ", Jacobi divides by the diagonal and accepts rows whose diagonal entry is not zero";
  EXPECT_EQ(refusal("a.txt", "0 0 1\n0 1 3\n1 0 1\n", "jacobi"),
            std::string("found no entry on the diagonal at node 1") + kDiagonal);
  EXPECT_EQ(refusal("a.mtx", real("2 2 3\n1 1 1\n1 2 1\n2 1 1\n"), "jacobi"),
            std::string("found no entry on the diagonal in row 2 (counted from 1)") + kDiagonal);
}

}  // namespace
}  // namespace ringside
