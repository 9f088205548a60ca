// SPDX-License-Identifier: BSD-3-Clause
// What every solver of A x = b demands of A and b. What only some of them demand stands in their own files.
#pragma once

#include <string_view>

#include "producer/matrix/csr_matrix.hpp"
#include "producer/solver/neighbours.hpp"
#include "producer/solver/right_side.hpp"

namespace ringside {

/// Throws `Error` (exit code 2) for a matrix that is empty or not square, an entry of A or b that is not finite, and a
/// b of another length. solver: its name in messages. matrix: columns as in the whole; right_side: of the whole.
void check_linear_system(const CsrMatrix& matrix, const RightSide& right_side, std::string_view solver,
                         Neighbours& neighbours);

/// Whether the whole matrix is (producer/matrix/symmetry.hpp). matrix: square, columns as in the whole.
bool is_symmetric(const CsrMatrix& matrix, Neighbours& neighbours);

/// The part of b that belongs to the rows of `matrix`.
RightSide own_part(RightSide whole, const CsrMatrix& matrix);

}  // namespace ringside
