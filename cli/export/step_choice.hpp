// SPDX-License-Identifier: BSD-3-Clause
// Chooses the kept steps that `export` writes, from its options.
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

/// The step of --iteration. Throws Error (exit code 2) if it is not kept.
KeptSlot chosen_step(const StepOptions& options, const Recovery& recovery, const std::string& pool);

/// Whether the pool keeps a step of the run of `header`: an archive may have steps of a run that the pool discarded.
bool is_of_a_run_in(const Recovery& pool, const SlotHeader& header) noexcept;

/// A step of the pool or of its archive.
struct ChosenStep {
  KeptSlot kept;
  bool archived = false;
};

/// Of the steps between --from and --to, the first one and every N-th after it. Throws Error (exit code 2) if there are
/// none. The order is that of their commits in the pool. A step that only the archive has, of a run in the pool,
/// precedes the next later iteration of its run.
std::vector<ChosenStep> chosen_steps(const StepOptions& options, const Recovery& recovery, const Recovery& archive,
                                     const std::string& pool);

}  // namespace ringside
