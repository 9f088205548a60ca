// SPDX-License-Identifier: BSD-3-Clause
// What a solver requires of a matrix, and the hash that identifies a matrix's content.
#pragma once

#include <string_view>

#include "producer/matrix/csr_matrix.hpp"

namespace ringside {

/// Throws `Error` (exit code 2) unless the matrix has as many rows as columns. `what`: the matrix's name in messages,
/// usually its file.
void check_square(const CsrMatrix& matrix, std::string_view what);

/// Throws `RefusedEntry` for an entry whose weight is negative, infinite or not a number.
void check_weights_for_pagerank(const CsrMatrix& matrix);

/// The value of `CsrMatrix::content_id`: a hash of shape, orientation and the arrays' hashes. Uses all OpenMP threads;
/// their number does not affect it.
Id128 hash_content(const CsrMatrix& matrix);

}  // namespace ringside
