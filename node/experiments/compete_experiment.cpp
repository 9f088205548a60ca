// SPDX-License-Identifier: BSD-3-Clause
// The three competition benchmarks of the thesis (5.4): one group copies in DRAM; the other group's source, target or
// both are in another memory. Runs every split of the threads, and each group alone.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "node/experiments/experiment.hpp"
#include "node/streams/cores.hpp"
#include "node/streams/tier_memory.hpp"
#include "node/workloads/competition.hpp"

namespace ringside {
namespace {

constexpr int kUsualRepeats = 60;
constexpr std::size_t kWindows = 50;  // the number of windows of a group's rate over time

struct Benchmark {
  const char* name;
  bool reads_other;
  bool writes_other;
};
constexpr Benchmark kBenchmarks[] = {{"NVM-NVM", true, true}, {"NVM-DRAM", true, false}, {"DRAM-NVM", false, true}};

/// The split whose threads are plotted: 10 + 6 of 16 threads, as published.
int plotted_split(int threads) {
  return std::clamp(threads * 6 / 16, 1, threads - 1);
}

ResultTable empty_groups_table() {
  return {"groups",
          "Rates of both groups at the same time, and of each group alone (16 bytes are counted per element; a plain "
          "store moves 24)",
          {{"benchmark", "benchmark", "", 0},
           {"memory", "memory", "", 0},
           {"dram_threads", "DRAM threads", "", 0},
           {"other_threads", "other threads", "", 0},
           {"dram_gb_s", "DRAM", "GB/s", 2},
           {"dram_spread", "spread", "%", 1},
           {"other_gb_s", "other", "GB/s", 2},
           {"other_spread", "spread", "%", 1},
           {"sum_gb_s", "sum", "GB/s", 2},
           {"dram_alone_gb_s", "DRAM alone", "GB/s", 2},
           {"other_alone_gb_s", "other alone", "GB/s", 2},
           {"dram_change", "DRAM change", "%", 1},
           {"other_change", "other change", "%", 1}},
          {}};
}

ResultTable empty_drops_table() {
  return {
      "drops",
      fmt::format("Drops of speed: repeats whose rate is below {} of the thread's median rate while all threads run",
                  kDropLimit),
      {{"benchmark", "benchmark", "", 0},
       {"memory", "memory", "", 0},
       {"other_threads", "other threads", "", 0},
       {"group", "group", "", 0},
       {"thread", "thread", "", 0},
       {"level_gb_s", "level", "GB/s", 2},
       {"least", "least / level", "", 2},
       {"drops", "drops", "", 0},
       {"deepest", "deepest", "", 2},
       {"longest_s", "longest", "s", 4},
       {"coincide", "coincide", "", 0}},
      {}};
}

ResultTable empty_windows_table() {
  return {"windows",
          "Rates in windows of repeats, starting with the first repeat (published: repeat 1, 1 to 20, "
          "... 81 to 100)",
          {{"benchmark", "benchmark", "", 0},
           {"memory", "memory", "", 0},
           {"dram_threads", "DRAM threads", "", 0},
           {"other_threads", "other threads", "", 0},
           {"first_repeat", "from", "repeat", 0},
           {"last_repeat", "to", "repeat", 0},
           {"dram_gb_s", "DRAM", "GB/s", 2},
           {"other_gb_s", "other", "GB/s", 2},
           {"sum_gb_s", "sum", "GB/s", 2}},
          {}};
}

struct Split {
  const Benchmark& benchmark;
  const Tier& other;
  int dram_threads;
  int other_threads;
};

void add_groups_row(ExperimentResult& result, const Split& split, const std::vector<GroupRate>& beside,
                    const GroupRate& dram_alone, const GroupRate& other_alone) {
  const double dram = beside[0].gb_s.value;
  const double other = beside[1].gb_s.value;
  result.tables[0].rows.push_back(
      {split.benchmark.name, split.other.name, split.dram_threads, split.other_threads, dram,
       beside[0].gb_s.spread * 100, other, beside[1].gb_s.spread * 100, dram + other, dram_alone.gb_s.value,
       other_alone.gb_s.value, (dram / dram_alone.gb_s.value - 1) * 100, (other / other_alone.gb_s.value - 1) * 100});
}

void add_windows(ExperimentResult& result, const Split& split, const std::vector<GroupRate>& beside, double bytes,
                 int repeats) {
  for (const CountedRepeats& window : repeat_windows(static_cast<std::size_t>(repeats))) {
    const double dram = rate_in_window(beside[0].times, bytes, window);
    const double other = rate_in_window(beside[1].times, bytes, window);
    result.tables[2].rows.push_back({split.benchmark.name, split.other.name, split.dram_threads, split.other_threads,
                                     window.first + 1, window.last, dram, other, dram + other});
  }
}

void add_drops(ExperimentResult& result, const Split& split, const std::vector<GroupRate>& beside, double bytes,
               int repeats) {
  const std::vector<ThreadRates> rates = rates_of_threads(beside, bytes);
  const std::vector<ThreadDrops> drops =
      find_speed_drops(rates, counted_repeats(static_cast<std::size_t>(repeats)).first);
  const auto dram_threads = static_cast<std::size_t>(split.dram_threads);
  for (std::size_t t = 0; t < drops.size(); ++t) {
    const bool in_dram = t < dram_threads;
    double deepest = 1;
    double longest_s = 0;
    double coincide = 0;
    for (const SpeedDrop& drop : drops[t].drops) {
      deepest = std::min(deepest, drop.depth);
      longest_s = std::max(longest_s, drop.end_s - drop.begin_s);
      coincide += drop.coincides ? 1 : 0;
    }
    const NotAvailable none{drops[t].level_gb_s > 0 ? "this thread had no drop" : "no repeat is left to look at"};
    const bool dropped = !drops[t].drops.empty();
    result.tables[1].rows.push_back({split.benchmark.name, split.other.name, split.other_threads,
                                     in_dram ? "DRAM" : "other", in_dram ? t : t - dram_threads,
                                     drops[t].level_gb_s > 0 ? Cell(drops[t].level_gb_s) : Cell(none),
                                     drops[t].level_gb_s > 0 ? Cell(drops[t].least) : Cell(none), drops[t].drops.size(),
                                     dropped ? Cell(deepest) : Cell(none), dropped ? Cell(longest_s) : Cell(none),
                                     dropped ? Cell(coincide) : Cell(none)});
  }
  if (split.other_threads != plotted_split(split.dram_threads + split.other_threads)) return;
  Plot plot{fmt::format("{}: rates over time, {} + {} threads, {}", split.benchmark.name, split.dram_threads,
                        split.other_threads, split.other.name),
            "seconds since the start",
            "GB/s, counted",
            {}};
  for (std::size_t t = 0; t < rates.size(); ++t) {
    const bool in_dram = t < dram_threads;
    PlotLine line{fmt::format("{} {}", in_dram ? "DRAM" : "other", in_dram ? t : t - dram_threads), {}};
    for (std::size_t r = 0; r < rates[t].gb_s.size(); ++r)
      line.points.emplace_back(rates[t].end_s[r], rates[t].gb_s[r]);
    plot.lines.push_back(std::move(line));
  }
  const std::span all(rates);
  plot.lines.push_back({"DRAM, all", rate_over_time(all.first(dram_threads), bytes, kWindows)});
  plot.lines.push_back({"other, all", rate_over_time(all.subspan(dram_threads), bytes, kWindows)});
  result.plots.push_back(std::move(plot));
}

void add_series(ExperimentResult& result, const Split& split, const std::vector<GroupRate>& beside) {
  for (std::size_t g = 0; g < beside.size(); ++g) {
    const auto& threads = beside[g].times.threads;
    for (std::size_t t = 0; t < threads.size(); ++t) {
      ThreadSeries series{fmt::format("{}, {}, {} + {} threads, {}", split.benchmark.name, split.other.name,
                                      split.dram_threads, split.other_threads, g == 0 ? "DRAM" : "other"),
                          static_cast<int>(t),
                          threads[t].cpu,
                          {}};
      for (std::size_t r = 0; r < threads[t].repeats(); ++r) series.seconds.push_back(threads[t].seconds_of(r));
      result.series.push_back(std::move(series));
    }
  }
}

void run_split(const Surroundings& around, const Split& split, std::uint64_t elements, ExperimentResult& result) {
  const int repeats = around.repeats_or(kUsualRepeats);
  const double bytes = static_cast<double>(elements) * 16;
  const std::vector<int> cpus = cpus_for(around.cpus, split.dram_threads + split.other_threads, "--threads");
  const Tier dram = dram_tier();
  const CopyGroup first{dram, dram, {cpus.begin(), cpus.begin() + split.dram_threads}};
  const CopyGroup second{split.benchmark.reads_other ? split.other : dram,
                         split.benchmark.writes_other ? split.other : dram,
                         {cpus.begin() + split.dram_threads, cpus.end()}};
  const std::vector<GroupRate> beside = run_competition({first, second}, elements, repeats);
  const GroupRate dram_alone = run_competition({first}, elements, repeats).front();
  const GroupRate other_alone = run_competition({second}, elements, repeats).front();
  add_groups_row(result, split, beside, dram_alone, other_alone);
  add_drops(result, split, beside, bytes, repeats);
  add_windows(result, split, beside, bytes, repeats);
  add_series(result, split, beside);
}

void add_missing_rows(ExperimentResult& result, const std::string& memory, const std::string& reason) {
  const NotAvailable none{reason};
  for (const std::size_t table : {std::size_t{0}, std::size_t{2}}) {
    for (const Benchmark& benchmark : kBenchmarks) {
      std::vector<Cell> row = {benchmark.name, memory};
      row.resize(result.tables[table].columns.size(), none);
      result.tables[table].rows.push_back(std::move(row));
    }
  }
}

/// "dram, 16 threads": identifies the plot lines to which a row adds points.
std::string place_of(const std::vector<Cell>& row) {
  return fmt::format("{}, {:.0f} threads", std::get<std::string>(row[1]),
                     std::get<double>(row[2]) + std::get<double>(row[3]));
}

void add_point(Plot& plot, const std::string& label, const Cell& x, const Cell& y) {
  auto line = std::find_if(plot.lines.begin(), plot.lines.end(), [&](const PlotLine& l) { return l.label == label; });
  if (line == plot.lines.end()) line = plot.lines.insert(plot.lines.end(), {label, {}});
  line->points.emplace_back(std::get<double>(x), std::get<double>(y));
}

/// Adds a plot for each benchmark. add(plot, row) adds the points of a row of the benchmark's table.
template <class Add>
void add_plots(ExperimentResult& result, std::size_t table, const char* title, const Add& add) {
  for (const Benchmark& benchmark : kBenchmarks) {
    Plot plot{fmt::format("{}: {}", benchmark.name, title), "other threads", "GB/s, counted", {}};
    for (const auto& row : result.tables[table].rows) {
      const bool is_measured = std::holds_alternative<double>(row[3]);
      if (is_measured && std::get<std::string>(row[0]) == benchmark.name) add(plot, row);
    }
    result.plots.push_back(std::move(plot));
  }
}

void add_points_of_groups(Plot& plot, const std::vector<Cell>& row) {
  const std::pair<const char*, std::size_t> kinds[] = {{"DRAM", 4}, {"other", 6}, {"sum", 8}};
  for (const auto& [kind, column] : kinds) {
    add_point(plot, fmt::format("{} ({})", kind, place_of(row)), row[3], row[column]);
  }
}

void add_point_of_window(Plot& plot, const std::vector<Cell>& row) {
  const double first = std::get<double>(row[4]);
  const double last = std::get<double>(row[5]);
  const std::string repeats = first == last ? fmt::format("{}", first) : fmt::format("{} to {}", first, last);
  add_point(plot, fmt::format("{} ({})", repeats, place_of(row)), row[3], row[8]);
}

}  // namespace

ExperimentResult compete_experiment(const Surroundings& around) {
  ExperimentResult result;
  result.tables = {empty_groups_table(), empty_drops_table(), empty_windows_table()};
  std::vector<Tier> others = around.folders;
  if (others.empty()) others.push_back(second_tier(around, result));
  const std::vector<int> totals =
      around.options.threads.empty() ? std::vector<int>{static_cast<int>(around.cpus.size())} : around.options.threads;
  for (const int total : totals) {
    if (total < 2) {
      add_missing_rows(result, others.front().name, "two groups need at least two threads");
      continue;
    }
    const std::uint64_t elements = around.elements_or_beyond_cache(static_cast<std::uint64_t>(total));
    result.remarks.push_back(
        fmt::format("With {} threads, arrays of {} bytes, two for each thread.", total, elements * sizeof(double)));
    for (const Tier& other : others) {
      for (const Benchmark& benchmark : kBenchmarks) {
        for (int other_threads = 1; other_threads < total; ++other_threads) {
          around.report(fmt::format("compete: {}, {}, {} + {} threads", benchmark.name, other.name,
                                    total - other_threads, other_threads));
          run_split(around, {benchmark, other, total - other_threads, other_threads}, elements, result);
        }
      }
    }
  }
  if (const std::string reason = why_no_nvdimm(around); !reason.empty()) add_missing_rows(result, "NVDIMM", reason);
  add_plots(result, 0, "rate of each group", add_points_of_groups);
  add_plots(result, 2, "sum of both groups in windows of repeats", add_point_of_window);
  const CountedRepeats counted = counted_repeats(static_cast<std::size_t>(around.repeats_or(kUsualRepeats)));
  result.remarks.push_back(
      fmt::format("Of {} repeats, only those from {} to {} count: the start is slow, and at the end threads run alone.",
                  around.repeats_or(kUsualRepeats), counted.first + 1, counted.last));
  return result;
}

}  // namespace ringside
