// SPDX-License-Identifier: BSD-3-Clause
// The ways in which pools and journals are damaged, each at random within its kind.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "tests/tamper/specimens.hpp"

namespace ringside::testing {

/// What to expect of a damaged specimen.
struct Damage {
  std::string kind;
  std::string what;  // for the reader of a violation
  // The specimen whose problem and iterates the damaged pool has.
  const Specimen* pool = nullptr;
  const Specimen* journal = nullptr;  // the specimen whose journal it is
  // Hashes were recomputed over changed fields, which a format without a secret cannot detect: iterates may have
  // another number, and a resumed run may continue from such a number.
  bool numbers_forged = false;
  bool records_forged = false;  // the same in the journal
};

/// Damages `files`, which are those of all[of].
Damage damage(Files& files, const std::vector<Specimen>& all, std::size_t of, std::mt19937_64& random);

}  // namespace ringside::testing
