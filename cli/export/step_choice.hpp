// SPDX-License-Identifier: BSD-3-Clause
// Which kept steps `export` writes, from its options.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/ring/ring_recovery.hpp"

namespace ringside {

struct StepOptions {
  std::string iteration = "last";
  bool all = false;
  std::string from;
  std::string to;
  std::uint64_t every = 1;
};

/// The one step that --iteration names, if it is kept; else throws Error (exit code 2).
KeptSlot chosen_step(const StepOptions& options, const Recovery& recovery, const std::string& pool);

/// A step of the pool or of its archive.
struct ChosenStep {
  KeptSlot kept;
  bool archived = false;
};

/// Of the steps between --from and --to, the first one and every N-th after it; at least one, else throws Error (exit
/// code 2). In the order of their commits in the pool; one that only the archive has comes before the next later
/// iteration of its run, and before all if its run has none in the pool.
std::vector<ChosenStep> chosen_steps(const StepOptions& options, const Recovery& recovery, const Recovery& archive,
                                     const std::string& pool);

}  // namespace ringside
