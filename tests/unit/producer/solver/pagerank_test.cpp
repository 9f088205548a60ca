// SPDX-License-Identifier: BSD-3-Clause
#include "producer/solver/pagerank.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "tests/reference/serial_pagerank.hpp"
#include "tests/reference/small_matrix.hpp"
#include "tests/unit/producer/openmp_threads.hpp"
#include "tests/unit/sanitized.hpp"

namespace ringside {
namespace {

using namespace reference;

constexpr double kDamping = 0.85;

struct Iterates {
  std::vector<std::vector<double>> x;  // x_0, x_1 ...
  std::vector<Change> change;          // the changes of x_1, x_2 ...
};

Iterates iterates_of(Solver& solver, int count) {
  Iterates out;
  out.x.emplace_back(solver.rows());
  solver.start(out.x[0].data());
  solver.prepare(out.x[0].data(), {});
  for (int k = 1; k <= count; ++k) {
    std::vector<double> next(solver.rows(), std::nan(""));
    out.change.push_back(solver.iterate(out.x.back().data(), next.data()));
    out.x.push_back(std::move(next));
  }
  return out;
}

/// The ranks after so many iterations that they no longer change.
std::vector<double> ranks_of(CsrMatrix matrix) {
  return iterates_of(*make_pagerank(std::move(matrix), kDamping), 200).x.back();
}

bool bit_equal(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

double distance_l1(const std::vector<double>& a, const std::vector<double>& b) {
  long double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::fabs(a[i] - b[i]);
  return static_cast<double>(sum);
}

TEST(Pagerank, SmallGraphsHaveTheRanksWorkedOutByHand) {
  struct Worked {
    const char* what;
    CsrMatrix graph;
    std::vector<double> ranks;
  };
  const double x0 = 0.135 / (1 - 0.7225);  // of a node with two links that both point back to it
  const Worked all[] = {
      {"two nodes that link to each other", build_graph(2, {{0, 1}, {1, 0}}), {0.5, 0.5}},
      // x0 = .075 + .425 x1, x1 = .075 + .85 x0 + .425 x1.
      {"a dangling node spreads its rank over all nodes", build_graph(2, {{0, 1}}), {0.5 / 1.425, 0.925 / 1.425}},
      // x0 = .05, x1 = .05 + .85 x0, x2 = (.05 + .85 x1) / .15.
      {"a chain that ends in a self-loop", build_graph(3, {{0, 1}, {1, 2}, {2, 2}}), {0.05, 0.0925, 0.8575}},
      // x1 = x2 = .05 + .425 x0, x0 = .05 + 1.7 x1.
      {"a node shares its rank among its links",
       build_graph(3, {{0, 1}, {0, 2}, {1, 0}, {2, 0}}),
       {x0, 0.05 + 0.425 * x0, 0.05 + 0.425 * x0}},
      {"weights divide a rank in proportion",
       build_weighted_graph(3, {{0, 1, 3}, {0, 2, 1}, {1, 0, 5}, {2, 0, 0.5}}),
       {x0, 0.05 + 0.85 * 0.75 * x0, 0.05 + 0.85 * 0.25 * x0}},
      {"a single node", build_graph(1, {}), {1}},
      {"a single node that links to itself", build_graph(1, {{0, 0}}), {1}},
  };
  for (const Worked& worked : all) {
    const std::vector<double> x = ranks_of(worked.graph);
    for (std::size_t i = 0; i < x.size(); ++i)
      EXPECT_NEAR(x[i], worked.ranks[i], 1e-14) << worked.what << ", node " << i;
  }
}

TEST(Pagerank, WithoutLinksEveryNodeKeepsItsShare) {
  for (const std::uint64_t n : {1ul, 2ul, 7ul, 3000ul}) {
    const auto x = ranks_of(build_graph(n, {}));
    for (const double rank : x) EXPECT_NEAR(rank, 1.0 / static_cast<double>(n), 1e-16);
  }
}

TEST(Pagerank, ComponentsKeepTheirShareOfTheNodes) {
  // A triangle and a pair, without dangling nodes: each component keeps its initial sum.
  const auto x = ranks_of(build_graph(5, {{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 3}}));
  EXPECT_NEAR(x[0] + x[1] + x[2], 0.6, 1e-14);
  EXPECT_NEAR(x[3] + x[4], 0.4, 1e-14);
}

TEST(Pagerank, AgreesWithTheFormulaInLongDouble) {
  const std::vector<CsrMatrix> graphs = [] {
    std::vector<CsrMatrix> list;
    list.push_back(build_graph(64 * 64, grid_links(64)));
    list.push_back(build_graph(5000, random_links(5000, 30000, 1)));
    list.push_back(build_weighted_graph(5000, random_links(5000, 30000, 2)));
    return list;
  }();
  for (const CsrMatrix& graph : graphs) {
    const auto solver = make_pagerank(graph, kDamping);
    EXPECT_LT(distance_l1(iterates_of(*solver, 60).x.back(), serial_pagerank(graph, kDamping, 60)), 1e-14);
  }
}

/// Each sum of m entries has an error of at most m/8 + 10 roundings (31 for a short row), and the operations on the sum
/// add at most eight roundings. This bound is per iteration, and relative to the iterate because every term is
/// positive.
TEST(Pagerank, EveryFormatStaysWithinTheStatedBoundOfTheFormulaInLongDouble) {
  const CsrMatrix graph = build_graph(4000, site_links(4000, 26));
  std::uint64_t most = 0;
  for (std::uint64_t row = 0; row < graph.rows; ++row) {
    most = std::max(most, graph.row_begin[row + 1] - graph.row_begin[row]);
  }
  ASSERT_GT(most, 1000u);
  const auto expected = serial_pagerank(graph, kDamping, 1);
  const double bound = (static_cast<double>(std::max<std::uint64_t>(31, most / 8 + 10)) + 8) * 0x1p-53;
  for (const MatrixFormat format :
       {MatrixFormat::kCsr, MatrixFormat::kBands, MatrixFormat::kPacked, MatrixFormat::kRanked}) {
    const auto x = iterates_of(*make_pagerank(graph, kDamping, selected_isa(), format), 1).x[1];
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], expected[i], bound * expected[i]) << "row " << i;
  }
}

TEST(Pagerank, RanksKeepTheirSumOfOne) {
  const auto solver = make_pagerank(build_graph(20000, random_links(20000, 100000, 3)), kDamping);
  for (const auto& x : iterates_of(*solver, 300).x) {
    long double sum = 0;
    for (const double rank : x) sum += rank;
    ASSERT_NEAR(static_cast<double>(sum), 1.0, 1e-12);
  }
}

TEST(Pagerank, TheChangeIsTheDistanceFromTheIterateBefore) {
  const auto solver = make_pagerank(build_graph(3000, random_links(3000, 9000, 4)), kDamping);
  const Iterates run = iterates_of(*solver, 5);
  for (std::size_t k = 1; k <= 5; ++k) {
    double linf = 0;
    for (std::size_t i = 0; i < 3000; ++i) linf = std::fmax(linf, std::fabs(run.x[k][i] - run.x[k - 1][i]));
    EXPECT_NEAR(run.change[k - 1].l1, distance_l1(run.x[k], run.x[k - 1]), 1e-15);
    EXPECT_EQ(run.change[k - 1].linf, linf);
  }
}

TEST(Pagerank, EqualWeightsGiveTheRanksOfTheUnweightedGraph) {
  auto links = random_links(3000, 20000, 5);
  for (Entry& link : links) link.value = 1;
  const auto unweighted = make_pagerank(build_graph(3000, links), kDamping);
  const auto weighted = make_pagerank(build_weighted_graph(3000, links), kDamping);
  EXPECT_TRUE(bit_equal(iterates_of(*unweighted, 30).x.back(), iterates_of(*weighted, 30).x.back()));
  for (Entry& link : links) link.value = 0.3;
  const auto scaled = make_pagerank(build_weighted_graph(3000, links), kDamping);
  EXPECT_LT(distance_l1(iterates_of(*unweighted, 30).x.back(), iterates_of(*scaled, 30).x.back()), 1e-14);
}

TEST(Pagerank, TheFormatChosenDoesNotDependOnTheUnitOfTheWeights) {
  // With so many nodes, the vector may be ordered by the number of reads of its elements.
  constexpr std::uint64_t kNodes = 1'100'000;
  CsrMatrix graph = build_weighted_graph(kNodes, random_links(kNodes, 1'500'000, 24));
  const auto format_with = [&](double weight) {
    std::fill(graph.value.begin(), graph.value.end(), weight);
    return std::string(make_pagerank(graph, kDamping)->format());
  };
  const std::string with_ones = format_with(1);
  for (const double weight : {1e-6, 1e6}) EXPECT_EQ(format_with(weight), with_ones) << weight;
}

/// Compares every bit, for one instruction set.
class PagerankBits : public ::testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (GetParam() > selected_isa()) GTEST_SKIP() << "this processor has no " << to_string(GetParam());
  }

  static void expect_bits_of_plain_loops(const CsrMatrix& matrix, const std::string& what) {
    for (const int count : {1, 2, 3, 5}) expect_bits_of_plain_loops(matrix, what, count, MatrixFormat::kAuto);
    for (const MatrixFormat format :
         {MatrixFormat::kCsr, MatrixFormat::kBands, MatrixFormat::kPacked, MatrixFormat::kRanked}) {
      for (const int count : {1, 4}) {
        expect_bits_of_plain_loops(matrix, what + ", format " + std::string(to_string(format)), count, format);
      }
    }
  }

  static void expect_bits_of_plain_loops(const CsrMatrix& matrix, const std::string& what, int count,
                                         MatrixFormat format) {
    const testing::OpenMpThreads threads(count);
    const auto solver = make_pagerank(matrix, kDamping, GetParam(), format);
    ASSERT_TRUE(format == MatrixFormat::kAuto || solver->format() == to_string(format));
    const Iterates run = iterates_of(*solver, 12);
    PlainPagerank plain(matrix, kDamping);
    for (std::size_t k = 1; k <= 12; ++k) {
      const Change change = plain.iterate();
      ASSERT_TRUE(bit_equal(run.x[k], plain.x)) << what << ", iteration " << k << ", " << count << " threads";
      ASSERT_EQ(run.change[k - 1].l1, change.l1) << what << ", iteration " << k << ", " << count << " threads";
      ASSERT_EQ(run.change[k - 1].linf, change.linf) << what;
    }
  }

  static void expect_continues(const Iterates& whole, std::size_t kept, Solver& resumed) {
    std::vector<double> x = whole.x[kept];
    resumed.prepare(x.data(), {});
    for (std::size_t k = kept + 1; k < whole.x.size(); ++k) {
      std::vector<double> next(x.size());
      const Change change = resumed.iterate(x.data(), next.data());
      ASSERT_TRUE(bit_equal(next, whole.x[k])) << resumed.format() << ", iteration " << k;
      ASSERT_EQ(change.l1, whole.change[k - 1].l1) << resumed.format();
      x = next;
    }
  }
};

