// SPDX-License-Identifier: BSD-3-Clause
// Checks whether a matrix is symmetric, finds an entry whose mirror entry differs, and computes what follows for the
// Jacobi iteration.
#pragma once

#include <cstdint>
#include <optional>

#include "producer/matrix/array.hpp"
#include "producer/matrix/csr_matrix.hpp"

namespace ringside {

/// 0, modulo 2^64, if a_ij = a_ji for all i and j; if a matrix has several parts, the sum of the results of all parts
/// is then 0. All OpenMP threads make one pass over the entries, in any order. The function adds hashes: with a
/// probability of about 2^-64 the result is 0 for a matrix that is not symmetric. matrix: square.
std::uint64_t asymmetry(const CsrMatrix& matrix);

/// An entry a_ij, and its mirror a_ji if that exists.
struct MirroredEntry {
  std::uint64_t stored = 0;  // the entry's index in the matrix
  double value = 0;
  std::optional<double> mirror{};
};

/// The first entry, row by row, whose mirror is missing or different. matrix: square, not symmetric. Only for messages,
/// because one thread searches for each entry's mirror.
MirroredEntry first_unmirrored(const CsrMatrix& matrix);

/// Sums over a diagonal without zeros, which are built row by row and used for the limit below.
struct DiagonalSums {
  double first = 0;
  double largest = 0;
  double sum_of_inverses = 0;
  std::uint64_t rows = 0;
  bool one_sign = true;

  void add(double value) noexcept;
};

/// The factor by which the L1 change of a converging Jacobi iteration can exceed any earlier change; infinity if no
/// limit is known. symmetric: whether the matrix is symmetric.
///
/// If A is symmetric and its diagonal D has one sign, d_k = (I - D^-1 A) d_{k-1} is a symmetric iteration in the norm
/// |d|_D = sqrt(sum |D_i| d_i^2): with a spectral radius of at most 1, this norm never grows. This norm differs from
/// the L1 norm by at most the factor sqrt(max |D_i|) * sqrt(sum 1/|D_i|). Any other matrix may be far from a normal
/// matrix: its change can grow by any factor, for any number of iterations, before it shrinks.
double jacobi_growth_limit(const DiagonalSums& diagonal, bool symmetric) noexcept;

}  // namespace ringside
