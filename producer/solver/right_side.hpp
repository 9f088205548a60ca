// SPDX-License-Identifier: BSD-3-Clause
// The right side b of a system of equations A x = b.
#pragma once

#include <string>

#include "producer/matrix/array.hpp"

namespace ringside {

/// `name` stands for the content in problem_id: a different b needs a different name.
struct RightSide {
  Array<double> value;  // one per row, or empty: all ones
  std::string name = "ones";
};

/// From an n-by-1 matrix file, or ARCHIVE:MEMBER; all ones if `file` is empty. Throws Error as load_matrix does, and (exit code 2) if the
/// matrix has another number of columns than 1.
RightSide load_right_side(const std::string& file);

}  // namespace ringside
