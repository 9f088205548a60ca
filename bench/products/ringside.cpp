// SPDX-License-Identifier: BSD-3-Clause
// Ringside's part of the comparison: a whole PageRank iterate in place of only a product. The iterate includes the
// dangling mass, the change in two norms, and the contributions for the next iterate if the solver stores any.
#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/products/product.hpp"
#include "bench/programs/machine_header.hpp"
#include "common/kernels/isa.hpp"
#include "common/platform/version.hpp"
#include "producer/matrix/array.hpp"
#include "producer/solver/pagerank.hpp"

namespace ringside::bench {
namespace {

constexpr double kDamping = 0.85;

class Ringside final : public Product {
 public:
  std::string version() const override {
    return std::string(ringside::version()) + ", " + std::string(to_string(selected_isa()));
  }
  std::string what() const override {
    return "a whole PageRank iterate: product, dangling mass, change in L1 and Linf";
  }

  void load(const CsrMatrix& matrix) override {
    solver_ = make_pagerank(matrix, kDamping);
    for (Array<double>& x : x_) {
      x = Array<double>(matrix.rows);
      solver_->start(x.data());
    }
    for (std::uint64_t j = 0; j < matrix.rows; ++j) x_[0][j] = operand(j);
    solver_->prepare(x_[0].data(), {});
  }

  void run() override {
    solver_->iterate(x_[old_].data(), x_[1 - old_].data());
    old_ = 1 - old_;
  }

  // Compares x_1 with the formula, term by term. A term x_i / degree_i is rounded twice more than a term of a plain
  // product, and so is the base. Therefore the bound is that of row_error with two more entries.
  double error(const CsrMatrix& matrix) override {
    const auto n = static_cast<double>(matrix.rows);
    std::vector<std::uint32_t> degree(matrix.rows);
    for (std::uint64_t e = 0; e < matrix.nonzeros(); ++e) ++degree[matrix.column[e]];
    double dangling = 0;
    for (std::uint64_t i = 0; i < matrix.rows; ++i) dangling += degree[i] == 0 ? operand(i) : 0;
    const double base = ((1 - kDamping) + kDamping * dangling) / n;
    const double base_error = 0x1p-53 * dangling;  // a plain sum of n numbers has an error of about sqrt(n), at most n
    double largest = 0;
    for (std::uint64_t row = 0; row < matrix.rows; ++row) {
      double sum = base;
      for (std::uint64_t e = matrix.row_begin[row]; e < matrix.row_begin[row + 1]; ++e) {
        sum += kDamping * operand(matrix.column[e]) / degree[matrix.column[e]];
      }
      const auto terms = static_cast<double>(matrix.row_begin[row + 1] - matrix.row_begin[row] + 3);
      const double difference = std::fabs(x_[old_][row] - sum);
      if (!(difference >= 0)) return HUGE_VAL;  // not a number
      largest = std::max(largest, difference / (terms * 0x1p-53 * sum + base_error));
    }
    return largest;
  }

 private:
  std::unique_ptr<Solver> solver_;
  Array<double> x_[2];
  int old_ = 0;
};

}  // namespace

std::unique_ptr<Product> make_product(int threads) {
  pin_threads(threads);
  return std::make_unique<Ringside>();
}

}  // namespace ringside::bench
