// SPDX-License-Identifier: BSD-3-Clause
// Deliberate faults: the effects of a mistake in the protocol, or of a line deleted by accident. Most change a recorded
// trace into the trace that the faulty program would have written; some change the hashed data. The exploration must
// detect each of them; otherwise it proves nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tests/crash/explorer.hpp"
#include "tests/crash/hash_faults.hpp"
#include "tests/crash/scenarios/drawn_leases.hpp"

namespace ringside::crash {

/// With which checksums the exploration must detect a mutant.
enum class Checksums : std::uint8_t {
  kOn,
  kOff,      // with hashes, the mutant breaks no promise
  kOnAndOff  // the mutant breaks the order, with hashes or without
};

struct Mutant {
  std::string_view fault;
  std::string_view scenario;  // the scenario in which it must be detected; the model follows
  Model model;
  Checksums checksums;
  void (*bend)(Trace& trace, const RingGeometry& geometry);  // changes the scenario's events; null: bends none
  Hashing hashing = Hashing::kWhole;
  bool flips_bits = false;  // detected by bit flips, not by power cuts
  bool ignores_leases = false;
};

std::span<const Mutant> mutants();

/// The traced scenario as the mutant would have left it.
TracedScenario bent(const Mutant& mutant, TracedScenario traced);

struct Kill {
  std::string violation;     // empty: no round detected it
  std::uint64_t seed = 0;    // the seed of the round that detected the mutant
  std::uint64_t images = 0;  // the images checked until then
};

/// Explores the mutant, with checksums or without, in up to `rounds` traces from `seed` on.
Kill try_to_kill(const Mutant& mutant, bool checksums, std::uint64_t seed, int rounds);

}  // namespace ringside::crash
