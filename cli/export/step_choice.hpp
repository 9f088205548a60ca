// SPDX-License-Identifier: BSD-3-Clause
// Chooses the kept steps that `export` writes, from its options.
#pragma once

#include <cstdint>
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

/// The step of --iteration. Throws Error (exit code 2) if it is not kept.
KeptSlot chosen_step(const StepOptions& options, const Recovery& recovery, const std::string& pool);

/// Whether the pool keeps a step of the run of `header`: an archive may keep steps of a run whose steps the pool has
/// discarded.
bool is_of_a_run_in(const Recovery& pool, const SlotHeader& header) noexcept;

/// A step of the pool or of its archive.
struct ChosenStep {
  KeptSlot kept;
  bool archived = false;
};

/// The chosen steps: the first step between --from and --to, and every N-th step after it. Throws Error (exit code 2)
/// if there are none. The steps are in the order of their commits in the pool. A step that only the archive keeps is
/// included if the pool keeps steps of the same run; it comes before the step with the next later iteration of that
/// run.
std::vector<ChosenStep> chosen_steps(const StepOptions& options, const Recovery& recovery, const Recovery& archive,
                                     const std::string& pool);

}  // namespace ringside
