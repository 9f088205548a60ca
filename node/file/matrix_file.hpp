// SPDX-License-Identifier: BSD-3-Clause
// Identifies the matrix of figures. For a file, the argument of --matrix is not enough: a file may have several names,
// and may have changed since the measurement.
#pragma once

#include <optional>
#include <string>

#include "node/model/node.hpp"

namespace ringside {

/// The file that `matrix`, an argument of --matrix, names, as it is now; nothing for grid:SIDE and rmat:SCALE, and if
/// there is no such regular file. columns: the argument of --columns, by which one text is several matrices. Opens nothing. Throws Error (exit code 2) for a generator's name that is malformed.
std::optional<MatrixFile> matrix_file(const std::string& matrix, const std::string& columns = {});

}  // namespace ringside
