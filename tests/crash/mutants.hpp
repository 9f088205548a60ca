// SPDX-License-Identifier: BSD-3-Clause
// Deliberate faults: the effects of a mistake in the protocol, or of a line that was deleted by accident. Most mutants
// change a recorded trace into the trace of the faulty program; some change which data are hashed. An exploration that
// does not detect every mutant proves nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tests/crash/explorer.hpp"
#include "tests/crash/hash_faults.hpp"
#include "tests/crash/scenarios/drawn_leases.hpp"

namespace ringside::crash {

/// Whether the exploration must detect a mutant with checksums, without them, or both.
enum class Checksums : std::uint8_t {
  kOn,
  kOff,      // with hashes, the mutant breaks no promise
  kOnAndOff  // the mutant has a wrong order, with hashes and without
};

struct Mutant {
  std::string_view fault;
  std::string_view scenario;  // the scenario in which the mutant must be detected
  Model model;
  Checksums checksums;
  void (*bend)(Trace& trace, const RingGeometry& geometry);  // changes the scenario's events; null: changes none
  Hashing hashing = Hashing::kWhole;
  bool flips_bits = false;  // detected by bit flips, not by power cuts
  bool ignores_leases = false;
};

std::span<const Mutant> mutants();

/// The traced scenario, with the changes of the mutant.
TracedScenario bent(const Mutant& mutant, TracedScenario traced);

struct Kill {
  std::string violation;     // empty: no round detected it
  std::uint64_t seed = 0;    // the seed of the round that detected the mutant
  std::uint64_t images = 0;  // the images checked until then
};

/// Explores the mutant, with checksums or without, in up to `rounds` traces, with the seeds `seed`, `seed` + 1 and so
/// on.
Kill try_to_kill(const Mutant& mutant, bool checksums, std::uint64_t seed, int rounds);

}  // namespace ringside::crash
