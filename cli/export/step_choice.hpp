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

/// Of the steps between --from and --to, in the order of their commits, the first one and every N-th after it; at least
/// one, else throws Error (exit code 2).
std::vector<KeptSlot> chosen_steps(const StepOptions& options, const Recovery& recovery, const std::string& pool);

}  // namespace ringside
