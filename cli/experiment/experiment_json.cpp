// SPDX-License-Identifier: BSD-3-Clause
#include "cli/experiment/experiment_json.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include <cmath>

#include "cli/http/page_assets.hpp"
#include "cli/run_history/history_json.hpp"
#include "common/kernels/isa.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/system_files.hpp"
#include "common/platform/version.hpp"
#include "common/text/utc_text.hpp"
#include "node/file/node_words.hpp"
#include "node/streams/cores.hpp"

namespace ringside {
namespace {

Json text_or_unknown(const std::optional<std::string>& text) {
  return text && !text->empty() ? *text : "n/a";
}

Json to_json(const Cell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) return std::isfinite(*number) ? Json(*number) : nullptr;
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  return "n/a: " + std::get<NotAvailable>(cell).reason;
}

Json to_json(const ResultTable& table) {
  Json object = {{"title", table.title}, {"columns", Json::array()}, {"rows", Json::array()}};
  for (const Column& column : table.columns) {
    object["columns"].push_back(
        {{"key", column.key}, {"head", column.head}, {"unit", column.unit}, {"digits", column.digits}});
  }
  for (const auto& row : table.rows) {
    Json cells;
    for (std::size_t c = 0; c < row.size(); ++c) cells[table.columns[c].key] = to_json(row[c]);
    object["rows"].push_back(std::move(cells));
  }
  return object;
}

Json to_json(const Plot& plot) {
  Json lines = Json::array();
  for (const PlotLine& line : plot.lines) lines.push_back({{"label", line.label}, {"points", line.points}});
  return {{"title", plot.title}, {"x", plot.x}, {"y", plot.y}, {"lines", std::move(lines)}};
}

}  // namespace

Json machine_of(const Machine& machine) {
  const MachineCounts counts = count(machine);
  utsname names{};
  const bool named = uname(&names) == 0;
  double load[3] = {};
  Json average = "n/a";
  if (getloadavg(load, 3) == 3) average = load;
  return {{"cpu", text_or_unknown(machine.model)},
          {"processors_allowed", counts.allowed_threads},
          {"cores", counts.cores},
          {"numa_nodes", counts.numa_nodes},
          {"last_level_cache_bytes", last_level_cache_bytes(machine)},
          {"governor", text_or_unknown(first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))},
          {"kernel", named ? fmt::format("{} {}", names.sysname, names.release) : "n/a"},
          {"huge_pages", text_or_unknown(first_line("/sys/kernel/mm/transparent_hugepage/enabled"))},
          {"isa", std::string(to_string(selected_isa()))},
          {"version", version()},
          {"load_average", average},
          {"started", utc_text(realtime_ns())}};
}

Json to_json(const Experiment& experiment, const Surroundings& around, const ExperimentResult& result,
             const Json& machine) {
  const ExperimentOptions& options = around.options;
  Json object = {{"experiment", experiment.name}, {"does", experiment.does}, {"source", experiment.source}};
  object["machine"] = machine;
  object["options"] = {{"memory", options.memory},
                       {"threads", options.threads.empty() ? Json("usual") : Json(options.threads)},
                       {"repeats", options.repeats == 0 ? Json("usual") : Json(options.repeats)},
                       {"bytes", options.bytes == 0 ? Json("usual") : Json(options.bytes)}};
  if (experiment.name == "apps") {
    object["options"]["apps"] = {
        {"programs", options.apps.programs.empty() ? Json("all") : Json(options.apps.programs)},
        {"dram", options.apps.dram.empty() ? Json("usual") : Json(options.apps.dram)},
        {"far", options.apps.far.empty() ? Json("usual") : Json(options.apps.far)},
        {"timing", options.apps.timing.empty() ? "none" : kOptaneTiming}};
  }
  object["tiers"] = Json::array();
  for (const int node : around.numa_nodes) {
    object["tiers"].push_back({{"name", fmt::format("dram{}", node)}, {"kind", "dram"}, {"numa_node", node}});
  }
  for (const Tier& tier : around.folders) {
    object["tiers"].push_back(
        {{"name", tier.name},
         {"kind", to_string(tier.kind)},
         {"numa_node", tier.numa_node < 0 ? Json("n/a: the device states no node") : Json(tier.numa_node)}});
  }
  object["remarks"] = result.remarks;
  object["tables"] = Json::object();
  for (const ResultTable& table : result.tables) object["tables"][table.key] = to_json(table);
  object["plots"] = Json::array();
  for (const Plot& plot : result.plots) object["plots"].push_back(to_json(plot));
  object["series"] = Json::array();
  for (const ThreadSeries& series : result.series) {
    object["series"].push_back(
        {{"setting", series.setting}, {"thread", series.thread}, {"cpu", series.cpu}, {"seconds", series.seconds}});
  }
  return object;
}

std::string experiment_page(const Json& found) {
  Json shown = found;
  shown.erase("series");  // the page does not show them; --json has them
  return page_with_data("/experiment.html", shown);
}

}  // namespace ringside
