// SPDX-License-Identifier: BSD-3-Clause
// `--points FILE`: the positions of a variable's entries in space, as a table of two or three columns.
#pragma once

#include <string>
#include <vector>

namespace ringside {

/// Reads NumPy's npy (f4 or f8, of shape n x 2 or n x 3), or text: two or three numbers per line, separated by commas
/// or blanks. If the first line is not numeric, it is taken as the table's head. Returns x, y, z of each point; z is 0
/// if there are two columns. Throws Error: exit code 2 for anything else, naming the line; 3 if the file cannot be
/// read.
std::vector<double> read_points(const std::string& path);

}  // namespace ringside
