// SPDX-License-Identifier: BSD-3-Clause
// Validates the probes on random hierarchies of caches with a known geometry, and counts the right answers. A test runs
// some, bench_probes runs all.
#pragma once

#include <map>
#include <string>

#include "memory/probe/cache_spec.hpp"
#include "memory/probe/probes.hpp"

namespace ringside::probe {

/// One or two levels of any geometry of a specification, with noise. Equal seeds give equal hierarchies.
CacheSpec random_hierarchy(std::uint64_t seed);

struct Tally {
  int right = 0, wrong = 0, undetermined = 0;
};

struct Validation {
  int hierarchies = 0;
  int fully_right = 0;  // every question about the last level determined and right
  int with_wrong = 0;   // at least one answer was given and false
  std::map<std::string, Tally> questions;
  std::vector<std::string> failures;  // "seed 7: ways: found 4, it is 8 (...)"
};

/// The true answer to a question about the last level, in a probe's words (sizes: as bytes).
std::string truth_of(const CacheSpec& spec, const std::string& question);

Validation validate(std::uint64_t first_seed, int hierarchies);

}  // namespace ringside::probe
