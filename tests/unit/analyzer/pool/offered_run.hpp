// SPDX-License-Identifier: BSD-3-Clause
// An offered run like that of a built-in solver with one variable, and the pool that such a run leaves.
#pragma once

#include <string>

#include "analyzer/pool/ring_admission.hpp"
#include "common/reductions/reduction_catalogue.hpp"
#include "tests/unit/analyzer/ring/ring_in_memory.hpp"

namespace ringside {

inline OfferedRun offered(const RunDescription& run) {
  return {run, Schema::x_only(run.entries), {residual_scalars().begin(), residual_scalars().end()}};
}

inline RingOptions pool_options(const std::string& path, std::uint32_t slots) {
  RingOptions options;
  options.pool = path;
  options.slots = slots;
  return options;
}

/// Makes a pool with iterations 1 to `iterations` of `run`.
inline void make_pool(const std::string& path, std::uint32_t slots, const RunDescription& run, std::uint64_t iterations,
                      Durability durability = Durability::kProcess) {
  const RingPool pool = RingPool::create(path, RingShape::x_only(run.entries), slots);
  RingWriter writer(pool.ring(), pool.persistence(), pool.storage(), durability);
  begin_x_only(writer, run);
  for (std::uint64_t k = 1; k <= iterations; ++k) commit_iterate(writer, k, run.entries);
  EXPECT_EQ(writer.finish(), 0);
}

}  // namespace ringside
