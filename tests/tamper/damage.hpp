// SPDX-License-Identifier: BSD-3-Clause
// The kinds of damage to pools and journals. Within a kind, the damage is random.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "tests/tamper/specimens.hpp"

namespace ringside::testing {

/// The damage of a specimen, and what is expected from the damaged files.
struct Damage {
  std::string kind;
  std::string what;  // describes the damage if an expectation is not met
  // The specimen whose problem and iterates the damaged pool has.
  const Specimen* pool = nullptr;
  const Specimen* journal = nullptr;  // the specimen to which the journal belongs
  // Hashes were recomputed for changed fields; a format without a secret cannot detect this. Therefore iterates may
  // have another number, and a resumed run may continue from such a number.
  bool numbers_forged = false;
  bool records_forged = false;  // the journal may have other or changed records
};

/// Damages `files`, a copy of the files of the specimen all[of].
Damage damage(Files& files, const std::vector<Specimen>& all, std::size_t of, std::mt19937_64& random);

}  // namespace ringside::testing
