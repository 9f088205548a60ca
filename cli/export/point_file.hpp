// SPDX-License-Identifier: BSD-3-Clause
// `--points FILE`: where the entries of a variable lie in space, as a table of two or three columns.
#pragma once

#include <string>
#include <vector>

namespace ringside {

/// Reads NumPy's npy (f4 or f8, of shape n x 2 or n x 3), or text: two or three numbers a line, separated by commas or
/// blanks; a first line that is no numbers is taken for a head. Returns x, y, z of each point; z is 0 in a table of two
/// columns. Throws Error: exit code 2 for anything else, naming the line; 3 if the file cannot be read.
std::vector<double> read_points(const std::string& path);

}  // namespace ringside
