// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a node file must give a node for which a plan can be made, or one Error.
#include <cmath>
#include <cstdlib>

#include "common/platform/error.hpp"
#include "node/file/node_file.hpp"
#include "node/plan/plan.hpp"
#include "tests/fuzz/fuzzing.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace ringside;
  try {
    const Node node = parse_node({reinterpret_cast<const char*>(data), bytes}, "fuzz.json");
    PlanRequest request;
    request.model.problem.rows = 1000;
    request.model.problem.nonzeros = 5000;
    for (const Tier& tier : node.tiers) {
      request.model.tier = tier.name;
      request.model.synced = tier.kind == TierKind::kPageCache;
      for (const PlanRow& row : make_plan(node, request).rows) {
        if (!std::isfinite(row.prediction.total_s)) abort();
      }
    }
  } catch (const Error&) {
  }
  return 0;
}
