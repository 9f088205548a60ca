// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/account.hpp"

#include "common/json/json.hpp"

namespace ringside {

void PublisherAccount::add(const StepDescriptor& step) noexcept {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  if (begun_ns.load(kRelaxed) == 0) {
    begun_ns.store(step.published_at_ns - step.generate_ns - step.producer_idle_ns, kRelaxed);
  }
  generate_ns.store(generate_ns.load(kRelaxed) + step.generate_ns, kRelaxed);
  producer_idle_ns.store(producer_idle_ns.load(kRelaxed) + step.producer_idle_ns, kRelaxed);
  steps_skipped.store(steps_skipped.load(kRelaxed) + step.skipped_before, kRelaxed);
  published_at_ns.store(step.published_at_ns, kRelaxed);
  set_change(step);
}

void PublisherAccount::set_change(const StepDescriptor& step) noexcept {
  residual_l1.store(step.residual_l1, std::memory_order_relaxed);
  residual_linf.store(step.residual_linf, std::memory_order_relaxed);
}

Json to_json(const AnalyzerAccount& account) {
  const auto load = [](const auto& figure) { return figure.load(std::memory_order_relaxed); };
  const auto seconds = [&](const auto& figure) { return static_cast<double>(load(figure)) * 1e-9; };
  return {{"steps_committed", load(account.steps_committed)},
          {"steps_persisted", load(account.steps_persisted)},
          {"steps_not_kept", load(account.steps_not_kept)},
          {"leases_broken", load(account.leases_broken)},
          {"bytes_transferred", load(account.bytes_transferred)},
          {"last_iteration", load(account.last_iteration)},
          {"transfer_s", seconds(account.transfer_ns)},
          {"commit_s", seconds(account.commit_ns)},
          {"analyze_s", seconds(account.analyze_ns)},
          {"record_s", seconds(account.record_ns)},
          {"analyzer_idle_s", seconds(account.analyzer_idle_ns)},
          {"producer_cores_lent_s", seconds(account.producer_cores_lent_ns)},
          {"ended_ns", load(account.ended_ns)}};
}

Json publisher_json(const AnalyzerAccount& account) {
  const auto load = [](const auto& figure) { return figure.load(std::memory_order_relaxed); };
  const auto seconds = [&](const auto& figure) { return static_cast<double>(load(figure)) * 1e-9; };
  const PublisherAccount& publisher = account.publisher;
  const auto change = [&](const auto& figure) { return load(publisher.has_change) ? Json(load(figure)) : Json(); };
  return {{"iterations", load(account.last_iteration)},
          {"steps_published", load(account.steps_committed)},
          {"steps_skipped", load(publisher.steps_skipped)},
          {"residual_l1", change(publisher.residual_l1)},
          {"residual_linf", change(publisher.residual_linf)},
          {"generate_s", seconds(publisher.generate_ns)},
          {"producer_idle_s", seconds(publisher.producer_idle_ns)},
          {"begun_ns", load(publisher.begun_ns)},
          {"ended_ns", load(publisher.published_at_ns)}};
}

Json to_json(const LatencyHistogram& histogram) {
  return {{"p50", histogram.percentile(0.50)}, {"p99", histogram.percentile(0.99)}, {"max", histogram.max()}};
}

}  // namespace ringside
