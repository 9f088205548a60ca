// SPDX-License-Identifier: BSD-3-Clause
// Eigen (libeigen3-dev): a row-major sparse matrix times a dense vector. Eigen has no pattern matrices: it keeps and
// reads a value of 8 B for each column index.
#include <algorithm>
#include <string>

#include <Eigen/Core>
#include <Eigen/SparseCore>

#include "bench/products/product.hpp"
#include "bench/programs/machine_header.hpp"
#include "common/platform/error.hpp"

namespace ringside::bench {
namespace {

class EigenProduct final : public Product {
 public:
  explicit EigenProduct(int threads) { Eigen::setNbThreads(threads); }

  std::string version() const override {
    return std::to_string(EIGEN_WORLD_VERSION) + '.' + std::to_string(EIGEN_MAJOR_VERSION) + '.' +
           std::to_string(EIGEN_MINOR_VERSION);
  }
  std::string what() const override { return "SparseMatrix<double, RowMajor, int> * VectorXd, with values"; }

  void load(const CsrMatrix& matrix) override {
    constexpr std::uint64_t kMost = 0x7fff'ffff;
    if (matrix.nonzeros() > kMost) {
      throw usage_error("found {} nonzeros, expected at most {} (the indices are int)", matrix.nonzeros(), kMost);
    }
    const auto n = static_cast<int>(matrix.rows);
    a_.resize(n, n);
    a_.resizeNonZeros(static_cast<Eigen::Index>(matrix.nonzeros()));
    std::transform(matrix.row_begin.begin(), matrix.row_begin.end(), a_.outerIndexPtr(),
                   [](std::uint64_t at) { return static_cast<int>(at); });
    std::transform(matrix.column.begin(), matrix.column.end(), a_.innerIndexPtr(),
                   [](std::uint32_t column) { return static_cast<int>(column); });
    std::fill(a_.valuePtr(), a_.valuePtr() + matrix.nonzeros(), 1.0);
    x_.resize(n);
    for (int j = 0; j < n; ++j) x_[j] = operand(static_cast<std::uint64_t>(j));
    y_.setZero(n);
  }

  void run() override { y_.noalias() = a_ * x_; }

  double error(const CsrMatrix& matrix) override {
    double largest = 0;
    for (std::uint64_t row = 0; row < matrix.rows; ++row) {
      largest = std::max(largest, row_error(matrix, row, y_[static_cast<Eigen::Index>(row)]));
    }
    return largest;
  }

 private:
  Eigen::SparseMatrix<double, Eigen::RowMajor, int> a_;
  Eigen::VectorXd x_;
  Eigen::VectorXd y_;
};

}  // namespace

std::unique_ptr<Product> make_product(int threads) {
  pin_threads(threads);
  return std::make_unique<EigenProduct>(threads);
}

}  // namespace ringside::bench
