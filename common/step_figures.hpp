// What is known of one step once it was kept and reduced: what the producer said of it, and what the analyzer measured.
// Fixed size, no pointers: the analyzer's main thread leaves one in a queue for each step (docs/live.md).
#pragma once

#include <cstdint>
#include <type_traits>

#include "common/hash.hpp"
#include "common/reduction.hpp"
#include "common/step_descriptor.hpp"

namespace ringside {

/// A step's reductions without the histogram and the top entries, which are eight times as large as all the rest.
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

inline ReductionScalars scalars_of(const Reductions& r) noexcept {
  return {.sum = r.sum,
          .mean = r.mean,
          .min = r.min,
          .max = r.max,
          .l1 = r.l1,
          .l2 = r.l2,
          .linf = r.linf,
          .has_change = r.has_change == 1,
          .change_l1 = r.change_l1,
          .change_l2 = r.change_l2,
          .change_linf = r.change_linf,
          .non_finite = r.non_finite};
}

struct StepFigures {
  Id128 run_id;
  StepDescriptor step;
  std::uint64_t commit_seq = 0;
  std::int64_t analyzer_idle_ns = 0;
  std::int64_t hand_off_ns = 0;
  std::int64_t transfer_ns = 0;
  std::int64_t commit_ns = 0;
  std::int64_t analyze_ns = 0;
  std::uint64_t bytes_transferred = 0;
  std::uint64_t steps_committed = 0;  // of this attachment, with this one
  std::uint64_t steps_persisted = 0;
  ReductionScalars reductions;
  bool rebuilt = false;  // from the ring: what the analyzer measured is not known
};
static_assert(std::is_trivially_copyable_v<StepFigures>);

}  // namespace ringside
