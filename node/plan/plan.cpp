// SPDX-License-Identifier: BSD-3-Clause
#include "node/plan/plan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <utility>

#include "common/platform/error.hpp"

namespace ringside {
namespace {

constexpr int kSamples = 40;
constexpr double kMostSpread = 1;  // limits the spread: a figure with more spread is unknown anyway
constexpr double kAlike = 0.005;   // expected times closer than this count as equal
// Half the distance from the 10th to the 90th percentile of a normal distribution, in standard deviations.
constexpr double kSpreadInDeviations = 1.2816;

/// The numbers of producer and analyzer cores: the numbers that the user fixed (if only one is fixed, the other side
/// gets the remaining cores), or else all splits that use every core. On a large machine, only each second, third, ...
/// analyzer count beyond sixteen is used, so that a plan stays short.
std::vector<std::pair<int, int>> splits(int cores, const PlanRequest& request) {
  constexpr int kEach = 16;
  constexpr int kMost = 32;
  const auto& producer = request.producer_threads;
  const auto& analyzer = request.analyzer_threads;
  if (producer || analyzer) {
    const std::pair<int, int> fixed = {producer.value_or(cores - analyzer.value_or(0)),
                                       analyzer.value_or(cores - producer.value_or(0))};
    if (fixed.first < 1 || fixed.second < 1 || fixed.first + fixed.second > cores) return {};
    return {fixed};
  }
  std::vector<std::pair<int, int>> all;
  for (int count = 1; count < cores; count += count < kEach ? 1 : std::max(1, cores / kMost)) {
    all.emplace_back(cores - count, count);
  }
  return all;
}

std::vector<Configuration> configurations(const NodeModel& model, const PlanRequest& request,
                                          std::vector<std::string>& remarks) {
  const bool reducing_copy_known = model.find(KernelKind::kTransferReduced) != nullptr;
  const bool loan_known = model.costs.loan_s.has_value() && model.costs.wake_up_s.has_value();
  std::vector<bool> reduce_modes = {false};
  std::vector<bool> elastic_modes = {false};
  if (reducing_copy_known) reduce_modes.push_back(true);
  if (loan_known) elastic_modes.push_back(true);
  if (!reducing_copy_known)
    remarks.push_back("--reduce transfer: n/a: the node file has no seconds of transfer_reduced");
  if (!loan_known) remarks.push_back("--elastic: n/a: the node file lacks loan_s or wake_up_s");
  if (!model.costs.hand_off_s)
    remarks.push_back("the node file has no hand_off_s: a hand-off is assumed to cost nothing");
  std::vector<Configuration> all;
  for (const auto& [producer, analyzer] : splits(model.cores, request)) {
    for (const bool reduce : reduce_modes) {
      if (request.reduce_on_transfer.value_or(reduce) != reduce) continue;
      for (const bool elastic : elastic_modes) {
        if (request.elastic.value_or(elastic) == elastic) all.push_back({producer, analyzer, reduce, elastic});
      }
    }
  }
  return all;
}

void scale(Series& seconds, double factor) {
  for (Series::Point& point : seconds.points) point.figure.value *= factor;
}

bool simpler(const Configuration& a, const Configuration& b) {
  return (a.elastic ? 2 : 0) + (a.reduce_on_transfer ? 1 : 0) < (b.elastic ? 2 : 0) + (b.reduce_on_transfer ? 1 : 0);
}

std::size_t best_of(const std::vector<PlanRow>& rows) {
  const auto least = std::min_element(rows.begin(), rows.end(),
                                      [](const PlanRow& a, const PlanRow& b) { return a.expected_s < b.expected_s; });
  auto best = least;
  for (auto row = rows.begin(); row != rows.end(); ++row) {
    if (row->expected_s <= least->expected_s * (1 + kAlike) && simpler(row->configuration, best->configuration))
      best = row;
  }
  return static_cast<std::size_t>(best - rows.begin());
}

}  // namespace

NodeModel resampled(const NodeModel& model, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  const auto factor = [&](double spread) {
    return std::exp(std::min(spread, kMostSpread) / kSpreadInDeviations * normal(generator));
  };
  NodeModel drawn = model;
  std::array<double, kKernelKindCount> factors{};
  for (std::size_t kernel = 0; kernel < kKernelKindCount; ++kernel) {
    factors[kernel] = factor(model.kernels[kernel] ? model.kernels[kernel]->spread : 0);
    if (drawn.kernels[kernel]) scale(drawn.kernels[kernel]->seconds, factors[kernel]);
  }
  const double coupling = factor(model.coupling_error.value_or(0));
  // While another kernel runs, a kernel is drawn at most a fifth faster than alone, because a larger gain would be
  // noise. If it was measured to be even faster, the limit is the measured gain.
  const auto draw_beside = [&](Measured& beside, KernelKind kernel, int threads) {
    constexpr double kMostGain = 0.8;
    const double alone_s = seconds_at(model.find(kernel)->seconds, threads);
    const double ratio = beside.value / alone_s;
    const double drawn_ratio = std::max(ratio * factor(beside.spread), std::min(ratio, kMostGain));
    beside.value = drawn_ratio * alone_s * factors[static_cast<std::size_t>(kernel)];
  };
  for (PairFigures& pair : drawn.pairs) {
    draw_beside(pair.first_s, pair.first, pair.first_threads);
    draw_beside(pair.second_s, pair.second, pair.second_threads);
  }
  for (std::optional<Measured>* figure : {&drawn.costs.hand_off_s, &drawn.costs.wake_up_s, &drawn.costs.loan_s,
                                          &drawn.costs.barrier_s, &drawn.sync_s, &drawn.sync_gb_s}) {
    if (*figure) (*figure)->value *= factor((*figure)->spread);
  }
  const double channels = factor(model.capacity_spread) * coupling;
  for (double& capacity : drawn.capacity_bytes_s) capacity *= channels;
  return drawn;
}

Plan make_plan(const Node& node, const PlanRequest& request) {
  const NodeModel model = model_of(node, request.model);
  Plan plan;
  plan.remarks = request.remarks;
  plan.remarks.insert(plan.remarks.end(), model.remarks.begin(), model.remarks.end());
  plan.exponent = model.exponent;
  plan.capacity_bytes_s = model.capacity_bytes_s;
  plan.coupling_error = model.coupling_error;
  std::vector<NodeModel> samples;
  for (int sample = 0; sample < kSamples; ++sample)
    samples.push_back(resampled(model, static_cast<std::uint64_t>(sample + 1)));
  for (const Configuration& configuration : configurations(model, request, plan.remarks)) {
    PlanRow row{.configuration = configuration, .prediction = simulate(model, configuration, request.run)};
    std::vector<double> totals;
    for (const NodeModel& sample : samples) totals.push_back(simulate(sample, configuration, request.run).total_s);
    std::sort(totals.begin(), totals.end());
    for (const double total : totals) row.expected_s += total / kSamples;
    row.low_s = totals[kSamples / 20];
    row.high_s = totals[kSamples - 1 - kSamples / 20];
    plan.rows.push_back(row);
  }
  if (plan.rows.empty()) {
    throw usage_error("{}: found no configuration that fits the options and {} cores", node.name, model.cores);
  }
  plan.best = best_of(plan.rows);
  return plan;
}

}  // namespace ringside
