// The ways in which pools and journals are damaged, each by chance within its kind.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "tests/tamper/specimens.hpp"

namespace ringside::testing {

/// What may be expected of a damaged specimen.
struct Damage {
  std::string kind;
  std::string what;  // for whoever reads a violation
  // The pool at the place is, as a whole, this specimen's: its problem, its iterates. Else nothing of it is.
  const Specimen* pool = nullptr;
  const Specimen* journal = nullptr;  // whose the journal is
  // Hashes were made again over changed fields, which a format without a secret cannot notice: iterates may come under
  // another number, and a resumed run may go on from there.
  bool numbers_forged = false;
  bool records_forged = false;  // the same in the journal
};

/// Damages `files`, which are those of all[of].
Damage damage(Files& files, const std::vector<Specimen>& all, std::size_t of, std::mt19937_64& random);

}  // namespace ringside::testing
