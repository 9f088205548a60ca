// SPDX-License-Identifier: BSD-3-Clause
// The published simulation for every split of the threads (thesis, 7.2 and 7.3), and the command that runs our pipeline
// on the same matrix.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "common/kernels/hash.hpp"
#include "common/platform/error.hpp"
#include "node/experiments/experiment.hpp"
#include "node/streams/cores.hpp"
#include "node/streams/repeats.hpp"
#include "node/streams/stream_table.hpp"
#include "node/streams/tier_memory.hpp"
#include "node/workloads/published_pipeline.hpp"

namespace ringside {
namespace {

constexpr int kUsualIterations = 100;
constexpr std::uint64_t kMostSide = 65'535;     // columns are 32-bit numbers, as published
constexpr std::uint64_t kPublishedSide = 2000;  // n = 4,000,000: the smaller of the published problems

ResultTable empty_splits_table(int iterations) {
  return {"splits",
          fmt::format("Seconds in {} iterations", iterations),
          {{"memory", "copy in", "", 0},
           {"generation_threads", "generate", "threads", 0},
           {"analysis_threads", "analyze", "threads", 0},
           {"generation_s", "generation", "s", 4},
           {"generation_idle_s", "its idle", "s", 4},
           {"transfer_s", "transfer", "s", 4},
           {"analysis_s", "analysis", "s", 4},
           {"analysis_idle_s", "its idle", "s", 4},
           {"total_s", "total", "s", 4},
           {"iteration_s", "iteration", "s", 6},
           {"spread", "spread", "%", 1},
           {"counted_gb_s", "counted", "GB/s", 2},
           {"moved_gb_s", "moved", "GB/s", 2}},
          {}};
}

/// Bytes of one iteration. Per entry, generation reads 8 + 4, and 8 of x. Per row, it reads 8 for the row's begin and 8
/// of x for the difference, and writes 8. The copy takes 16 per row; a sum reads 8 per row. Moved bytes: x is read from
/// memory only once, and a plain store also reads the line.
struct IterationBytes {
  double counted;
  double moved;
};

IterationBytes bytes_of_iteration(const PublishedMatrix& matrix, bool copied) {
  const auto rows = static_cast<double>(matrix.rows);
  const auto entries = static_cast<double>(matrix.column.size());
  const double sums = 8 * kPublishedPasses * rows;
  return {entries * 20 + rows * 24 + (copied ? 16 * rows : 0) + sums,
          entries * 12 + rows * 32 + (copied ? 24 * rows : 0) + sums};
}

void add_row(ExperimentResult& result, const PublishedMatrix& matrix, const PipelineSetting& setting,
             const PipelineResult& run) {
  const PipelineTimes& t = run.times;
  const bool beside = !setting.analysis_cpus.empty();
  const auto s = [](std::int64_t ns) { return static_cast<double>(ns) * 1e-9; };
  const NotAvailable none{"all threads do both, one after the other"};
  const IterationBytes bytes = bytes_of_iteration(matrix, beside);
  const double total = s(t.total_ns);
  std::vector<double> of_iterations;
  for (std::size_t k = 0; k < run.generation_s.size(); ++k) {
    of_iterations.push_back(beside ? std::max(run.generation_s[k], run.analysis_s[k])
                                   : run.generation_s[k] + run.analysis_s[k]);
  }
  const Measured iteration = measured(of_iterations);
  result.tables[0].rows.push_back({beside ? setting.tier.name : "not copied", setting.generation_cpus.size(),
                                   beside ? Cell(setting.analysis_cpus.size()) : Cell(none), s(t.generation_ns),
                                   beside ? Cell(s(t.generation_idle_ns)) : Cell(none),
                                   beside ? Cell(s(t.transfer_ns)) : Cell(none), s(t.analysis_ns),
                                   beside ? Cell(s(t.analysis_idle_ns)) : Cell(none), total, iteration.value,
                                   iteration.spread * 100, bytes.counted * setting.iterations / total * 1e-9,
                                   bytes.moved * setting.iterations / total * 1e-9});
  const std::string split = fmt::format("{}, {} + {} threads", beside ? setting.tier.name : "not copied",
                                        setting.generation_cpus.size(), setting.analysis_cpus.size());
  result.series.push_back({split + ", generation", 0, setting.generation_cpus.front(), run.generation_s});
  result.series.push_back(
      {split + ", analysis", 0, (beside ? setting.analysis_cpus : setting.generation_cpus).front(), run.analysis_s});
}

void add_missing_splits(ExperimentResult& result, const std::string& memory, const std::string& reason) {
  std::vector<Cell> row(result.tables[0].columns.size(), Cell(NotAvailable{reason}));
  row[0] = memory;
  result.tables[0].rows.push_back(std::move(row));
}

/// Each row is added up by one thread, in the order of the row's entries, so the bits do not depend on the split.
/// Throws Error (exit code 5).
void require_same_bits(const std::vector<double>& found, const std::vector<double>& expected,
                       const PipelineSetting& setting) {
  std::uint64_t different = 0;
  std::uint64_t first = 0;
  for (std::uint64_t i = found.size(); i-- > 0;) {
    if (std::bit_cast<std::uint64_t>(found[i]) == std::bit_cast<std::uint64_t>(expected[i])) continue;
    ++different;
    first = i;
  }
  if (different == 0) return;
  throw damage_error(
      "the pipeline with {} + {} threads: {} of {} elements of the last iterate differ from those without a pipeline, "
      "first row {}: found {}, expected {}",
      setting.generation_cpus.size(), setting.analysis_cpus.size(), different, found.size(), first, found[first],
      expected[first]);
}

Plot plot_of_splits(const ResultTable& table, const Tier& tier) {
  Plot plot{fmt::format("Time versus the split, copy in {}", tier.name), "threads that analyze", "seconds", {}};
  const std::pair<const char*, std::size_t> parts[] = {{"total", 8},    {"generation", 3}, {"generation idle", 4},
                                                       {"transfer", 5}, {"analysis", 6},   {"analysis idle", 7}};
  for (const auto& [name, column] : parts) {
    PlotLine line{name, {}};
    for (const auto& row : table.rows) {
      if (std::get<std::string>(row[0]) != tier.name || !std::holds_alternative<double>(row[2])) continue;
      line.points.emplace_back(std::get<double>(row[2]), std::get<double>(row[column]));
    }
    plot.lines.push_back(std::move(line));
  }
  return plot;
}

}  // namespace

PipelineProblem pipeline_problem(const Surroundings& around) {
  const int threads =
      around.options.threads.empty() ? static_cast<int>(around.cpus.size()) : around.options.threads.back();
  const std::uint64_t side =
      around.options.bytes == 0 ? kPublishedSide : matrix_side(around.options.bytes / sizeof(double));
  if (side > kMostSide) {
    throw usage_error("--bytes: found a vector of {} x {} elements, expected at most {} x {}", side, side, kMostSide,
                      kMostSide);
  }
  return {std::max<std::uint64_t>(side, 4), around.repeats_or(kUsualIterations),
          cpus_for(around.cpus, threads, "--threads")};
}

ExperimentResult pipeline_experiment(const Surroundings& around) {
  ExperimentResult result;
  const auto [side, iterations, cpus] = pipeline_problem(around);
  const int threads = static_cast<int>(cpus.size());
  result.tables.push_back(empty_splits_table(iterations));
  const Tier tier = second_tier(around, result);
  if (around.folders.size() > 1) {
    result.remarks.push_back(fmt::format("Only the first of the folders is used: {}.", tier.name));
  }
  // For the begins of the rows, columns, values, and two vectors.
  require_room(dram_tier(), side * side * (8 + 8 * 12 + 16));
  around.report("pipeline: matrix");
  const PublishedMatrix matrix = grid_of_eight(side);
  std::vector<PipelineSetting> settings = {{cpus, {}, tier, iterations}};
  for (int analyzers = 1; analyzers < threads; ++analyzers) {
    settings.push_back({{cpus.begin(), cpus.begin() + (threads - analyzers)},
                        {cpus.begin() + (threads - analyzers), cpus.end()},
                        tier,
                        iterations});
  }
  for (const PipelineSetting& setting : settings) {
    around.report(
        fmt::format("pipeline: {} + {} threads", setting.generation_cpus.size(), setting.analysis_cpus.size()));
    PipelineResult run = run_published_pipeline(matrix, setting, true);
    if (result.last_iterate.empty())
      result.last_iterate = std::move(run.last);
    else
      require_same_bits(run.last, result.last_iterate, setting);
    add_row(result, matrix, setting, run);
  }
  if (threads < 2) add_missing_splits(result, tier.name, "two groups need at least two threads");
  if (const std::string reason = why_no_nvdimm(around); !reason.empty()) add_missing_splits(result, "NVDIMM", reason);
  if (threads > 1) result.plots.push_back(plot_of_splits(result.tables[0], tier));
  result.remarks.push_back(fmt::format(
      "The matrix has {} rows and {} entries; each iterate is summed {} times. The last iterate has the same bits in "
      "every row of the first table; its hash is {}.",
      matrix.rows, matrix.column.size(), kPublishedPasses,
      to_string(hash128_parallel(result.last_iterate.data(), result.last_iterate.size() * sizeof(double)))));
  return result;
}

}  // namespace ringside
