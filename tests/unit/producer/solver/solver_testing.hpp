// SPDX-License-Identifier: BSD-3-Clause
// What the tests of the solvers of A x = b share.
#pragma once

#include <algorithm>
#include <vector>

#include "producer/solver/right_side.hpp"

namespace ringside::testing {

inline RightSide right_side_of(const std::vector<double>& values) {
  RightSide b{Array<double>(values.size()), "test"};
  std::copy(values.begin(), values.end(), b.value.begin());
  return b;
}

}  // namespace ringside::testing