TEST_P(PagerankBits, GridsAreBitEqualToPlainSerialLoops) {
  for (const std::uint64_t side : {1ul, 2ul, 3ul, 5ul, 18ul, 33ul, 100ul}) {
    expect_bits_of_plain_loops(build_graph(side * side, grid_links(side)), "grid of side " + std::to_string(side));
  }
}

TEST_P(PagerankBits, GridsWithLinksMissingAreBitEqualToPlainSerialLoops) {
  for (const double drop : {0.0005, 0.01, 0.1, 0.6}) {
    const auto links = thinned(grid_links(80), drop, 7);
    expect_bits_of_plain_loops(build_graph(80 * 80, links), "grid without " + std::to_string(drop));
  }
}

TEST_P(PagerankBits, AProductWithScalesIsBitEqualToPlainSerialLoops) {
  // Such a product reads the iterate itself, so the iterate must not be overwritten.
  const auto takes_scales = [](const CsrMatrix& graph) {
    return !make_pagerank(graph, kDamping, GetParam())->may_overwrite_previous();
  };
  const CsrMatrix grid = build_graph(80 * 80, grid_links(80));
  EXPECT_TRUE(takes_scales(grid));
  const CsrMatrix one_way = build_graph(6000, band_links(6000, {1, 90}));  // the last node is dangling
  EXPECT_TRUE(takes_scales(one_way));
  expect_bits_of_plain_loops(one_way, "one-way band");
  const CsrMatrix few_single_rows = build_graph(200 * 200, thinned(grid_links(200), 0.0001, 12));
  EXPECT_TRUE(takes_scales(few_single_rows));
  expect_bits_of_plain_loops(few_single_rows, "grid with a few links missing");
  EXPECT_FALSE(takes_scales(build_graph(6400, random_links(6400, 40000, 12))));
}

