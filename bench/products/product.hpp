// One product y = A x (or, for Ringside, a whole PageRank iterate) as somebody's library computes it, behind one
// interface: each adapter is a file of its own and becomes a program of its own (bench_product_NAME), so that no
// library's threads, allocator or headers meet another's. The programs are driven by bench/products.py, in turn.
#pragma once

#include <cstdint>
#include <iostream>
#include <memory>
#include <string>

#include "producer/matrix/csr_matrix.hpp"

namespace ringside::bench {

/// A is a pattern of in-links: every entry counts 1. The adapter keeps copies of what it needs.
class Product {
 public:
  virtual ~Product() = default;

  virtual std::string version() const = 0;

  /// What one `run` does, in words for the table's reader.
  virtual std::string what() const = 0;

  /// Before the first `run`: converts the matrix to the library's own form, and makes x with x_j = `operand(j)`.
  virtual void load(const CsrMatrix& matrix) = 0;

  /// Once. Everything that a caller of the library would have to do again for the next product, and nothing else.
  virtual void run() = 0;

  /// After a `run`: the largest error in y, as a multiple of what rounding allows (`row_error`).
  virtual double error(const CsrMatrix& matrix) = 0;

  // What only a library made of several processes needs.

  /// Whether this process answers to the driver.
  virtual bool leads() const { return true; }

  /// The driver's next line; false when there are no more.
  virtual bool next_command(std::string& line) { return static_cast<bool>(std::getline(std::cin, line)); }

  /// Returns once everybody who takes part is here.
  virtual void line_up() {}
};

/// The adapter's: the product on `threads` threads or processes, the t-th pinned to the t-th core this process may use.
/// Throws `Error` where there are fewer cores.
std::unique_ptr<Product> make_product(int threads);

/// x_j: different for neighbours and never round, so that a product with a wrong column is a wrong product.
inline double operand(std::uint64_t j) {
  return 0.5 + static_cast<double>(j * 0x9e37'79b9'7f4a'7c15 >> 11) * 0x1p-53;
}

/// |y_r - sum of x over row r| as a multiple of e * 2^-53 * (that sum), e being the row's entries plus 1: what adding e
/// positive numbers in any order may lose (Higham, Accuracy and Stability of Numerical Algorithms, 4.2). At most about
/// 2, as the sum it is compared with is rounded itself.
double row_error(const CsrMatrix& matrix, std::uint64_t row, double y);

}  // namespace ringside::bench
