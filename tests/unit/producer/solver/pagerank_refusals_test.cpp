// SPDX-License-Identifier: BSD-3-Clause
// Inputs that PageRank refuses. The messages name links and nodes with the names from the input.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>

#include "producer/solver/pagerank.hpp"
#include "tests/reference/small_matrix.hpp"
#include "tests/unit/expect_text.hpp"

namespace ringside {
namespace {

using namespace reference;

constexpr double kAnyDamping = 0.85;

std::string refusal_of(CsrMatrix matrix, double damping) {
  return failure_line([&] { make_pagerank(std::move(matrix), damping); });
}

TEST(PagerankRefusals, RefusesADampingOutsideZeroToOne) {
  const double nan = std::nan("");
  for (const double damping : {0.0, 1.0, -0.1, 1.5, nan}) {
    SCOPED_TRACE(damping);
    expect_has(refusal_of(build_graph(2, {{0, 1}}), damping), {"--damping"});
  }
}

TEST(PagerankRefusals, RefusesWeightsThatAreNegativeOrNotFiniteAndNamesTheLink) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double weight : {-1.0, infinity, std::nan("")}) {
    const auto message = refusal_of(build_weighted_graph(4, {{0, 1, 1}, {3, 2, weight}, {2, 3, 1}}), kAnyDamping);
    expect_has(message, {"in row 4, column 3 (counted from 1)"});
  }
}

TEST(PagerankRefusals, NamesNodesByTheIdsOfTheInputWhereItHasSome) {
  CsrMatrix graph = build_weighted_graph(2, {{1, 0, -2}});
  graph.id = Array<std::uint64_t>(2);
  graph.id[0] = 17;
  graph.id[1] = 4000;
  expect_has(refusal_of(graph, kAnyDamping), {"on the edge 4000 17"});
}

TEST(PagerankRefusals, RefusesWeightsTooExtremeToNormalise) {
  expect_has(refusal_of(build_weighted_graph(2, {{0, 1, 1e-310}}), kAnyDamping), {"in row 1 (counted from 1)"});
  expect_has(refusal_of(build_weighted_graph(3, {{0, 1, 1e308}, {0, 2, 1e308}}), kAnyDamping),
             {"in row 1 (counted from 1)"});
}

TEST(PagerankRefusals, RefusesAMatrixThatIsEmptyOrNotSquare) {
  expect_has(refusal_of(build_graph(0, {}), kAnyDamping), {"no nodes"});
  CsrMatrix wide = build_graph(3, {{0, 1}});
  wide.columns = 5;
  expect_has(refusal_of(wide, kAnyDamping), {"3 rows and 5 columns"});
}

}  // namespace
}  // namespace ringside
