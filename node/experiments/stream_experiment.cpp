// SPDX-License-Identifier: BSD-3-Clause
// STREAM in each memory, with plain stores and with non-temporal stores. As in McCalpin's program, each thread works on
// the parts of the arrays that it touched first, the system chooses the pages, and the best rate is that of the
// shortest repeat except the first.
#include <fmt/format.h>

#include <map>

#include "common/platform/error.hpp"
#include "node/experiments/experiment.hpp"
#include "node/experiments/kernel_rounds.hpp"
#include "node/streams/cores.hpp"

namespace ringside {
namespace {

constexpr int kUsualRounds = 10;  // the same number as in STREAM

std::vector<const StreamKernel*> loops_of_stream() {
  std::vector<const StreamKernel*> loops;
  for (const bool past_cache : {false, true}) {
    for (const char* name : {"copy", "scale", "add", "triad"}) {
      const StreamKernel& plain = stream_kernel(name);
      loops.push_back(past_cache ? nontemporal_variant(plain) : &plain);
    }
  }
  return loops;
}

std::string plain_name(const StreamKernel& kernel) {
  return std::string(kernel.name.substr(0, kernel.name.find('_')));
}

ResultTable empty_rates_table() {
  return {"rates",
          "Rates (counted: as STREAM counts; moved: also the lines that plain stores read before they write)",
          {{"memory", "memory", "", 0},
           {"stores", "stores", "", 0},
           {"kernel", "loop", "", 0},
           {"threads", "threads", "", 0},
           {"best_gb_s", "best", "GB/s", 2},
           {"median_gb_s", "median", "GB/s", 2},
           {"spread", "spread", "%", 1},
           {"moved_gb_s", "moved", "GB/s", 2},
           {"median_s", "median", "s", 5}},
          {}};
}

void add_lines(ExperimentResult& result) {
  std::map<std::string, PlotLine> copies;
  for (const auto& row : result.tables.front().rows) {
    if (std::get<std::string>(row[2]) != "copy" || !std::holds_alternative<double>(row[5])) continue;
    const std::string label = fmt::format("{}, {}", std::get<std::string>(row[0]), std::get<std::string>(row[1]));
    copies[label].label = label;
    copies[label].points.emplace_back(std::get<double>(row[3]), std::get<double>(row[5]));
  }
  Plot plot{"Copy over threads", "threads", "GB/s, counted", {}};
  for (auto& [label, line] : copies) plot.lines.push_back(std::move(line));
  result.plots.push_back(std::move(plot));
}

void add_nvdimm_row(ExperimentResult& result, const std::string& reason) {
  const NotAvailable none{reason};
  for (const StreamKernel* kernel : loops_of_stream()) {
    result.tables.front().rows.push_back({"NVDIMM", kernel->nontemporal ? "non-temporal" : "plain", plain_name(*kernel),
                                          none, none, none, none, none, none});
  }
}

}  // namespace

ExperimentResult stream_experiment(const Surroundings& around) {
  ExperimentResult result;
  result.tables.push_back(empty_rates_table());
  ResultTable counters = empty_counters_table();
  const std::vector<const StreamKernel*> loops = loops_of_stream();
  std::vector<Tier> tiers = {dram_tier()};
  tiers.insert(tiers.end(), around.folders.begin(), around.folders.end());
  const std::vector<int> counts = around.options.threads.empty()
                                      ? usual_thread_counts(static_cast<int>(around.cpus.size()))
                                      : around.options.threads;
  const std::uint64_t elements = around.elements_or_beyond_cache();
  for (const Tier& tier : tiers) {
    for (const int threads : counts) {
      around.report(fmt::format("stream: {}, {} thread(s)", tier.name, threads));
      RoundsSetting setting;
      setting.tier = tier;
      setting.cpus = cpus_for(around.cpus, threads, "--threads");
      setting.elements = elements;
      setting.rounds = around.repeats_or(kUsualRounds);
      const RoundsResult rounds = run_rounds(loops, setting);
      if (!rounds.wrong.empty()) throw damage_error("{}: {}", tier.name, rounds.wrong);
      for (const KernelTimes& times : rounds.kernels) {
        const Rates rates = rates_of(times, elements);
        result.tables.front().rows.push_back({tier.name, times.kernel->nontemporal ? "non-temporal" : "plain",
                                              plain_name(*times.kernel), threads, rates.best_gb_s,
                                              rates.median_gb_s.value, rates.median_gb_s.spread * 100,
                                              rates.moved_gb_s.value, rates.seconds.value});
        for (ThreadSeries series : times.per_thread) {
          series.setting = fmt::format("{}, {}, {} threads", times.kernel->name, tier.name, threads);
          result.series.push_back(std::move(series));
        }
      }
      add_counters(counters, tier.name, threads, rounds);
    }
  }
  if (const std::string reason = why_no_nvdimm(around); !reason.empty()) add_nvdimm_row(result, reason);
  result.tables.push_back(std::move(counters));
  add_lines(result);
  result.remarks.push_back(fmt::format("Each array has {} bytes; of {} repeats, the first one is not counted.",
                                       elements * sizeof(double), around.repeats_or(kUsualRounds)));
  return result;
}

}  // namespace ringside
