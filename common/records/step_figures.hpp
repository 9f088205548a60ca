// SPDX-License-Identifier: BSD-3-Clause
// The figures of one committed and reduced step, without its results: the figures that the producer reported, and the
// figures that the analyzer measured. The structs have a fixed size and no pointers, because the analyzer's main thread
// puts a struct into a queue for each step (docs/use/live.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "common/handoff/step_descriptor.hpp"
#include "common/kernels/hash.hpp"
#include "common/reductions/reduction.hpp"

namespace ringside {

/// The reductions of one field as doubles, without the histogram and the top entries: for tables and older keys.
struct ReductionScalars {
  double sum = 0;
  double mean = 0;
  double min = 0;
  double max = 0;
  double l1 = 0;
  double l2 = 0;
  double linf = 0;
  bool has_change = false;
  double change_l1 = 0;
  double change_l2 = 0;
  double change_linf = 0;
  std::uint64_t non_finite = 0;
};

/// Calls visit(name, &ReductionScalars::name, &Reductions::name) for each scalar. This is the only list of the scalars;
/// copying and comparing use it. The names are the names of the record's fields (proto/ringside.proto).
template <class Visit>
constexpr void for_each_scalar(Visit&& visit) {
  visit("sum", &ReductionScalars::sum, &Reductions::sum);
  visit("mean", &ReductionScalars::mean, &Reductions::mean);
  visit("min", &ReductionScalars::min, &Reductions::min);
  visit("max", &ReductionScalars::max, &Reductions::max);
  visit("l1", &ReductionScalars::l1, &Reductions::l1);
  visit("l2", &ReductionScalars::l2, &Reductions::l2);
  visit("linf", &ReductionScalars::linf, &Reductions::linf);
  visit("has_change", &ReductionScalars::has_change, &Reductions::has_change);
  visit("change_l1", &ReductionScalars::change_l1, &Reductions::change_l1);
  visit("change_l2", &ReductionScalars::change_l2, &Reductions::change_l2);
  visit("change_linf", &ReductionScalars::change_linf, &Reductions::change_linf);
  visit("non_finite", &ReductionScalars::non_finite, &Reductions::non_finite);
}

constexpr std::size_t scalar_count() noexcept {
  std::size_t count = 0;
  for_each_scalar([&count](auto...) { ++count; });
  return count;
}

// This function does not compile if a member is added to either struct but not to the list: the left side must have as
// many names as ReductionScalars has members, and Reductions consists of rows, the scalars, top_count, top and
// histogram.
constexpr bool lists_every_scalar(const ReductionScalars& scalars) noexcept {
  [[maybe_unused]] const auto& [sum, mean, min, max, l1, l2, linf, has_change, change_l1, change_l2, change_linf,
                                non_finite] = scalars;
  return scalar_count() == 12;
}
static_assert(lists_every_scalar({}));
static_assert(sizeof(Reductions) ==
              (scalar_count() + 2) * sizeof(std::uint64_t) + sizeof(Reductions::top) + sizeof(Reductions::histogram));

struct StepFigures {
  Id128 run_id;
  StepDescriptor step;
  std::uint64_t commit_seq = 0;
  std::int64_t analyzer_idle_ns = 0;
  std::int64_t hand_off_ns = 0;
  std::int64_t transfer_ns = 0;
  std::int64_t commit_ns = 0;
  std::int64_t analyze_ns = 0;
  std::int64_t record_ns = 0;  // for the previous step: this step is not yet fully recorded when its figures are taken
  std::uint64_t bytes_transferred = 0;
  std::uint64_t steps_committed = 0;  // in this attachment, including this step
  std::uint64_t steps_persisted = 0;
  std::uint64_t guarded_commit_seq = 0;  // the commit of the last finite step, which is not overwritten; 0: none
  bool broke_lease = false;              // whether this step overwrote one that a reader held
  bool rebuilt = false;                  // whether the record was made from the ring, without measurements
};
static_assert(std::is_trivially_copyable_v<StepFigures>);

/// Committed steps without a record: consecutive commits of one run. Unknown fields are 0.
struct MissingSteps {
  Id128 run_id;
  std::uint64_t first_step = 0;        // the step number of the first commit within its attachment
  std::uint64_t steps = 0;             // the number of commits
  std::uint64_t first_commit_seq = 0;  // the number of the first commit
  std::uint64_t first_iteration = 0;   // a lower bound of the commits' iterations
  std::uint64_t last_iteration = 0;    // an upper bound of the commits' iterations
};

}  // namespace ringside
