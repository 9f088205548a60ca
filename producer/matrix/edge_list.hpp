// SPDX-License-Identifier: BSD-3-Clause
// Reads edge lists: each line has `u v`, `u v weight`, or the given columns. The counts that the text announces and the
// ids decide the number of rows and the row of each id (docs/use/run.md).
#pragma once

#include <string>
#include <string_view>

#include "producer/matrix/csr_matrix.hpp"
#include "producer/matrix/edge_columns.hpp"
#include "producer/matrix/refused_entry.hpp"
#include "producer/matrix/shared_builder.hpp"

namespace ringside {

/// Builds the matrix of an edge list, by all OpenMP threads; the result does not depend on their number. `name` is the
/// text's name in messages. Throws `Error` (exit code 2) naming the line, what was found and what would be accepted.
CsrMatrix read_edge_list(std::string_view text, const std::string& name, Orientation orientation,
                         const EdgeColumns& columns = {});

/// This process's part of the matrix, if each of several processes reads a share of the text. Each process first
/// surveys the whole text. If one process throws an Error, all processes throw it.
CsrMatrix read_edge_list_share(std::string_view text, const std::string& name, SharedBuilder::How how,
                               const EdgeColumns& columns = {});

/// The place of a weighted edge, or of a node's first outgoing edge, in a text that `read_edge_list` accepts. A place
/// that is a whole row (`kRow`) is on no line.
PlaceInText find_in_edge_list(std::string_view text, const MatrixPlace& place, IsRefused is_refused,
                              const EdgeColumns& columns = {});

}  // namespace ringside
