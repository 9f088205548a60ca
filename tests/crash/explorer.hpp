// SPDX-License-Identifier: BSD-3-Clause
// Cuts the power at every moment of a recorded scenario, and judges every image that may remain. Some recoveries from
// these images are cut off, too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/crash/images/crash_images.hpp"
#include "tests/crash/invariants.hpp"
#include "tests/crash/scenarios/scenarios.hpp"

namespace ringside::crash {

/// How thoroughly images are checked.
struct Depth {
  Sampling images;
  Sampling during_recovery{16, 2, 2};
  std::uint64_t going_on_every = 32;     // 1 of this many images: an owner also continues the run;
  std::uint64_t cut_again_every = 4096;  // 1 of this many images: the owner's work is cut off, too
};

/// The depth for the tests of every change: all scenarios take about a minute.
inline constexpr Depth kQuick{{64, 8, 6}, {4, 1, 1}, 32, 1024};

struct Violation {
  std::uint64_t event = 0;
  std::uint64_t image = 0;  // the number of the image after that event, counted from 0
  std::string where;        // the phase, and the event of the recovery if the recovery was cut off
  std::string what;
};

struct Exploration {
  std::uint64_t events = 0;              // the number of events after which images were made
  std::uint64_t images = 0;              // images after a first cut
  std::uint64_t images_in_recovery = 0;  // images after a second cut
  std::uint64_t continued = 0;           // images from which an owner continued the run
  std::optional<Violation> violation;    // the first one: nothing is explored after it
};

/// Makes and judges the images of every moment of the traced scenario, or only of the moment after event `only`.
/// hashes_hold: whether checksums are on. seed: decides all random choices.
Exploration explore(const TracedScenario& traced, Model model, bool hashes_hold, const Depth& depth, std::uint64_t seed,
                    std::optional<std::uint64_t> only = std::nullopt);

/// Explores damage of the medium instead of power cuts. Whichever bit is flipped, every iterate that is returned was
/// published, and at most the slot that contains the bit is lost.
///
/// In the pool that the traced scenario leaves, flips one bit at a time: each bit of each slot's meta area and payload,
/// of both run tables and of both superblocks. The violation's `image` is the bit, counted from the beginning of the
/// pool.
Exploration explore_bit_flips(const TracedScenario& traced);

/// One scenario on one storage with one durability, under one model. The promises depend on all four.
struct Case {
  const Scenario* scenario;
  Storage storage;
  Durability durability;
  Model model;
};

std::vector<Case> all_cases();
std::string name_of(const Case& one);

}  // namespace ringside::crash
