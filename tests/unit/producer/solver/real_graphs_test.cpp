// SPDX-License-Identifier: BSD-3-Clause
// The solvers with real files, compared with the values of an independent implementation
// (tests/reference/expected.json, made by make_expected.py). Also tests the verdicts of the convergence check for
// matrices that are known to diverge.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "common/json/json.hpp"
#include "common/platform/error.hpp"
#include "producer/matrix/matrix_source.hpp"
#include "producer/solver/jacobi.hpp"
#include "producer/solver/pagerank.hpp"
#include "tests/unit/producer/solver/solver_testing.hpp"
#include "tests/unit/sanitized.hpp"

namespace ringside {
namespace {

using testing::solve;
using testing::Solved;

// Sums have up to 325,557 terms, and the two implementations round them in different orders. Each iteration is a
// contraction, so that rounding errors do not accumulate.
constexpr double kAgreement = 1e-12;

/// The data folder, or an empty path if it does not exist.
std::filesystem::path data_folder() {
  const char* told = std::getenv("RINGSIDE_TEST_DATA");
  const auto folder = told != nullptr ? std::filesystem::path(told)
                                      : std::filesystem::path(RINGSIDE_SOURCE_DIR) / ".." / "shared" / "data";
  return std::filesystem::is_directory(folder) ? folder : std::filesystem::path();
}

const Json& expected() {
  static const Json values = [] {
    std::ifstream file(std::filesystem::path(RINGSIDE_SOURCE_DIR) / "tests" / "reference" / "expected.json");
    return Json::try_parse(file);
  }();
  return values;
}

CsrMatrix load(const std::string& folder, const std::string& name, Orientation orientation) {
  MatrixOptions options;
  options.matrix = (data_folder() / folder / name).string();
  return load_matrix(options, orientation);
}

/// sum_i x_i * ((i * 2654435761) mod 2^32) / 2^32
double probe(const std::vector<double>& x) {
  long double sum = 0;
  for (std::uint64_t i = 0; i < x.size(); ++i) {
    sum += x[i] * (static_cast<double>(static_cast<std::uint32_t>(i * 2654435761u)) * 0x1p-32);
  }
  return static_cast<double>(sum);
}

void expect_norms(const std::vector<double>& x, const Json& values) {
  long double l1 = 0;
  long double squares = 0;
  double linf = 0;
  for (const double value : x) {
    l1 += std::fabs(value);
    squares += static_cast<long double>(value) * value;
    linf = std::fmax(linf, std::fabs(value));
  }
  const auto expect_near = [&](const char* what, double found) {
    const double wanted = values.at(what).get<double>();
    EXPECT_NEAR(found, wanted, kAgreement * std::fmax(1.0, std::fabs(wanted))) << what;
  };
  expect_near("l1", static_cast<double>(l1));
  expect_near("l2", static_cast<double>(std::sqrt(squares)));
  expect_near("linf", linf);
  expect_near("probe", probe(x));
}

/// One test per file of a list.
class RealFile : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (data_folder().empty()) GTEST_SKIP() << "no data folder; set RINGSIDE_TEST_DATA";
  }
};