TEST_P(PagerankBits, RandomGraphsAreBitEqualToPlainSerialLoops) {
  for (const std::uint64_t nodes : {3ul, 50ul, 1023ul, 1024ul, 1025ul, 9001ul}) {
    expect_bits_of_plain_loops(build_graph(nodes, random_links(nodes, 6 * nodes, 8)), "random graph");
  }
}

TEST_P(PagerankBits, WeightedGraphsAreBitEqualToPlainSerialLoops) {
  expect_bits_of_plain_loops(build_weighted_graph(3001, random_links(3001, 20000, 9)), "weighted random graph");
  expect_bits_of_plain_loops(build_weighted_graph(900, grid_links(30)), "weighted grid");
}

TEST_P(PagerankBits, BandsAreBitEqualToPlainSerialLoops) {
  expect_bits_of_plain_loops(build_graph(6000, band_links(6000, {-1, 0, 1})), "tridiagonal");
  expect_bits_of_plain_loops(build_graph(6000, band_links(6000, {-500, -3, 2, 700})), "wide band");
  expect_bits_of_plain_loops(build_graph(6000, band_links(6000, {3000})), "half of the nodes dangling");
  expect_bits_of_plain_loops(build_graph(6000, with_hub(band_links(6000, {-1, 1}), 6000, 0)), "band and a hub");
  expect_bits_of_plain_loops(build_graph(2047, {}), "no links");
}

