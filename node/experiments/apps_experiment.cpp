// SPDX-License-Identifier: BSD-3-Clause
// Whole programs with all data in DRAM, in far memory only, and in Memory Mode with several sizes of DRAM, for several
// numbers of threads or processes. The results are compared with those of Michel and Patil.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "node/applications/app_trials.hpp"
#include "node/applications/published_apps.hpp"
#include "node/experiments/experiment.hpp"

namespace ringside {
namespace {

constexpr std::uint64_t kUsualAppBytes = std::uint64_t{256} << 20;
constexpr int kUsualAppRepeats = 3;
constexpr double kMiB = 1 << 20;

/// A program that ran, with the results of its settings.
struct RanApp {
  const App* app = nullptr;
  std::vector<AppSetting> settings;

  const AppSetting& all_dram_of(const AppSetting& setting) const {
    return *std::find_if(settings.begin(), settings.end(), [&](const AppSetting& other) {
      return other.configuration.memory == AppMemory::kDram && other.point.workers == setting.point.workers &&
             other.point.weak == setting.point.weak;
    });
  }
};

std::string scaling_of(const AppSetting& setting) {
  return setting.point.weak ? "weak" : "strong";
}

std::string titled(const std::string& title, const std::string& timing) {
  return timing.empty() ? title : fmt::format("{} ({})", title, kOptaneTiming);
}

Cell cell_of(const CounterValue& counter, double unit) {
  return counter.value ? Cell(*counter.value / unit) : Cell(NotAvailable{counter.reason});
}

std::vector<Column> columns_with(std::vector<Column> more) {
  std::vector<Column> columns = {{"program", "program", "", 0},
                                 {"scaling", "scaling", "", 0},
                                 {"workers", "workers", "", 0},
                                 {"memory", "memory", "", 0}};
  columns.insert(columns.end(), more.begin(), more.end());
  return columns;
}

/// Adds a row for each setting for which cells(program, setting) does not return an empty row.
template <class Cells>
void add_rows(ResultTable& table, const std::vector<RanApp>& all, const Cells& cells) {
  for (const RanApp& ran : all) {
    for (const AppSetting& setting : ran.settings) {
      const std::vector<Cell> more = cells(ran, setting);
      if (more.empty()) continue;
      std::vector<Cell>& row = table.rows.emplace_back();
      row = {ran.app->name, scaling_of(setting), setting.point.workers, to_string(setting.configuration)};
      row.insert(row.end(), more.begin(), more.end());
    }
  }
}

/// The limit of DRAM in percent of the program's memory with all data in DRAM.
double share_of_dram(const AppSetting& setting) {
  return 100 * static_cast<double>(setting.dram_bytes) / static_cast<double>(setting.all_dram_bytes);
}

std::optional<double> ratio_of(const RanApp& ran, const AppSetting& setting) {
  const AppSetting& all_dram = ran.all_dram_of(setting);
  if (setting.runs.empty() || all_dram.runs.empty()) return std::nullopt;
  return figures_of(setting.runs).seconds.value / figures_of(all_dram.runs).seconds.value;
}

ResultTable times_table(const std::vector<RanApp>& all, const std::string& timing) {
  ResultTable table{"times",
                    titled("Times: the median of all runs (ratio: to the time with all data in DRAM; taken: the memory "
                           "used with all data in DRAM)",
                           timing),
                    columns_with({{"dram_mib", "DRAM", "MiB", 0},
                                  {"taken_mib", "taken", "MiB", 0},
                                  {"time_s", "time", "s", 4},
                                  {"spread", "spread", "%", 1},
                                  {"ratio", "ratio", "", 2},
                                  {"whole_s", "whole run", "s", 3},
                                  {"cpu_s", "processors", "s", 3}}),
                    {}};
  add_rows(table, all, [](const RanApp& ran, const AppSetting& setting) -> std::vector<Cell> {
    if (setting.runs.empty()) return std::vector<Cell>(7, NotAvailable{setting.reason});
    const NotAvailable one_run{"one run has no spread; use --repeats"};
    const AppFigures figures = figures_of(setting.runs);
    double dram = static_cast<double>(setting.dram_bytes);  // 0 for far only
    if (setting.configuration.memory == AppMemory::kDram) dram = figures.resident_bytes;
    return {dram / kMiB,
            static_cast<double>(setting.all_dram_bytes) / kMiB,
            figures.seconds.value,
            setting.runs.size() > 1 ? Cell(figures.seconds.spread * 100) : Cell(one_run),
            *ratio_of(ran, setting),
            figures.wall_s,
            figures.cpu_s};
  });
  return table;
}

ResultTable traffic_table(const std::vector<RanApp>& all, const std::string& timing) {
  ResultTable table{"far",
                    titled("Traffic of far memory in Memory Mode (managed: memory that the library manages)", timing),
                    columns_with({{"managed_mib", "managed", "MiB", 0},
                                  {"faults", "faults", "", 0},
                                  {"read_mb", "read", "MB", 1},
                                  {"written_mb", "written", "MB", 1},
                                  {"mb_s", "rate", "MB/s", 1},
                                  {"fault_s", "in faults", "s", 3}}),
                    {}};
  add_rows(table, all, [](const RanApp& ran, const AppSetting& setting) -> std::vector<Cell> {
    if (setting.configuration.memory != AppMemory::kCached) return {};
    const AppFigures figures = setting.runs.empty() ? AppFigures{} : figures_of(setting.runs);
    if (!figures.traffic) {
      const std::string why =
          ran.app->caches_itself ? "its summary has no traffic of the matrix" : "ringside-memory run wrote no account";
      return std::vector<Cell>(6, NotAvailable{setting.reason.empty() ? why : setting.reason});
    }
    const AppTraffic& traffic = *figures.traffic;
    const auto of_writes = [&](double value) {
      return ran.app->caches_itself
                 ? Cell(NotAvailable{"the summary of ringside run does not contain the bytes written"})
                 : Cell(value);
    };
    return {traffic.managed_bytes / kMiB,
            traffic.faults,
            traffic.read_bytes * 1e-6,
            of_writes(traffic.written_bytes * 1e-6),
            of_writes((traffic.read_bytes + traffic.written_bytes) * 1e-6 / figures.wall_s),
            traffic.fault_s};
  });
  return table;
}

/// A value that Patil reports for each run, besides the time.
struct Quantity {
  const char* key;
  const char* head;
  const char* unit;
  double unit_size;
  int digits;
  const char* counter;  // null: the bandwidth, from two counters
};
constexpr std::array kQuantities = {
    Quantity{"memory_gb_s", "bandwidth", "GB/s", 1e9, 2, nullptr},
    Quantity{"package_j", "energy", "J", 1, 1, "package_energy"},
    Quantity{"memory_j", "of memory", "J", 1, 1, "memory_energy"},
    Quantity{"llc_misses", "LLC misses", "", 1, 0, "llc_misses"},
    Quantity{"cpi", "CPI", "", 1, 2, "cycles_per_instruction"},
};

CounterValue value_of(const Quantity& quantity, const AppFigures& figures) {
  return quantity.counter == nullptr ? memory_bandwidth(figures) : counter_of(figures.counters, quantity.counter);
}

ResultTable app_counters_table(const std::vector<RanApp>& all, const std::string& timing) {
  std::vector<Column> more;
  for (const Quantity& of : kQuantities) more.push_back({of.key, of.head, of.unit, of.digits});
  ResultTable table{"counters", titled("Counters over whole runs", timing), columns_with(more), {}};
  add_rows(table, all, [](const RanApp&, const AppSetting& setting) {
    std::vector<Cell> cells(kQuantities.size(), NotAvailable{setting.reason});
    if (setting.runs.empty()) return cells;
    const AppFigures figures = figures_of(setting.runs);
    for (std::size_t q = 0; q < kQuantities.size(); ++q) {
      cells[q] = cell_of(value_of(kQuantities[q], figures), kQuantities[q].unit_size);
    }
    return cells;
  });
  const bool any = std::any_of(table.rows.begin(), table.rows.end(), [&](const std::vector<Cell>& row) {
    return std::any_of(row.end() - static_cast<std::ptrdiff_t>(kQuantities.size()), row.end(),
                       [](const Cell& cell) { return std::holds_alternative<double>(cell); });
  });
  if (any || table.rows.empty()) return table;
  // Counters that this machine lacks are listed once, not for each run.
  table.rows.resize(1);
  for (std::size_t c = 0; c + kQuantities.size() < table.rows.front().size(); ++c) table.rows.front()[c] = "all";
  return table;
}

/// Our setting that is compared with a published one: strong scaling with the most workers; of several sizes of DRAM,
/// the size that is the nearest share of the program's memory. Null if no such setting ran.
const AppSetting* nearest_setting(const RanApp& ran, const PublishedApp& published) {
  const AppSetting* nearest = nullptr;
  double distance = 0;
  for (const AppSetting& setting : ran.settings) {
    const bool same_kind =
        setting.configuration.memory == (published.cached ? AppMemory::kCached : AppMemory::kFarOnly);
    if (!same_kind || setting.point.weak || setting.runs.empty()) continue;
    const double percent =
        published.cached ? share_of_dram(setting) : 0;
    // If all data fit, the publication states no share: then our largest share counts as the nearest.
    const double away = published.dram_percent > 0 ? std::abs(percent - published.dram_percent) : -percent;
    if (nearest == nullptr || away <= distance) {
      nearest = &setting;
      distance = away;
    }
  }
  return nearest;
}

ResultTable published_table(const std::vector<RanApp>& all, const std::string& timing) {
  ResultTable table{
      "published",
      titled("Published times and ours, as ratios to the times with all DRAM (the machines and inputs differ)", timing),
      {{"program", "program", "", 0},
       {"as_published", "as published", "", 0},
       {"published_memory", "memory there", "", 0},
       {"published_ratio", "there", "", 2},
       {"finding", "in words", "", 0},
       {"memory", "memory here", "", 0},
       {"ratio", "here", "", 2},
       {"source", "source", "", 0}},
      {}};
  for (const RanApp& ran : all) {
    for (const PublishedApp& published : published_apps()) {
      if (published.app != ran.app->name) continue;
      const AppSetting* setting = nearest_setting(ran, published);
      const NotAvailable none{"this memory was not measured here"};
      const NotAvailable words{"the publication states it in words only"};
      table.rows.push_back({published.app, published.program, published.memory,
                            published.s > 0 ? Cell(published.s / published.dram_s) : Cell(words), published.finding,
                            setting != nullptr ? Cell(to_string(setting->configuration)) : Cell(none),
                            setting != nullptr ? Cell(*ratio_of(ran, *setting)) : Cell(none), published.source});
    }
  }
  return table;
}

/// The settings of a plot's line over the number of workers: all strong settings; or all weak settings, and the last
/// strong one if it has more workers.
std::vector<const AppSetting*> line_of(const RanApp& ran, const std::string& configuration, bool weak) {
  std::vector<const AppSetting*> line;
  const AppSetting* last_strong = nullptr;
  for (const AppSetting& setting : ran.settings) {
    if (to_string(setting.configuration) != configuration || setting.runs.empty()) continue;
    if (!setting.point.weak) last_strong = &setting;
    if (setting.point.weak == weak) line.push_back(&setting);
  }
  if (weak && !line.empty() && last_strong != nullptr && last_strong->point.workers > line.back()->point.workers) {
    line.push_back(last_strong);
  }
  return line;
}

void add_scaling_plots(ExperimentResult& result, const RanApp& ran, const std::string& timing) {
  std::vector<std::string> configurations;
  for (const AppSetting& setting : ran.settings) {
    const std::string label = to_string(setting.configuration);
    if (std::find(configurations.begin(), configurations.end(), label) == configurations.end()) {
      configurations.push_back(label);
    }
  }
  const char* over = ran.app->workers == AppWorkers::kProcesses ? "processes" : "threads";
  for (const bool weak : {false, true}) {
    const auto add = [&](const std::string& what, const std::string& unit, const auto& value) {
      Plot plot{titled(fmt::format("{}, {} scaling: {}", ran.app->name, weak ? "weak" : "strong", what), timing), over,
                unit, {}};
      for (const std::string& configuration : configurations) {
        PlotLine line{configuration, {}};
        for (const AppSetting* setting : line_of(ran, configuration, weak)) {
          const std::optional<double> y = value(figures_of(setting->runs));
          if (y) line.points.emplace_back(setting->point.workers, *y);
        }
        if (line.points.size() > 1) plot.lines.push_back(std::move(line));
      }
      if (!plot.lines.empty()) result.plots.push_back(std::move(plot));
    };
    add("time", "s", [](const AppFigures& figures) { return std::optional(figures.seconds.value); });
    for (const Quantity& of : kQuantities) {
      add(of.head, of.unit, [&](const AppFigures& figures) {
        const CounterValue counter = value_of(of, figures);
        return counter.value ? std::optional(*counter.value / of.unit_size) : std::nullopt;
      });
    }
  }
}

/// A program's slowdown with less DRAM, with the most workers.
void add_dram_plot(ExperimentResult& result, const std::vector<RanApp>& all, const std::string& timing) {
  Plot plot{titled("Time versus the share of DRAM, strong scaling, with the most workers", timing),
            "DRAM, % of the memory taken",
            "ratio to all DRAM",
            {}};
  for (const RanApp& ran : all) {
    int most = 0;
    for (const AppSetting& setting : ran.settings) most = std::max(most, setting.point.workers);
    PlotLine line{std::string(ran.app->name), {}};
    for (const AppSetting& setting : ran.settings) {
      if (setting.configuration.memory != AppMemory::kCached || setting.point.weak || setting.runs.empty() ||
          setting.point.workers != most) {
        continue;
      }
      line.points.emplace_back(
          share_of_dram(setting), *ratio_of(ran, setting));
    }
    std::sort(line.points.begin(), line.points.end());
    if (!line.points.empty()) plot.lines.push_back(std::move(line));
  }
  if (!plot.lines.empty()) result.plots.push_back(std::move(plot));
}

void add_app_series(ExperimentResult& result, const RanApp& ran) {
  for (const AppSetting& setting : ran.settings) {
    if (setting.runs.empty()) continue;
    ThreadSeries series{fmt::format("{}, {}, {} worker(s), {}", ran.app->name, scaling_of(setting),
                                    setting.point.workers, to_string(setting.configuration)),
                        0, -1, {}};
    for (const AppRun& run : setting.runs) series.seconds.push_back(run.seconds);
    result.series.push_back(std::move(series));
  }
}

std::string far_remark(const Tier& far, const std::string& timing) {
  switch (far.kind) {
    case TierKind::kTmpfs:
      return fmt::format("Far memory is {} (tmpfs): DRAM itself{}.", far.path,
                         timing.empty() ? ". The ratios show the cost of the cache, not of slow memory"
                                        : ", whose transfers are slowed");
    case TierKind::kDax: return fmt::format("Far memory is {} (DAX).", far.path);
    default: return fmt::format("Far memory is {}, on a disk.", far.path);
  }
}

}  // namespace

ExperimentResult apps_experiment(const Surroundings& around) {
  const AppsOptions& options = around.options.apps;
  const AppPlaces places = app_places(options);
  const std::vector<std::string> usual_dram = {"25%", "50%"};
  const std::vector<AppConfiguration> configurations =
      configurations_of(dram_sizes_of(options.dram.empty() ? usual_dram : options.dram));
  const std::vector<int> workers = around.options.threads.empty()
                                       ? std::vector<int>{static_cast<int>(around.cpus.size())}
                                       : around.options.threads;
  const std::uint64_t bytes = around.options.bytes > 0 ? around.options.bytes : kUsualAppBytes;
  ResultTable left_out{"left_out",
                       "Programs that were left out",
                       {{"program", "program", "", 0}, {"found", "missing", "", 0}, {"do", "how to get it", "", 0}},
                       {}};
  ExperimentResult result;
  std::vector<RanApp> all;
  for (const App* app : chosen_apps(options.programs)) {
    const std::string missing = missing_programs(*app, places);
    if (!missing.empty()) {
      left_out.rows.push_back({app->name, missing, app->get});
      continue;
    }
    const std::vector<AppPoint> points = points_of(*app, workers, bytes);
    if (points.empty()) {
      left_out.rows.push_back(
          {app->name, std::string("a number of workers that the program accepts"),
           std::string("--threads with a cube number (1, 8, 27 ...) for lulesh, and with 1, 2, 4 or 8 for vpic")});
      continue;
    }
    all.push_back({app, run_app(*app, points, configurations, around.repeats_or(kUsualAppRepeats), places,
                                around.progress)});
    add_app_series(result, all.back());
  }
  result.tables = {times_table(all, options.timing), traffic_table(all, options.timing),
                   app_counters_table(all, options.timing), published_table(all, options.timing)};
  std::erase_if(result.tables, [](const ResultTable& table) { return table.rows.empty(); });
  if (!left_out.rows.empty()) result.tables.push_back(std::move(left_out));
  add_dram_plot(result, all, options.timing);
  for (const RanApp& ran : all) add_scaling_plots(result, ran, options.timing);
  result.remarks.push_back(far_remark(places.far, options.timing));
  if (!options.timing.empty()) result.remarks.push_back(fmt::format("Far memory has {}.", kOptaneTiming));
  if (!all.empty()) {
    result.remarks.push_back(
        "Every program had the same result, bit for bit, in all memories and repeats of a size; otherwise this "
        "experiment would have ended with exit code 5.");
  }
  return result;
}

}  // namespace ringside
