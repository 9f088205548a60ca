// SPDX-License-Identifier: BSD-3-Clause
// Compares two kept iterates bit by bit. Chunks with equal hashes are not read: the hashes were computed from the
// committed bytes, and each slot's header confirms the slot's hashes. Chunks that differ are copied and verified before
// their values are compared, so that damage is not mistaken for a difference.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/compare/value_distance.hpp"
#include "common/ring/ring_recovery.hpp"
#include "common/ring/ring_view.hpp"

namespace ringside {

/// One of the two iterates.
struct ComparedIterate {
  const RingView* ring = nullptr;
  KeptSlot kept;
};

/// The first value that differs, in the order of the variables and of their entries.
struct FirstDifference {
  std::string variable;
  std::uint64_t entry = 0;            // its index among the entries of the variable, from 0
  std::vector<std::uint64_t> index;   // its index in each dimension; empty: the variable has no shape
  std::string first;                  // the two values as text
  std::string second;
  ValueDistance distance;
  std::uint64_t entries_differing = 0;  // the number of differing entries in all variables
  std::uint64_t entries = 0;
  std::vector<std::string> variables;  // the variables that differ
};

struct IterateComparison {
  enum class Outcome {
    kEqual,
    kDiffers,
    kOverwritten,  // another commit overwrote one of the slots during the comparison
    kDamaged       // the hashes of one of the iterates do not match its bytes
  };
  Outcome outcome = Outcome::kEqual;
  FirstDifference difference;         // valid if kDiffers
  bool damaged_second = false;        // valid if kDamaged: whether the second iterate is the damaged one
};

/// Both rings must have the same schema.
IterateComparison compare_iterates(const ComparedIterate& first, const ComparedIterate& second);

/// "x[17]", "u[3, 4]", "count"
std::string place_text(const FirstDifference& difference);

}  // namespace ringside
