// SPDX-License-Identifier: BSD-3-Clause
#include "producer/matrix/symmetry.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>

namespace ringside {
namespace {

// A bijection on 64 bits in which every bit of the result depends on every bit of x (MurmurHash3's finaliser).
std::uint64_t mixed(std::uint64_t x) noexcept {
  x = (x ^ (x >> 33)) * 0xff51'afd7'ed55'8ccd;
  x = (x ^ (x >> 33)) * 0xc4ce'b9fe'1a85'ec53;
  return x ^ (x >> 33);
}

std::uint64_t hash_of(std::uint64_t larger, std::uint64_t smaller, double value) noexcept {
  return mixed(mixed(larger << 32 | smaller) + std::bit_cast<std::uint64_t>(value));
}

}  // namespace

std::uint64_t asymmetry(const CsrMatrix& matrix) {
  // Adds the hashes of entries below the diagonal. Subtracts the hashes of entries above it, for which the row and
  // column of the mirror entry are hashed.
  std::uint64_t sum = 0;
#pragma omp parallel for schedule(dynamic, 4096) reduction(+ : sum)
  for (std::uint64_t own = 0; own < matrix.rows; ++own) {
    const std::uint64_t row = matrix.first_row + own;
    for (std::uint64_t e = matrix.row_begin[own]; e < matrix.row_begin[own + 1]; ++e) {
      const std::uint64_t column = matrix.column[e];
      const double value = matrix.value.empty() ? 1.0 : matrix.value[e];
      if (column < row) sum += hash_of(row, column, value);
      if (column > row) sum -= hash_of(column, row, value);
    }
  }
  return sum;
}

MirroredEntry first_unmirrored(const CsrMatrix& matrix) {
  for (std::uint64_t row = 0; row < matrix.rows; ++row) {
    for (std::uint64_t e = matrix.row_begin[row]; e < matrix.row_begin[row + 1]; ++e) {
      const double value = matrix.value.empty() ? 1.0 : matrix.value[e];
      const std::optional<double> mirror = entry_at(matrix, matrix.column[e], row);
      if (mirror != value) return {.stored = e, .value = value, .mirror = mirror};
    }
  }
  throw std::logic_error("first_unmirrored needs a matrix that is not symmetric");
}

void DiagonalSums::add(double value) noexcept {
  if (rows++ == 0) first = value;
  one_sign = one_sign && std::signbit(value) == std::signbit(first);
  largest = std::max(largest, std::fabs(value));
  sum_of_inverses += 1 / std::fabs(value);
}

double jacobi_growth_limit(const DiagonalSums& diagonal, bool symmetric) noexcept {
  if (!diagonal.one_sign || !symmetric) return std::numeric_limits<double>::infinity();
  return std::sqrt(diagonal.largest) * std::sqrt(diagonal.sum_of_inverses);
}

}  // namespace ringside
