// SPDX-License-Identifier: BSD-3-Clause
// The placement formula and both versions of the stencil (thesis, chapter 6). The rates come from the competition
// NVM-NVM with equal thread counts. The stencil runs with the predicted distribution of the rows and with similar
// distributions.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "node/experiments/experiment.hpp"
#include "node/streams/cores.hpp"
#include "node/streams/repeats.hpp"
#include "node/streams/stream_table.hpp"
#include "node/streams/tier_memory.hpp"
#include "node/workloads/competition.hpp"
#include "node/workloads/placement.hpp"
#include "node/workloads/split_stencil.hpp"

namespace ringside {
namespace {

constexpr int kUsualSweeps = 10;
constexpr int kMostOtherThreads = 5;
constexpr int kCompetitionRepeats = 20;
// The factors by which the predicted share of the other memory is multiplied.
constexpr double kTried[] = {0.25, 0.5, 0.75, 1, 1.25, 1.5, 2};

struct Trial {
  int version;
  int other_threads;
  std::uint64_t lower_rows;
  bool predicted;
  double total_s;
};

ResultTable empty_formula_table() {
  return {"formula",
          "The formula x = D S_n / (S_n + S_d), with the rates of the competition NVM-NVM",
          {{"dram_threads", "DRAM threads", "", 0},
           {"other_threads", "other threads", "", 0},
           {"dram_gb_s", "S_d", "GB/s", 2},
           {"other_gb_s", "S_n", "GB/s", 2},
           {"other_share", "share", "%", 2},
           {"other_mb", "x", "MB", 2},
           {"other_rows", "rows", "", 0},
           {"predicted_s", "predicted", "s", 5}},
          {}};
}

ResultTable empty_stencil_table() {
  return {
      "stencil",
      "Seconds per sweep of the stencil (the mean over the sweeps; DRAM and other: the slowest thread of each group)",
      {{"version", "version", "", 0},
       {"dram_threads", "DRAM threads", "", 0},
       {"other_threads", "other threads", "", 0},
       {"other_rows", "other rows", "", 0},
       {"distribution", "distribution", "", 0},
       {"predicted_s", "predicted", "s", 5},
       {"dram_s", "DRAM", "s", 5},
       {"other_s", "other", "s", 5},
       {"total_s", "total", "s", 5},
       {"spread", "spread", "%", 1},
       {"counted_gb_s", "counted", "GB/s", 2},
       {"moved_gb_s", "moved", "GB/s", 2}},
      {}};
}

double mean_of(const std::vector<SweepTimes>& sweeps, double SweepTimes::*part) {
  double sum = 0;
  for (const SweepTimes& sweep : sweeps) sum += sweep.*part;
  return sum / static_cast<double>(sweeps.size());
}

/// The predicted time for any distribution: the longer of both groups' times, each the group's data ÷ its rate.
double predicted_s(double all_bytes, double other_share, double dram_gb_s, double other_gb_s) {
  return std::max(all_bytes * (1 - other_share) / dram_gb_s, all_bytes * other_share / other_gb_s) * 1e-9;
}

Trial try_distribution(StencilSetting setting, double predicted, bool is_predicted, ExperimentResult& result) {
  const StencilResult run = run_stencil(setting);
  const double total = mean_of(run.sweeps, &SweepTimes::total_s);
  std::vector<double> totals;
  for (const SweepTimes& sweep : run.sweeps) totals.push_back(sweep.total_s);
  const double elements = static_cast<double>(setting.rows) * static_cast<double>(setting.columns);
  result.tables[1].rows.push_back({fmt::format("{}", static_cast<int>(setting.version)), setting.upper_cpus.size(),
                                   setting.lower_cpus.size(), setting.lower_rows, is_predicted ? "predicted" : "tried",
                                   predicted, mean_of(run.sweeps, &SweepTimes::upper_s),
                                   mean_of(run.sweeps, &SweepTimes::lower_s), total, measured(totals).spread * 100,
                                   elements * 16 / total * 1e-9, elements * 24 / total * 1e-9});
  for (std::size_t t = 0; t < run.thread_s.size(); ++t) {
    const bool is_upper = t < setting.upper_cpus.size();
    result.series.push_back({fmt::format("version {}, {} + {} threads, {} other rows, {}",
                                         static_cast<int>(setting.version), setting.upper_cpus.size(),
                                         setting.lower_cpus.size(), setting.lower_rows, is_upper ? "DRAM" : "other"),
                             static_cast<int>(is_upper ? t : t - setting.upper_cpus.size()),
                             is_upper ? setting.upper_cpus[t] : setting.lower_cpus[t - setting.upper_cpus.size()],
                             run.thread_s[t]});
  }
  return {static_cast<int>(setting.version), static_cast<int>(setting.lower_cpus.size()), setting.lower_rows,
          is_predicted, total};
}

void add_choice(const std::vector<Trial>& trials, int version, ExperimentResult& result) {
  const Trial* best = nullptr;
  const Trial* best_predicted = nullptr;
  for (const Trial& trial : trials) {
    if (trial.version != version) continue;
    if (best == nullptr || trial.total_s < best->total_s) best = &trial;
    if (trial.predicted && (best_predicted == nullptr || trial.total_s < best_predicted->total_s))
      best_predicted = &trial;
  }
  if (best == nullptr || best_predicted == nullptr) return;
  result.tables[2].rows.push_back(
      {fmt::format("{}", version), best_predicted->other_threads, best_predicted->lower_rows, best_predicted->total_s,
       best->other_threads, best->lower_rows, best->total_s, (best_predicted->total_s / best->total_s - 1) * 100});
}

}  // namespace

ExperimentResult placement_experiment(const Surroundings& around) {
  ExperimentResult result;
  result.tables = {empty_formula_table(),
                   empty_stencil_table(),
                   {"choice",
                    "The best predicted distribution, compared with the best of all measured distributions",
                    {{"version", "version", "", 0},
                     {"predicted_threads", "predicted: threads", "", 0},
                     {"predicted_rows", "rows", "", 0},
                     {"predicted_total_s", "total", "s", 5},
                     {"best_threads", "best: threads", "", 0},
                     {"best_rows", "rows", "", 0},
                     {"best_total_s", "total", "s", 5},
                     {"loss", "loss", "%", 1}},
                    {}}};
  const Tier other = second_tier(around, result);
  if (around.folders.size() > 1) {
    result.remarks.push_back(fmt::format("Only the first of the folders is used: {}.", other.name));
  }
  const int threads =
      around.options.threads.empty() ? static_cast<int>(around.cpus.size()) : around.options.threads.back();
  const std::vector<int> cpus = cpus_for(around.cpus, threads, "--threads");
  if (threads < 2) {
    for (ResultTable& table : result.tables) {
      table.rows.emplace_back(table.columns.size(), Cell(NotAvailable{"two groups need at least two threads"}));
    }
    return result;
  }
  const std::uint64_t side = std::max<std::uint64_t>(matrix_side(around.elements_or_beyond_cache()), 8);
  const double all_bytes = 16.0 * static_cast<double>(side) * static_cast<double>(side);
  std::vector<Trial> trials;
  Plot plot{fmt::format("A sweep over the rows in {}", other.name), "rows in the other memory", "seconds", {}};
  for (int others = 1; others < threads && others <= kMostOtherThreads; ++others) {
    around.report(fmt::format("placement: rates of {} + {} threads", threads - others, others));
    const std::vector<int> upper_cpus(cpus.begin(), cpus.begin() + (threads - others));
    const std::vector<int> lower_cpus(cpus.begin() + (threads - others), cpus.end());
    const std::vector<GroupRate> rates = run_competition(
        {{dram_tier(), dram_tier(), upper_cpus}, {other, other, lower_cpus}},
        std::max<std::uint64_t>(side * side / static_cast<std::uint64_t>(threads), 1), kCompetitionRepeats);
    const double dram = rates[0].gb_s.value;
    const double in_other = rates[1].gb_s.value;
    const Placement placement = place(all_bytes, dram, in_other);
    const std::uint64_t predicted_rows =
        std::clamp<std::uint64_t>(rows_of_share(side, placement.other_share), 1, side - 1);
    result.tables[0].rows.push_back({threads - others, others, dram, in_other, placement.other_share * 100,
                                     placement.other_bytes * 1e-6, predicted_rows, placement.seconds});
    std::set<std::uint64_t> tried = {predicted_rows};
    for (const double factor : kTried) {
      const std::uint64_t rows = rows_of_share(side, std::min(placement.other_share * factor, 0.95));
      tried.insert(std::clamp<std::uint64_t>(rows, 1, side - 1));
    }
    for (const int version : {1, 2}) {
      PlotLine line{fmt::format("version {}, {} + {} threads", version, threads - others, others), {}};
      for (const std::uint64_t rows : tried) {
        around.report(
            fmt::format("placement: version {}, {} + {} threads, {} rows", version, threads - others, others, rows));
        const StencilSetting setting{
            static_cast<StencilVersion>(version), side, side, rows, upper_cpus, lower_cpus, other,
            around.repeats_or(kUsualSweeps)};
        const double share = static_cast<double>(rows) / static_cast<double>(side);
        trials.push_back(
            try_distribution(setting, predicted_s(all_bytes, share, dram, in_other), rows == predicted_rows, result));
        line.points.emplace_back(static_cast<double>(rows), trials.back().total_s);
      }
      plot.lines.push_back(std::move(line));
    }
  }
  add_choice(trials, 1, result);
  add_choice(trials, 2, result);
  result.plots.push_back(std::move(plot));
  if (const std::string reason = why_no_nvdimm(around); !reason.empty()) {
    result.remarks.push_back(fmt::format("NVDIMM: n/a: {}.", reason));
  }
  result.remarks.push_back(
      fmt::format("Two arrays of {} x {} elements; the formula counts 16 bytes for an element.", side, side));
  return result;
}

}  // namespace ringside
