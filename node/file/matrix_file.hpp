// SPDX-License-Identifier: BSD-3-Clause
// Identifies the matrix to which figures belong. For a file, the argument of --matrix is not enough: a file may have
// several names, and may have changed since the measurement.
#pragma once

#include <optional>
#include <string>

#include "node/model/node.hpp"

namespace ringside {

/// The present file of `matrix`, an argument of --matrix; empty for grid:SIDE and rmat:SCALE, or if it is not a regular
/// file. columns: the argument of --columns, which selects one of a text's matrices. Does not open the file. Throws
/// Error (exit code 2) if a generator's name is malformed.
std::optional<MatrixFile> matrix_file(const std::string& matrix, const std::string& columns = {});

}  // namespace ringside