std::string test_name(const ::testing::TestParamInfo<std::string>& file) {
  std::string name = file.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

std::vector<std::string> names_in(const Json& object) {
  std::vector<std::string> names;
  for (const auto& item : object.items()) names.push_back(item.key);
  return names;
}

class RealGraph : public RealFile {};

TEST_P(RealGraph, PagerankAgreesWithAnIndependentImplementation) {
  const Json& pagerank = expected().at("pagerank");
  const Json& values = pagerank.at("graphs").at(GetParam());
  const auto solver =
      make_pagerank(load("graphs", GetParam(), Orientation::kInLinks), pagerank.at("damping").get<double>());
  ASSERT_EQ(solver->rows(), values.at("rows").get<std::uint64_t>());
  ASSERT_EQ(solver->nonzeros(), values.at("nonzeros").get<std::uint64_t>());

  const Solved outcome = solve(*solver, pagerank.at("tolerance").get<double>(), 10'000);
  EXPECT_EQ(outcome.progress, Progress::kConverged);
  ASSERT_EQ(outcome.iterations, values.at("iterations").get<int>());
  EXPECT_NEAR(outcome.change.l1, values.at("residual_l1").get<double>(), kAgreement);
  expect_norms(outcome.x, values);
  for (const char* list : {"top", "some"}) {
    for (const Json& entry : values.at(list)) {
      EXPECT_NEAR(outcome.x[entry.at("row").get<std::size_t>()], entry.at("rank").get<double>(), kAgreement);
    }
  }
  std::vector<double> sorted = outcome.x;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_NEAR(sorted[i], values.at("top")[i].at("rank").get<double>(), kAgreement) << "place " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, RealGraph, ::testing::ValuesIn(names_in(expected().at("pagerank").at("graphs"))),
                         test_name);

class RealMatrix : public RealFile {};

TEST_P(RealMatrix, JacobiAgreesWithAnIndependentImplementation) {
  const Json& jacobi = expected().at("jacobi");
  const Json& values = jacobi.at("matrices").at(GetParam());
  const auto solver = make_jacobi(load("matrices", GetParam(), Orientation::kRows));
  ASSERT_EQ(solver->rows(), values.at("rows").get<std::uint64_t>());
  ASSERT_EQ(solver->nonzeros(), values.at("nonzeros").get<std::uint64_t>());
  const Solved outcome = solve(*solver, 0, jacobi.at("iterations").get<int>());
  EXPECT_EQ(outcome.progress, Progress::kRunning);
  const double change = values.at("residual_l1").get<double>();
  EXPECT_NEAR(outcome.change.l1, change, kAgreement * std::fmax(1.0, change));
  expect_norms(outcome.x, values);
  for (const Json& entry : values.at("some")) {
    const double value = entry.at("value").get<double>();
    EXPECT_NEAR(outcome.x[entry.at("row").get<std::size_t>()], value, kAgreement * std::fmax(1.0, std::fabs(value)));
  }
}

TEST_P(RealMatrix, JacobiIsGivenTheTimeToConverge) {
  if (testing::kSanitized && GetParam() == "lap2D_5pt_n100.mtx") GTEST_SKIP() << "20,000 iterations take half a minute";
  const auto solver = make_jacobi(load("matrices", GetParam(), Orientation::kRows));
  const double tolerance = 1e-6 * solve(*solver, 0, 1).change.l1;
  const Solved outcome = solve(*solver, tolerance, 100'000);
  EXPECT_EQ(outcome.progress, Progress::kConverged);
  EXPECT_LT(outcome.growth, 1.0);
}

INSTANTIATE_TEST_SUITE_P(Files, RealMatrix, ::testing::ValuesIn(names_in(expected().at("jacobi").at("matrices"))),
                         test_name);

class DivergingMatrix : public RealFile {};

TEST_P(DivergingMatrix, IsReportedAsSuchWithItsSpectralRadius) {
  const double spectral_radius = GetParam() == "bcsstk01.mtx" ? 1.10 : 3.43;  // of I - D^-1 A, from the data's README
  const auto solver = make_jacobi(load("matrices", GetParam(), Orientation::kRows));
  const Solved outcome = solve(*solver, 1e-10, 10'000);
  EXPECT_EQ(outcome.progress, Progress::kDiverged);
  EXPECT_TRUE(std::isfinite(outcome.change.l1)) << "noticed only when it overflowed";
  EXPECT_NEAR(outcome.growth, spectral_radius, 0.02 * spectral_radius);
}

INSTANTIATE_TEST_SUITE_P(Files, DivergingMatrix, ::testing::Values("bcsstk01.mtx", "bcsstk13.mtx"), test_name);

TEST(RealMatrices, JacobiRefusesOneWithAZeroDiagonal) {
  if (data_folder().empty()) GTEST_SKIP() << "no data folder; set RINGSIDE_TEST_DATA";
  EXPECT_THROW(make_jacobi(load("matrices", "fidapex6.mtx", Orientation::kRows)), Error);
}

}  // namespace
}  // namespace ringside
