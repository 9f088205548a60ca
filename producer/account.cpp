// SPDX-License-Identifier: BSD-3-Clause
#include "producer/account.hpp"

#include "common/json/json.hpp"

namespace ringside {

Json to_json(const ProducerAccount& account) {
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

Json far_account(const SolveOptions& options, const std::optional<FarUse>& begin) {
  Json account{{"matrix_memory", options.matrix_memory}};
  const std::optional<FarUse> now = far_use();
  if (!now) return account;
  const FarUse before = begin.value_or(FarUse{});
  account["dram_limit_bytes"] = options.dram_limit_bytes;
  account["matrix_far_bytes"] = now->far_bytes;
  account["matrix_in_place_bytes"] = now->in_place_bytes;
  account["matrix_dram_peak_bytes"] = now->dram_peak_bytes;
  account["matrix_faults"] = now->faults - before.faults;
  account["matrix_fault_s"] = static_cast<double>(now->fault_ns - before.fault_ns) * 1e-9;
  account["matrix_far_read_bytes"] = now->read_bytes - before.read_bytes;
  return account;
}

}  // namespace ringside
