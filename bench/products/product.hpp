// SPDX-License-Identifier: BSD-3-Clause
// The interface to one product y = A x (or, for Ringside, a whole PageRank iterate) that a library computes. Each
// adapter is one file and becomes one program (bench_product_NAME), so that the threads, allocators and headers of the
// libraries never mix. bench/products.py runs the programs in turn.
#pragma once

#include <cstdint>
#include <iostream>
#include <memory>
#include <string>

#include "producer/matrix/csr_matrix.hpp"

namespace ringside::bench {

/// A is a pattern of in-links: every entry has the value 1. The adapter copies the data that it needs.
class Product {
 public:
  virtual ~Product() = default;

  virtual std::string version() const = 0;

  /// A description of one `run` for the table.
  virtual std::string what() const = 0;

  /// Called before the first `run`: converts the matrix to the library's own format, and makes x with x_j =
  /// `operand(j)`.
  virtual void load(const CsrMatrix& matrix) = 0;

  /// Computes one product: exactly the work that a caller of the library repeats for each product.
  virtual void run() = 0;

  /// Called after a `run`: the largest error in y, as a multiple of the rounding bound (`row_error`).
  virtual double error(const CsrMatrix& matrix) = 0;

  // The following functions are for libraries that run as several processes.

  /// Whether this process replies to the driver.
  virtual bool leads() const { return true; }

  /// Reads the driver's next line; false if there are no more.
  virtual bool next_command(std::string& line) { return static_cast<bool>(std::getline(std::cin, line)); }

  /// Returns when all processes of the product have called this function.
  virtual void line_up() {}
};

/// Makes the product on `threads` threads or processes, the t-th pinned to the t-th core that this process may use.
/// Throws `Error` if there are fewer cores. Each adapter defines this function.
std::unique_ptr<Product> make_product(int threads);

/// x_j. Neighbouring values differ and are never round numbers, so that a wrong column gives a wrong product.
inline double operand(std::uint64_t j) {
  return 0.5 + static_cast<double>(j * 0x9e37'79b9'7f4a'7c15 >> 11) * 0x1p-53;
}

/// The error |y_r - sum of x over row r| as a multiple of e * 2^-53 * (that sum), where e is the row's entries plus 1.
/// Adding e positive numbers in any order may have an error of this size (Higham, Accuracy and Stability of Numerical
/// Algorithms, 4.2). A correct product has an error of at most about 2, because the reference sum is also rounded.
double row_error(const CsrMatrix& matrix, std::uint64_t row, double y);

}  // namespace ringside::bench
