// SPDX-License-Identifier: BSD-3-Clause
// Reads MatrixMarket text (https://math.nist.gov/MatrixMarket/reports/MMformat.ps). docs/use/run.md describes the
// accepted text and the treatment of duplicates, zeros and symmetry.
#pragma once

#include <string>
#include <string_view>

#include "producer/matrix/csr_matrix.hpp"
#include "producer/matrix/refused_entry.hpp"
#include "producer/matrix/shared_builder.hpp"

namespace ringside {

/// Builds the matrix of a MatrixMarket text, by all OpenMP threads; the result does not depend on their number. `name`
/// is the text's name in messages. Throws `Error` (exit code 2) naming the line, what was found and what would be
/// accepted. In addition to the text, this takes the memory of the stored entries.
CsrMatrix read_matrix_market(std::string_view text, const std::string& name, Orientation orientation);

/// This process's part of the matrix, if each of several processes reads a share of the text. If one process throws an
/// Error, all processes throw it.
CsrMatrix read_matrix_market_share(std::string_view text, const std::string& name, SharedBuilder::How how);

/// The place of an entry or its mirror, or of a row's first entry, in a text that `read_matrix_market` accepts. A place
/// that is a whole row (`kRow`) is on no line.
PlaceInText find_in_matrix_market(std::string_view text, const MatrixPlace& place, IsRefused is_refused);

}  // namespace ringside
