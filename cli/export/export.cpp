// SPDX-License-Identifier: BSD-3-Clause
// `ringside export POOL`: writes kept steps, or the records of the journal, to a file that other programs can read.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/export/formats/export_format.hpp"
#include "cli/export/formats/slice.hpp"
#include "cli/export/point_file.hpp"
#include "cli/export/records/records_export.hpp"
#include "cli/export/ring_export.hpp"
#include "cli/export/step_choice.hpp"
#include "cli/export/step_export.hpp"
#include "cli/pool/pool_arguments.hpp"
#include "cli/subcommands.hpp"
#include "cli/terminal/format.hpp"
#include "common/files/output_file.hpp"
#include "common/files/own_descriptor.hpp"
#include "common/files/standard_streams.hpp"
#include "common/node_rings/ring_set.hpp"
#include "common/options/command_line.hpp"
#include "common/options/option_checks.hpp"
#include "common/platform/error.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "common/program/stop_signal.hpp"
#include "common/text/decimal.hpp"
#include "common/text/printable.hpp"
#include "common/triggers/pool_freeze.hpp"

namespace ringside {
namespace {

struct ExportOptions {
  std::string pool;
  StepOptions steps;
  std::vector<std::string> variables;
  std::string slice;
  std::string points;
  std::string format;
  std::string output;
  bool records = false;
};

std::string names_of(std::span<const Variable> variables) {
  std::vector<std::string_view> names;
  for (const Variable& variable : variables) names.push_back(variable.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// The variables with the given names, in the same order; all variables if no names are given.
std::vector<std::size_t> named_variables(std::span<const Variable> variables, const std::vector<std::string>& names,
                                         const std::string& pool) {
  std::vector<std::size_t> chosen;
  for (const std::string& name : names) {
    std::size_t v = 0;
    while (v < variables.size() && variables[v].name != name) ++v;
    if (v == variables.size()) {
      throw usage_error("--variable: found '{}', expected a variable of {}: {}", name, pool, names_of(variables));
    }
    if (std::find(chosen.begin(), chosen.end(), v) != chosen.end()) {
      throw usage_error("--variable: found '{}' twice, expected each name once", name);
    }
    chosen.push_back(v);
  }
  for (std::size_t v = 0; names.empty() && v < variables.size(); ++v) chosen.push_back(v);
  return chosen;
}

/// The variables to write. If the user named none, the format determines whether the first variable is written, all
/// variables, or all variables with the same shape as the first variable that has a shape.
std::vector<std::size_t> chosen_variables(const ExportOptions& options, const ExportFormat& format,
                                          std::span<const Variable> variables) {
  std::vector<std::size_t> chosen = named_variables(variables, options.variables, options.pool);
  const bool named = !options.variables.empty();
  if (format.variables == ExportFormat::Takes::kOne) {
    if (!named) chosen.resize(1);
    if (chosen.size() > 1) {
      throw usage_error("--variable: found {} variables with --format {}, expected one (npz holds several)",
                        chosen.size(), format.name);
    }
  }
  if (format.variables == ExportFormat::Takes::kSeveralOfOneShape && !named) {
    const auto first =
        std::find_if(chosen.begin(), chosen.end(), [&](std::size_t v) { return !variables[v].shape.empty(); });
    const std::vector<std::uint64_t> shape = variables[first == chosen.end() ? 0 : *first].shape;
    std::erase_if(chosen, [&](std::size_t v) { return variables[v].shape != shape; });
  }
  return chosen;
}

/// The format that --format names. Without --format: the format that matches the output's ending, else the first
/// format.
const ExportFormat& chosen_format(const ExportOptions& options) {
  for (const ExportFormat& one : export_formats()) {
    if (options.format == one.name) return one;
    if (!options.format.empty()) continue;
    for (const std::string_view ending : one.endings) {
      const std::string_view output = options.output;
      if (output.ends_with(ending) || output.ends_with(std::string(ending) + "/")) return one;
    }
  }
  if (!options.format.empty()) {
    throw usage_error("--format: found '{}' without --records, expected a format for variables, not for records",
                      options.format);
  }
  return export_formats()[0];
}

bool is_folder_format(const ExportFormat& format) {
  return format.name.starts_with("zarr");
}

/// Throws Error (exit code 2) if the output cannot be written at its path, or if its ending belongs to no format.
void check_place(const ExportOptions& options, const ExportFormat& format, const std::vector<KeptFile>& kept) {
  if (!is_folder_format(format)) check_output(options.output, "--output", kept);
  if (!options.format.empty()) return;
  std::vector<std::string> endings;
  for (const ExportFormat& one : export_formats())
    endings.insert(endings.end(), one.endings.begin(), one.endings.end());
  refuse_other_endings(options.output, "--output", endings, kFormatHint);
}

/// The points that belong to the entries of the slice.
std::vector<double> points_of(const ExportOptions& options, const Variable& variable, const Slice& slice) {
  std::vector<double> points = read_points(options.points);
  std::uint64_t entries = 1;
  for (const std::uint64_t extent : variable.shape) entries *= extent;
  if (points.size() != 3 * entries) {
    throw usage_error("--points: found {} points in {}, expected one for each of the {} entries of {}",
                      points.size() / 3, options.points, entries, to_text(variable));
  }
  const Region region = slice.of(variable);
  std::vector<std::byte> buffer;
  const std::span<const std::byte> left = select(region, 3 * sizeof(double), std::as_bytes(std::span(points)), buffer);
  std::vector<double> chosen(left.size() / sizeof(double));
  std::copy_n(reinterpret_cast<const double*>(left.data()), chosen.size(), chosen.begin());
  return chosen;
}

ExportTarget target_of(const ExportOptions& options, const std::vector<std::size_t>& chosen,
                       std::span<const Variable> variables) {
  ExportTarget target{.output = options.output,
                      .kept = {{"POOL", options.pool}, {"--points", options.points}},
                      .variables = {},
                      .series = options.steps.all,
                      .points = {}};
  const Slice slice = options.slice.empty() ? Slice() : Slice(options.slice);
  for (const std::size_t v : chosen) {
    ExportedVariable one{.variable = variables[v], .region = slice.of(variables[v])};
    one.variable.shape = one.region.shape();
    target.variables.push_back(std::move(one));
  }
  if (!options.points.empty()) target.points = points_of(options, variables[chosen.at(0)], slice);
  return target;
}

std::string what_was_written(const ExportTarget& target) {
  std::vector<std::string> texts;
  for (const ExportedVariable& one : target.variables) texts.push_back(to_text(one.variable));
  const Variable& first = target.variables[0].variable;
  const bool x_only = texts.size() == 1 && first.name == "x" && first.dtype == DType::kF64 && first.unit.empty() &&
                      first.role == Role::kField && first.shape.size() == 1;
  return x_only ? with_separators(first.shape[0]) + " rows" : fmt::format("{}", fmt::join(texts, ", "));
}

/// The archive, to which triggers copied steps of the pool. Empty if it does not exist, cannot be read or has other
/// variables; in the last two cases, a note gives the reason.
std::optional<RingReader> archive_of(const RingReader& pool) {
  const std::string path = archive_path(pool.path().string());
  std::string why;
  try {
    RingReader archive = RingReader::open(path, std::chrono::milliseconds(0));
    if (archive.ring().geometry().schema() == pool.ring().geometry().schema()) return archive;
    why = fmt::format("{}: its variables differ from the pool's", path);
  } catch (const MissingPoolError&) {
    return std::nullopt;
  } catch (const Error& error) {
    why = error.what();
  }
  write_standard_error(fmt::format("ringside: note: the archive is left out: {}\n", printable(why)));
  return std::nullopt;
}

/// Whether the reader's pool keeps this iteration of a run that also has steps in `of_runs_in`.
bool holds(const RingReader& reader, std::uint64_t iteration, const Recovery& of_runs_in) {
  const Recovery found = reader.recover();
  return std::any_of(found.kept.begin(), found.kept.end(), [&](const KeptSlot& kept) {
    return kept.header.iteration == iteration && is_of_a_run_in(of_runs_in, kept.header);
  });
}

/// The archive, if it keeps the requested step and the pool does not.
std::optional<RingReader> archive_instead_of(const RingReader& pool, const StepOptions& options) {
  const std::optional<std::uint64_t> wanted = whole_number(options.iteration);
  const Recovery found = pool.recover();
  if (options.all || !wanted || holds(pool, *wanted, found)) return std::nullopt;
  std::optional<RingReader> archive = archive_of(pool);
  if (archive && !holds(*archive, *wanted, found)) archive.reset();
  return archive;
}

/// The chosen format, after those checks that are the same for one ring and for the rings of several nodes. Throws
/// Error (exit code 2) for options that the format does not support.
const ExportFormat& checked_format(const ExportOptions& options) {
  const ExportFormat& format = chosen_format(options);
  if (options.steps.all && !format.series) {
    throw usage_error("--all: found --format {}, which holds one step; expected hdf5, vtk, zarr or zarr3", format.name);
  }
  if (!options.points.empty() && format.name != "vtk") {
    throw usage_error("--points: found --format {}, expected vtk", format.name);
  }
  return format;
}

std::string series_text(const ExportedSeries& series) {
  std::string text = fmt::format("{}, iterations {} to {}", counted(series.iterations.size(), "step"),
                                 with_separators(series.iterations.front()), with_separators(series.iterations.back()));
  if (series.overwritten > 0) {
    text += fmt::format(" ({} overwritten before they could be written)", counted(series.overwritten, "step"));
  }
  return text;
}

/// what: StepExport or RingExport.
template <class Export>
void export_and_say(const Export& what, const ExportOptions& options, const std::string& of) {
  const std::string steps = options.steps.all ? series_text(export_series(what, options.steps))
                                              : "iteration " + with_separators(export_one(what, options.steps));
  write_beside_output(options.output,
                      fmt::format("{}: {} of {}, {}, as {}\n", printable(output_name(options.output)), steps,
                                  printable(of), what_was_written(what.target), what.format.name));
}

/// Exports arrays of the whole run from the rings of several nodes.
int export_rings(const ExportOptions& options) {
  const RingSet set = RingSet::open(options.pool);
  set.expect_all();
  const ExportFormat& format = checked_format(options);
  if (!format.chunks) {
    throw usage_error("--format: found {} for rings of several nodes, but it is not written row by row; expected {}",
                      format.name, "csv, hdf5, npy, npz, vtk, zarr or zarr3");
  }
  const std::span<const Variable> variables = set.ranks().variables;
  const std::vector<std::size_t> chosen = chosen_variables(options, format, variables);
  ExportTarget target = target_of(options, chosen, variables);
  for (const NodeRing& node : set.nodes()) {
    target.kept.push_back({"a ring", node.path});
    target.kept.push_back({"a ranks file", ranks_path(node.path)});
  }
  const Assembly assembly(set.ranks());
  for (std::size_t i = 0; i < chosen.size() && options.slice.empty(); ++i) {
    target.variables[i].chunk = assembly.chunk_of_ranks(chosen[i], kMostChunkBytes);
  }
  const bool is_folder = is_folder_format(format);
  check_place(options, format, target.kept);
  if (is_standard_output(options.output) || (!is_folder && !is_made_anew(options.output))) {
    throw usage_error(
        "--output: found '{}', expected the name of a new file or folder, because for rings of several nodes the "
        "output is removed if a step is overwritten while it is read",
        output_name(options.output));
  }
  format.check(target);
  export_and_say(RingExport{set, assembly, format, target, chosen, catch_stop_signals()}, options, set.path());
  return 0;
}

int export_steps(const ExportOptions& options) {
  const RingReader pool = RingReader::open(options.pool);
  const std::optional<RingReader> instead = archive_instead_of(pool, options.steps);
  const RingReader& reader = instead ? *instead : pool;
  const ExportFormat& format = checked_format(options);
  const bool is_folder = is_folder_format(format);
  const std::vector<KeptFile> kept_files = {{"POOL", options.pool}, {"--points", options.points}};
  check_place(options, format, kept_files);
  const bool to_file = is_folder || is_made_anew(options.output);
  if (!format.streams && (is_standard_output(options.output) || !to_file)) {
    throw usage_error("--output: '{}' cannot be {}, because this format is not written sequentially; expected {}",
                      output_name(options.output), format.name,
                      "the name of a new file or folder, or --format npy, npz, csv, mtx or vtk");
  }
  const std::span<const Variable> schema = reader.ring().geometry().schema().variables();
  const std::vector<std::size_t> variables = chosen_variables(options, format, schema);
  const ExportTarget target = target_of(options, variables, schema);
  format.check(target);
  const std::optional<RingReader> archive = options.steps.all ? archive_of(pool) : std::nullopt;
  StepExport what{reader, archive ? &*archive : nullptr, format, target, variables, to_file, {}};
  if (to_file) what.stop = catch_stop_signals();
  export_and_say(what, options, reader.path().string());
  return 0;
}

/// Refuses options that the chosen kind of export does not support.
void refuse_combinations(const ExportOptions& options, const CommandLine& line) {
  for (const char* name : {"--iteration", "--all", "--every", "--variable", "--slice", "--points"}) {
    if (options.records && line.is_given(name)) {
      throw usage_error("{}: found with --records, which exports the journal's records and no variables", name);
    }
  }
  if (options.steps.all && line.is_given("--iteration")) {
    throw usage_error("--iteration: found with --all, expected one of them");
  }
  for (const char* name : {"--from", "--to", "--every"}) {
    if (!options.steps.all && !options.records && line.is_given(name)) {
      throw usage_error("{}: found without --all and --records, expected one of them", name);
    }
  }
  if (options.steps.every == 0) throw usage_error("--every: found 0, expected at least 1");
}

}  // namespace

int export_command(int argc, const char* const* argv) {
  ExportOptions options;
  std::vector<std::string> formats;
  for (const ExportFormat& one : export_formats()) formats.emplace_back(one.name);
  for (const RecordsFormat& one : records_formats()) {
    if (std::find(formats.begin(), formats.end(), one.name) == formats.end()) formats.emplace_back(one.name);
  }
  CommandLine line(
      "Verifies kept steps and writes their variables, or parts of them, to a file for other programs: one step or\n"
      "all kept steps. With --records, it writes the journal's records as a table instead. Rings of several nodes\n"
      "give arrays of the whole run. Rows count from 0. docs/use/export.md describes the formats.",
      "ringside export");
  line.option("POOL", options.pool, kPoolOrRings).required().value_name("FILE");
  line.option("--iteration", options.steps.iteration, "the iteration whose iterate is written")
      .value_name("K|last")
      .show_default();
  line.flag("--all", options.steps.all, "write all kept and archived steps to one output (hdf5, vtk, zarr, zarr3)");
  line.option("--from", options.steps.from, "with --all or --records: first iteration (default: the oldest)")
      .value_name("K");
  line.option("--to", options.steps.to, "with --all or --records: last iteration (default: the newest)")
      .value_name("K");
  line.option("--every", options.steps.every, "with --all: write the first step, and every N-th after it")
      .value_name("N")
      .show_default();
  line.option("--variable", options.variables,
              "variables to write (default: all, or the first one if the format holds only one)")
      .value_name("NAME,...")
      .comma_separated();
  line.option("--slice", options.slice,
              "write a part of each variable: an index or start:stop[:step] for each dimension")
      .value_name("RANGES");
  line.option("--points", options.points,
              "with --format vtk: a table (csv or npy) with the position of each entry: x, y and optionally z")
      .value_name("FILE");
  line.flag("--records", options.records, "write the journal's records of the steps instead of variables");
  line.option("--format", options.format, "file format (default: by the ending of the output's name, or npy)")
      .check(one_of(formats))
      .value_name(fmt::format("{}", fmt::join(formats, "|")));
  line.option("-o,--output", options.output, "file or folder to write (-: standard output)")
      .required()
      .value_name("FILE");
  if (const auto code = parse_or_exit_code(line, argc, argv)) return *code;
  refuse_combinations(options, line);
  if (options.records) options.pool = one_journal_of(options.pool);
  if (!options.records) return names_rings(options.pool) ? export_rings(options) : export_steps(options);
  export_records({.pool = options.pool,
                  .range = parse_range(options.steps.from, options.steps.to),
                  .format = options.format,
                  .output = options.output});
  return 0;
}

}  // namespace ringside