TEST_P(PagerankBits, RowsOfManyLengthsWithIntervalsAndEqualRowsAreBitEqualToPlainSerialLoops) {
  for (const unsigned seed : {21u, 22u, 23u}) {
    if (seed > 21 && testing::kSanitized) continue;
    expect_bits_of_plain_loops(build_graph(2600, site_links(2600, seed)), "links of a web site");
    auto weighted = site_links(1500, seed);
    for (std::size_t i = 0; i < weighted.size(); ++i) weighted[i].value = 0.5 + static_cast<double>(i % 13);
    expect_bits_of_plain_loops(build_weighted_graph(1500, weighted), "weighted links of a web site");
  }
}

TEST_P(PagerankBits, RunsOfLongRowsAreBitEqualToPlainSerialLoops) {
  for (const std::int64_t entries : {31, 32, 33, 40, 47}) {
    if (entries > 33 && testing::kSanitized) continue;
    std::vector<std::int64_t> distances;
    for (std::int64_t i = 0; i < entries; ++i) distances.push_back(2 * i - entries);
    expect_bits_of_plain_loops(build_graph(3000, band_links(3000, distances)), std::to_string(entries) + " diagonals");
    expect_bits_of_plain_loops(build_graph(1100, thinned(band_links(1100, distances), 0.002, 5)), "a band with gaps");
  }
}

TEST_P(PagerankBits, AVectorThatOutgrowsTheCachesIsBitEqualToPlainSerialLoops) {
  // With 1.1 million nodes, elements are prefetched.
  static const std::vector<Entry> links = random_links(1'100'000, 2'500'000, 24);
  for (const bool weighted : {false, true}) {
    if (weighted && testing::kSanitized) continue;
    const CsrMatrix graph = weighted ? build_weighted_graph(1'100'000, links) : build_graph(1'100'000, links);
    PlainPagerank plain(graph, kDamping);
    plain.iterate();
    const Change change = plain.iterate();
    for (const MatrixFormat format : {MatrixFormat::kPacked, MatrixFormat::kRanked}) {
      const testing::OpenMpThreads threads(3);
      const auto solver = make_pagerank(graph, kDamping, GetParam(), format);
      const Iterates run = iterates_of(*solver, 2);
      EXPECT_TRUE(bit_equal(run.x[2], plain.x)) << to_string(format) << (weighted ? ", weighted" : "");
      EXPECT_EQ(run.change[1].l1, change.l1) << to_string(format);
    }
  }
}

