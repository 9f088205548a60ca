// Cuts the power at every moment of a recorded scenario and judges what is left, also of a recovery that is cut off
// itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/crash/crash_images.hpp"
#include "tests/crash/invariants.hpp"
#include "tests/crash/scenarios.hpp"

namespace ringside::crash {

/// How closely is looked.
struct Depth {
  Sampling images;
  Sampling during_recovery{16, 2, 2};
  std::uint64_t going_on_every = 32;     // one image in so many is also reopened by an owner, who goes on with the run,
  std::uint64_t cut_again_every = 4096;  // and of one in so many that owner's work is cut off as well
};

/// What every change is tested with: all scenarios in about a minute.
inline constexpr Depth kQuick{{64, 8, 6}, {4, 1, 1}, 32, 1024};

struct Violation {
  std::uint64_t event = 0;
  std::uint64_t image = 0;  // of that event, counted from 0
  std::string where;        // phase, and event and image of the recovery that was cut off, if one was
  std::string what;
};

struct Exploration {
  std::uint64_t events = 0;              // at which images were made
  std::uint64_t images = 0;              // first cuts
  std::uint64_t images_in_recovery = 0;  // second cuts
  std::uint64_t went_on = 0;             // images after which an owner went on with the run
  std::optional<Violation> violation;    // the first one: nothing is explored after it
};

/// Makes and judges the images of every moment of the recording, or only of the one after event `only`.
/// hashes_hold: checksums are on. seed: of what is chosen by chance.
Exploration explore(const Recording& recording, Model model, bool hashes_hold, const Depth& depth, std::uint64_t seed,
                    std::optional<std::uint64_t> only = std::nullopt);

/// One scenario on one storage, under one model: what the promises differ in.
struct Case {
  const Scenario* scenario;
  Storage storage;
  Durability durability;
  Model model;
};

std::vector<Case> all_cases();
std::string name_of(const Case& one);

}  // namespace ringside::crash
