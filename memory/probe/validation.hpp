// SPDX-License-Identifier: BSD-3-Clause
// Validates the probes on random hierarchies of caches with a known geometry, and on libringside_memory, whose DRAM
// limit and granule are known. A test runs some of the cases, bench_probes runs all of them.
#pragma once

#include <map>
#include <string>

#include "memory/probe/cache_spec.hpp"
#include "memory/probe/library_memory.hpp"
#include "memory/probe/probes.hpp"

namespace ringside::probe {

/// One or two levels with any geometry that a specification can describe, with noise. Equal seeds give equal
/// hierarchies.
CacheSpec random_hierarchy(std::uint64_t seed);

struct Tally {
  int right = 0, wrong = 0, undetermined = 0;
};

struct Validation {
  int hierarchies = 0;
  int fully_right = 0;  // every question about the last level was determined, and correctly
  int with_wrong = 0;   // at least one answer was given and false
  std::map<std::string, Tally> questions;
  std::vector<std::string> failures;  // "seed 7: ways: found 4, it is 8 (...)"
};

/// The true answer to a question about the last level, in the words that a probe uses (sizes in bytes).
std::string truth_of(const CacheSpec& spec, const std::string& question);

Validation validate(std::uint64_t first_seed, int hierarchies);

struct LibraryCase {
  LibraryChoice choice;
  ProbeReport report;

  /// Whether the question has a right answer. "size" must be within 12 % of the DRAM limit, and "line" must be exactly
  /// the granule.
  bool is_right(const std::string& question) const;
  bool no_answer_is_wrong() const;
};

/// Probes a library started with `choice`. Throws LibraryRefusal.
LibraryCase probe_library(const LibraryChoice& choice, const ProbeChoice& questions = {});

}  // namespace ringside::probe