TEST_P(PagerankBits, ARunContinuesWithAnotherFormatAndNumberOfThreads) {
  const CsrMatrix graph = build_graph(3000, site_links(3000, 25));
  const testing::OpenMpThreads one(1);
  const Iterates whole = iterates_of(*make_pagerank(graph, kDamping, Isa::kPlain, MatrixFormat::kCsr), 9);
  const testing::OpenMpThreads four(4);
  for (const MatrixFormat format : {MatrixFormat::kBands, MatrixFormat::kPacked, MatrixFormat::kRanked}) {
    expect_continues(whole, 4, *make_pagerank(graph, kDamping, GetParam(), format));
  }
}

TEST_P(PagerankBits, ContinuingFromAKeptIterateIsBitEqual) {
  for (const auto& links : {random_links(6400, 40000, 10), thinned(grid_links(80), 0.01, 10)}) {
    const CsrMatrix graph = build_graph(6400, links);
    const Iterates whole = iterates_of(*make_pagerank(graph, kDamping, GetParam()), 20);
    expect_continues(whole, 8, *make_pagerank(graph, kDamping, GetParam()));
  }
}

TEST_P(PagerankBits, OverwritingThePreviousIterateGivesTheSame) {
  for (const auto& links : {random_links(6400, 40000, 11), thinned(grid_links(80), 0.1, 11)}) {
    const CsrMatrix graph = build_graph(6400, links);
    const Iterates apart = iterates_of(*make_pagerank(graph, kDamping, GetParam()), 10);
    const auto solver = make_pagerank(graph, kDamping, GetParam());
    ASSERT_TRUE(solver->may_overwrite_previous());
    std::vector<double> x(6400);
    solver->start(x.data());
    solver->prepare(x.data(), {});
    for (std::size_t k = 1; k <= 10; ++k) {
      const Change change = solver->iterate(x.data(), x.data());
      ASSERT_TRUE(bit_equal(x, apart.x[k]));
      ASSERT_EQ(change.l1, apart.change[k - 1].l1);
    }
  }
}

TEST_P(PagerankBits, StoresPastTheCacheAndAnyAlignmentGiveTheSame) {
  // There are more than 2.1 million nodes, so that two vectors exceed a last-level cache of 32 MiB. With so many nodes,
  // non-temporal stores are used if the vector is aligned to a cache line.
  const std::uint64_t side = 1450;
  static const CsrMatrix graph = build_graph(side * side, band_links(side * side, {-1, 1, 1450}));
  PlainPagerank plain(graph, kDamping);
  const auto solver = make_pagerank(graph, kDamping, GetParam());
  EXPECT_EQ(solver->moved_bytes(), 16.0 * static_cast<double>(graph.rows));
  Array<double> room(2 * graph.rows + 16);
  double* aligned = room.data();
  double* misaligned = room.data() + (graph.rows / 8 + 1) * 8 + 1;
  solver->start(aligned);
  solver->prepare(aligned, {});
  for (int k = 1; k <= 4; ++k) {
    double* previous = k % 2 == 1 ? aligned : misaligned;
    double* next = k % 2 == 1 ? misaligned : aligned;
    const Change change = solver->iterate(previous, next);
    ASSERT_EQ(change.l1, plain.iterate().l1);
    ASSERT_EQ(std::memcmp(next, plain.x.data(), graph.rows * sizeof(double)), 0) << "iteration " << k;
  }
}

INSTANTIATE_TEST_SUITE_P(Isa, PagerankBits, ::testing::Values(Isa::kPlain, Isa::kAvx2, Isa::kAvx512),
                         [](const auto& isa) { return std::string(to_string(isa.param)); });

}  // namespace
}  // namespace ringside
