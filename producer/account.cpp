// SPDX-License-Identifier: BSD-3-Clause
#include "producer/account.hpp"

#include <nlohmann/json.hpp>

namespace ringside {

nlohmann::json to_json(const ProducerAccount& account) {
  const auto seconds = [](std::int64_t ns) { return static_cast<double>(ns) * 1e-9; };
  return {{"iterations", account.iterations.load(std::memory_order_relaxed)},
          {"resumed_from", account.resumed_from.load(std::memory_order_relaxed)},
          {"converged", account.converged.load(std::memory_order_relaxed)},
          {"residual_l1", account.residual_l1.load(std::memory_order_relaxed)},
          {"residual_linf", account.residual_linf.load(std::memory_order_relaxed)},
          {"criterion", account.criterion.load(std::memory_order_relaxed)},
          {"residual_growth", account.residual_growth.load(std::memory_order_relaxed)},
          {"iterations_left", account.iterations_left.load(std::memory_order_relaxed)},
          {"steps_published", account.steps_published.load(std::memory_order_relaxed)},
          {"steps_skipped", account.steps_skipped.load(std::memory_order_relaxed)},
          {"load_s", seconds(account.load_ns.load(std::memory_order_relaxed))},
          {"generate_s", seconds(account.generate_ns.load(std::memory_order_relaxed))},
          {"producer_idle_s", seconds(account.producer_idle_ns.load(std::memory_order_relaxed))},
          {"analyzer_cores_lent_s", seconds(account.analyzer_cores_lent_ns.load(std::memory_order_relaxed))},
          {"begun_ns", account.begun_ns.load(std::memory_order_relaxed)},
          {"ended_ns", account.ended_ns.load(std::memory_order_relaxed)}};
}

}  // namespace ringside
