// SPDX-License-Identifier: BSD-3-Clause
// Compares two reductions of the same iterate bit for bit: the one that `replay` computed and the recorded one.
#pragma once

#include <string>
#include <vector>

#include "common/reductions/reduction.hpp"

namespace ringside {

/// A field with different values, in the shortest texts that read back as the same numbers; the bits are added if these
/// texts are equal.
struct FieldDifference {
  std::string field;  // for example "l1", "top[3].row", "histogram[40]"
  std::string recorded;
  std::string recomputed;
};

/// All fields that differ, in the order of the record. Doubles are compared by their bits: -0 differs from 0, and a NaN
/// equals itself.
std::vector<FieldDifference> differences(const Reductions& recorded, const Reductions& recomputed);

}  // namespace ringside
