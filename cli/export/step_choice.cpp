// SPDX-License-Identifier: BSD-3-Clause
#include "cli/export/step_choice.hpp"

#include <algorithm>
#include <optional>

#include "cli/pool/pool_arguments.hpp"
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
  throw usage_error("--iteration: {} is not kept in {}; {}{}", *wanted, pool, kept_iterations(recovery),
                    in_the_archive(pool, recovery, {*wanted, *wanted}));
}

bool is_of_a_run_in(const Recovery& pool, const SlotHeader& header) noexcept {
  return std::any_of(pool.kept.begin(), pool.kept.end(),
                     [&](const KeptSlot& kept) { return kept.header.run_id == header.run_id; });
}

namespace {

std::vector<ChosenStep> all_steps(const Recovery& pool, const Recovery& archive) {
  std::vector<ChosenStep> steps;
  for (const KeptSlot& kept : pool.kept) steps.push_back({kept, false});
  for (const KeptSlot& kept : archive.kept) {
    const SlotHeader& header = kept.header;
    // The first step in the list that belongs to the same run and has the same or a later iteration.
    const auto place = std::find_if(steps.begin(), steps.end(), [&](const ChosenStep& step) {
      return step.kept.header.run_id == header.run_id && step.kept.header.iteration >= header.iteration;
    });
    const bool is_there = place != steps.end() && place->kept.header.iteration == header.iteration;
    if (!is_there && is_of_a_run_in(pool, header)) steps.insert(place, {kept, true});
  }
  return steps;
}

}  // namespace

std::vector<ChosenStep> chosen_steps(const StepOptions& options, const Recovery& recovery, const Recovery& archive,
                                     const std::string& pool) {
  const IterationRange range = parse_range(options.from, options.to);
  if (recovery.kept.empty()) throw usage_error("{}: the pool holds no iterates", pool);
  std::vector<ChosenStep> chosen;
  std::uint64_t seen = 0;
  for (const ChosenStep& step : all_steps(recovery, archive)) {
    if (range.contains(step.kept.header.iteration) && seen++ % options.every == 0) chosen.push_back(step);
  }
  if (chosen.empty()) {
    throw usage_error("--from, --to: no iteration from {} to {} is kept in {}; {}{}", range.first, range.last, pool,
                      kept_iterations(recovery), in_the_archive(pool, recovery, range));
  }
  return chosen;
}

}  // namespace ringside
