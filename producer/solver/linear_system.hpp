// SPDX-License-Identifier: BSD-3-Clause
// A system of equations A x = b: its right side, and what every solver of such a system requires of A and b. Further
// requirements of a single solver are in that solver's files.
#pragma once

#include <string>
#include <string_view>

#include "producer/matrix/array.hpp"
#include "producer/matrix/csr_matrix.hpp"
#include "producer/solver/neighbours.hpp"

namespace ringside {

/// The right side b of A x = b. `name` represents the content in problem_id: a different b needs a different name.
struct RightSide {
  Array<double> value;  // one per row, or empty: all ones
  std::string name = "ones";
};

/// Loads b from a file with an n-by-1 matrix, or from ARCHIVE:MEMBER; b is all ones if `file` is empty. Throws Error as
/// load_matrix does; also throws Error (exit code 2) if the matrix does not have exactly one column.
RightSide load_right_side(const std::string& file);

/// Throws `Error` (exit code 2) for a matrix that is empty or not square, an entry of A or b that is not finite, and a
/// b of another length. solver: its name in messages. matrix: columns as in the whole matrix; right_side: that of the
/// whole matrix.
void check_linear_system(const CsrMatrix& matrix, const RightSide& right_side, std::string_view solver,
                         Neighbours& neighbours);

/// Whether the whole matrix is symmetric (producer/matrix/symmetry.hpp). matrix: square, with the columns of the whole
/// matrix.
bool is_symmetric(const CsrMatrix& matrix, Neighbours& neighbours);

/// The part of b that belongs to the rows of `matrix`.
RightSide own_part(RightSide whole, const CsrMatrix& matrix);

}  // namespace ringside
