// SPDX-License-Identifier: BSD-3-Clause
#include "cli/export/step_choice.hpp"

#include <optional>

#include "cli/pool/iterations.hpp"
#include "common/platform/error.hpp"

namespace ringside {

KeptSlot chosen_step(const StepOptions& options, const Recovery& recovery, const std::string& pool) {
  std::optional<std::uint64_t> wanted;
  if (options.iteration != "last") wanted = parse_iteration(options.iteration, "--iteration", "a number or 'last'");
  if (recovery.kept.empty()) throw usage_error("{}: the pool holds no iterates", pool);
  if (!wanted) return recovery.kept.back();
  for (auto kept = recovery.kept.rbegin(); kept != recovery.kept.rend(); ++kept) {
    if (kept->header.iteration == *wanted) return *kept;
  }
  throw usage_error("--iteration: {} is not kept in {}; {}", *wanted, pool, kept_iterations(recovery));
}

std::vector<KeptSlot> chosen_steps(const StepOptions& options, const Recovery& recovery, const std::string& pool) {
  const IterationRange range = parse_range(options.from, options.to);
  if (recovery.kept.empty()) throw usage_error("{}: the pool holds no iterates", pool);
  std::vector<KeptSlot> chosen;
  std::uint64_t seen = 0;
  for (const KeptSlot& kept : recovery.kept) {
    if (range.contains(kept.header.iteration) && seen++ % options.every == 0) chosen.push_back(kept);
  }
  if (chosen.empty()) {
    throw usage_error("--from, --to: no iteration from {} to {} is kept in {}; {}", range.first, range.last, pool,
                      kept_iterations(recovery));
  }
  return chosen;
}

}  // namespace ringside
