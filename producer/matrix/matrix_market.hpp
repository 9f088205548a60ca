// SPDX-License-Identifier: BSD-3-Clause
// Reads MatrixMarket text (https://math.nist.gov/MatrixMarket/reports/MMformat.ps). docs/use/inputs.md describes what
// is accepted, and what becomes of duplicates, zeros and symmetry.
#pragma once

#include <string>
#include <string_view>

#include "producer/matrix/csr_matrix.hpp"
#include "producer/matrix/refused_entry.hpp"
#include "producer/matrix/shared_builder.hpp"

namespace ringside {

/// True if `text` opens with the banner, in any case, blanks before it allowed.
bool has_matrix_market_banner(std::string_view text);

/// Builds the matrix of a MatrixMarket text, by all OpenMP threads; the result is the same for every number of them.
/// `name` is the text's name in messages. Throws `Error` (exit code 2) naming the line, what was found and what would
/// be accepted. Beside the text it needs the memory of the stored entries.
CsrMatrix read_matrix_market(std::string_view text, const std::string& name, Orientation orientation);

/// This process's part, where several read a share of the text each. Where it throws, all processes do.
CsrMatrix read_matrix_market_share(std::string_view text, const std::string& name, SharedBuilder::How how);

/// Where a text that `read_matrix_market` accepts holds an entry or its mirror, or the first entry of a row. A place
/// that is a whole row (`kRow`) is on no line.
PlaceInText find_in_matrix_market(std::string_view text, const MatrixPlace& place, IsRefused is_refused);

}  // namespace ringside
