// SPDX-License-Identifier: BSD-3-Clause
// `ringside experiment`: repeats a published measurement on this node. Prints the tables as text or JSON, or writes a
// page with plots of the JSON's data. docs/use/experiments.md explains how to read tables and plots.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include "cli/experiment/own_pipeline.hpp"
#include "cli/http/page_assets.hpp"
#include "cli/subcommands.hpp"
#include "cli/terminal/format.hpp"
#include "cli/terminal/terminal_line.hpp"
#include "common/files/output_file.hpp"
#include "common/files/own_descriptor.hpp"
#include "common/json/json.hpp"
#include "common/kernels/isa.hpp"
#include "common/options/command_line.hpp"
#include "common/options/option_checks.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "common/platform/system_files.hpp"
#include "common/platform/version.hpp"
#include "common/text/printable.hpp"
#include "common/text/utc_text.hpp"
#include "node/file/node_words.hpp"
#include "node/streams/cores.hpp"

namespace ringside {
namespace {

constexpr std::uint64_t kMostThreads = 4096;
constexpr std::uint64_t kMostRepeats = 1'000'000;

std::string cell_text(const Cell& cell, const Column& column) {
  if (const auto* number = std::get_if<double>(&cell)) {
    // The values of counters have many digits, and their column has no unit in which they would be shorter.
    if (column.digits == 0 && std::abs(*number) >= 1e7) return fmt::format("{:.4g}", *number);
    return fmt::format("{:.{}f}", *number, column.digits);
  }
  if (const auto* text = std::get_if<std::string>(&cell)) return printable(*text);
  return "n/a";
}

/// The reason why figures are not available, and the heads of the columns in which they are missing.
struct Reason {
  std::string text;
  std::vector<std::string> heads;
};

void add_reason(std::vector<Reason>& reasons, const std::string& text, const std::string& head) {
  auto found = std::find_if(reasons.begin(), reasons.end(), [&](const Reason& reason) { return reason.text == text; });
  if (found == reasons.end()) found = reasons.insert(found, {text, {}});
  if (std::find(found->heads.begin(), found->heads.end(), head) == found->heads.end()) found->heads.push_back(head);
}

/// The table as text. A value that the machine cannot measure appears as n/a, and the reasons follow below the table.
std::string to_text(const ResultTable& table) {
  std::vector<std::vector<std::string>> lines(2);
  std::vector<bool> words(table.columns.size(), false);
  std::vector<Reason> reasons;
  for (const Column& column : table.columns) {
    lines[0].push_back(column.head);
    lines[1].push_back(column.unit);
  }
  for (const auto& row : table.rows) {
    lines.emplace_back();
    for (std::size_t c = 0; c < row.size(); ++c) {
      lines.back().push_back(cell_text(row[c], table.columns[c]));
      words[c] = words[c] || std::holds_alternative<std::string>(row[c]);
      if (const auto* none = std::get_if<NotAvailable>(&row[c])) {
        add_reason(reasons, none->reason, table.columns[c].head);
      }
    }
  }
  std::string text = table.title + "\n" + columns_text(lines, words);
  // If there is only one reason, or if a reason applies to whole rows, the columns need not be named.
  for (const Reason& reason : reasons) {
    const bool whole = reasons.size() == 1 || reason.heads.size() > 3;
    text += fmt::format("  n/a{}: {}\n", whole ? "" : fmt::format(" ({})", fmt::join(reason.heads, ", ")),
                        printable(reason.text));
  }
  return text;
}

std::string to_text(const Experiment& experiment, const ExperimentResult& result) {
  std::string text = fmt::format("{}: {}\nAfter {}.\n", experiment.name, experiment.does, experiment.source);
  for (const ResultTable& table : result.tables) text += "\n" + to_text(table);
  if (!result.remarks.empty()) text += "\n";
  for (const std::string& remark : result.remarks) text += printable(remark) + "\n";
  return text;
}

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

/// {cpu, processors_allowed, cores, numa_nodes, last_level_cache_bytes, governor, kernel, huge_pages, isa, version,
/// load_average, started}. Call this function before the experiment starts. A value that cannot be determined is "n/a".
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

/// {experiment, does, source, machine, options, tiers, remarks, tables, plots, series}. tables: {key: {title, columns,
/// rows}}; a row has one value for the key of each column. series: for each thread, the seconds of each repeat.
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

/// The object as one self-contained HTML page.
std::string experiment_page(const Json& found) {
  Json shown = found;
  shown.erase("series");  // the page does not show them; --json has them
  return page_with_data("/experiment.html", shown);
}

void print_list() {
  for (const Experiment& experiment : experiments()) {
    fmt::print("{:<11}{} ({})\n", experiment.name, experiment.does, experiment.source);
  }
}

ExperimentResult run_with_progress(const Experiment& experiment, Surroundings& around) {
  TerminalLine line;
  around.progress = [&line](const std::string& text) { line.show(printable(text)); };
  ExperimentResult result = experiment.run(around);
  if (experiment.name == "pipeline") add_own_pipeline(around, result);
  remark_if_busy(result);
  return result;
}

/// Refuses options that belong to other experiments and that this one would ignore.
void refuse_options_of_others(const CommandLine& line, const Experiment& experiment) {
  if (experiment.name == "apps") {
    if (line.is_given("--memory")) throw usage_error("--memory: found with the experiment apps, expected --far DIR");
    return;
  }
  for (const char* option : {"--program", "--dram", "--far", "--timing", "--programs"}) {
    if (line.is_given(option)) {
      throw usage_error("{}: found with the experiment {}, expected only with apps", option, experiment.name);
    }
  }
}

}  // namespace

int experiment_command(int argc, const char* const* argv) {
  std::string name;
  std::string output;
  bool json = false;
  ExperimentOptions options;
  CommandLine line("Repeats a published measurement on this node; `list` lists the experiments.",
                   "ringside experiment");
  line.option("NAME", name, "the experiment, or list")
      .required()
      .value_name("list|stream|compete|placement|streams|pipeline|apps");
  line.option("--memory", options.memory,
              "measure files in this folder as a memory, in addition to DRAM; may be repeated")
      .value_name("DIR");
  line.option("--threads", options.threads,
              "measure with these numbers of threads, separated by commas (default: up to all processors)")
      .comma_separated()
      .check(whole_number_within(1, kMostThreads))
      .value_name("LIST");
  line.option("--repeats", options.repeats, "number of repeats, sweeps or iterations (default: the experiment's own)")
      .check(whole_number_within(1, kMostRepeats))
      .value_name("N");
  line.option("--bytes", options.bytes, "size of one array, or of a program's data (default: the experiment's own)")
      .check(size_within(std::uint64_t{4} << 10, std::uint64_t{1} << 40, "4K to 1024G"))
      .value_name("SIZE");
  OptionSet apps = line.options_of<AppsOptions>("Options of apps");
  apps.option("--program", options.apps.programs, "programs, separated by commas (default: all that are found)")
      .comma_separated()
      .value_name("NAME,...");
  apps.option("--dram", options.apps.dram,
              "sizes of the DRAM that caches far memory, separated by commas: a size such as 64M, or a share of a "
              "program's memory such as 25% (default: 25%,50%)")
      .comma_separated()
      .value_name("SIZES");
  apps.option("--far", options.apps.far, "the folder of far memory (default: /dev/shm)").value_name("DIR");
  apps.option("--timing", options.apps.timing,
              "emulate slower far memory: a transfer takes at least 305 ns plus the time of its bytes, at 4 GB/s for a "
              "read and 2 GB/s for a write")
      .check(one_of({"optane"}))
      .value_name("optane");
  apps.option("--programs", options.apps.program_folders,
              "a folder with programs that are not in PATH; may be repeated")
      .value_name("DIR");
  line.flag("--json", json, "print one JSON object");
  line.option("-o,--output", output, "write a page with plots (-: to standard output)").value_name("FILE.html");
  if (const auto code = parse_or_exit_code(line, argc, argv)) return *code;

  if (name == "list") {
    print_list();
    return static_cast<int>(ExitCode::kDone);
  }
  const Experiment& experiment = find_experiment(name);
  refuse_options_of_others(line, experiment);
  if (json && is_standard_output(output)) {
    throw usage_error(
        "--json, --output -: found both, expected one of them, because standard output holds only one document");
  }
  std::sort(options.threads.begin(), options.threads.end());
  options.threads.erase(std::unique(options.threads.begin(), options.threads.end()), options.threads.end());
  Surroundings around = surroundings_for(options);
  if (!output.empty()) {
    check_output(output, "--output", {});
    refuse_other_endings(output, "--output", kPageEndings);
  }
  const Json machine = machine_of(around.machine);
  const ExperimentResult result = run_with_progress(experiment, around);
  const Json found = to_json(experiment, around, result, machine);
  if (json) {
    fmt::print("{}\n", found.dump(2));
  } else if (!is_standard_output(output)) {
    fmt::print("{}", to_text(experiment, result));
  }
  if (!output.empty()) {
    OutputFile file(output, "--output");
    file.write(experiment_page(found));
    file.finish();
    if (!json)
      write_beside_output(output, fmt::format("ringside experiment: wrote {}\n", printable(output_name(output))));
  }
  return static_cast<int>(ExitCode::kDone);
}

}  // namespace ringside
