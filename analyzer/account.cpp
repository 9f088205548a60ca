// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/account.hpp"

#include <nlohmann/json.hpp>

namespace ringside {

nlohmann::json to_json(const AnalyzerAccount& account) {
  const auto load = [](const auto& figure) { return figure.load(std::memory_order_relaxed); };
  const auto seconds = [&](const auto& figure) { return static_cast<double>(load(figure)) * 1e-9; };
  return {{"steps_committed", load(account.steps_committed)},
          {"steps_persisted", load(account.steps_persisted)},
          {"bytes_transferred", load(account.bytes_transferred)},
          {"last_iteration", load(account.last_iteration)},
          {"transfer_s", seconds(account.transfer_ns)},
          {"commit_s", seconds(account.commit_ns)},
          {"analyze_s", seconds(account.analyze_ns)},
          {"analyzer_idle_s", seconds(account.analyzer_idle_ns)},
          {"producer_cores_lent_s", seconds(account.producer_cores_lent_ns)},
          {"ended_ns", load(account.ended_ns)}};
}

nlohmann::json to_json(const LatencyHistogram& histogram) {
  return {{"p50", histogram.percentile(0.50)}, {"p99", histogram.percentile(0.99)}, {"max", histogram.max()}};
}

}  // namespace ringside
