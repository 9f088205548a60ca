// Deliberate faults: what a mistake in the protocol, or a line deleted by accident, would do. Most bend a recorded
// trace as the faulty program would have written it, some change what is hashed. Each must be seen, or the exploration
// proves nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tests/crash/explorer.hpp"
#include "tests/crash/hash_faults.hpp"

namespace ringside::crash {

/// Which checksums a mutant is to be caught with.
enum class Checksums : std::uint8_t {
  kOn,
  kOff,      // the hashes hide it: with them no promise is broken
  kOnAndOff  // it breaks the order, with hashes or without
};

struct Mutant {
  std::string_view fault;
  std::string_view scenario;  // in which it is to be seen, and under which model
  Model model;
  Checksums checksums;
  void (*bend)(Trace& trace, const RingGeometry& geometry);  // of the story's events; null: none
  Hashing hashing = Hashing::kWhole;
  bool flips_bits = false;  // seen when bits flip, not when the power is cut
};

std::span<const Mutant> mutants();

/// The recording as the mutant would have left it.
Recording bent(const Mutant& mutant, Recording recording);

struct Kill {
  std::string violation;     // empty: it lived through all rounds
  std::uint64_t seed = 0;    // of the round that saw it
  std::uint64_t images = 0;  // looked at until then
};

/// Explores the mutant, with checksums or without, in up to `rounds` recordings from `seed` on.
Kill try_to_kill(const Mutant& mutant, bool checksums, std::uint64_t seed, int rounds);

}  // namespace ringside::crash
