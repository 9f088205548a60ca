// SPDX-License-Identifier: BSD-3-Clause
// `ringside export POOL`: writes variables of a kept step, after verifying it, to a file that other programs can read.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/pool/export_formats.hpp"
#include "cli/pool/iterations.hpp"
#include "cli/subcommands.hpp"
#include "cli/terminal/format.hpp"
#include "common/files/output_file.hpp"
#include "common/files/own_descriptor.hpp"
#include "common/files/standard_streams.hpp"
#include "common/options/command_line.hpp"
#include "common/options/option_checks.hpp"
#include "common/platform/error.hpp"
#include "common/platform/printable.hpp"
#include "common/pool_reader/ring_reader.hpp"

namespace ringside {
namespace {

KeptSlot find(const std::string& pool, const Recovery& recovery, std::optional<std::uint64_t> wanted) {
  if (recovery.kept.empty()) throw usage_error("{}: the pool holds no iterates", pool);
  if (!wanted) return recovery.kept.back();
  for (auto kept = recovery.kept.rbegin(); kept != recovery.kept.rend(); ++kept) {
    if (kept->header.iteration == *wanted) return *kept;
  }
  throw usage_error("--iteration: {} is not kept in {}; {}", *wanted, pool, kept_iterations(recovery));
}

/// Never exports an older iterate in place of the last one. The error names the newest intact one; the user decides.
Error damaged(const RingReader& reader, const KeptSlot& kept, std::uint64_t chunk) {
  const std::optional<KeptSlot> intact = newest_intact(reader.ring(), reader.recover());
  return damage_error("{}: iteration {} in slot {} is damaged (chunk {}); {}", reader.path().string(),
                      kept.header.iteration, kept.slot, chunk,
                      intact ? fmt::format("--iteration {} is the newest intact one", intact->header.iteration)
                             : std::string("none of the others is intact"));
}

/// Returns the payload of iteration `wanted` (nothing: the newest) and the slot that held it.
std::pair<KeptSlot, std::vector<std::byte>> read(const RingReader& reader, std::optional<std::uint64_t> wanted) {
  // In a ring of K slots, the newest iterate is overwritten K - 1 commits later. On busy cores, a reader of a small
  // ring may lose that race a dozen times.
  constexpr int kAttempts = 100;
  const std::string pool = reader.path().string();
  std::vector<std::byte> payload(reader.ring().geometry().payload_bytes());
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const Recovery recovery = reader.recover();
    if (attempt == 0 && !wanted && !recovery.damaged.empty()) {
      write_standard_error(
          fmt::format("ringside: note: {}: the headers of {} slots are damaged; one may have held a newer iterate\n",
                      printable(pool), recovery.damaged.size()));
    }
    const KeptSlot kept = find(pool, recovery, wanted);
    const ReadResult result = reader.read(kept, payload.data());
    if (result.status == ReadStatus::kOk) return {kept, std::move(payload)};
    if (result.status == ReadStatus::kDamaged) throw damaged(reader, kept, result.damaged_chunk);
    // The slot was overwritten during the read: a wanted iteration is no longer found, the last one is now another.
  }
  throw system_error(
      "{}: the last iterate was overwritten while it was read, {} times: an analyzer is at work, and faster", pool,
      kAttempts);
}

std::string names_of(const Schema& schema) {
  std::vector<std::string_view> names;
  for (const Variable& variable : schema.variables()) names.push_back(variable.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// The variables of these names, in the given order; all if none is given.
std::vector<std::size_t> chosen_variables(const Schema& schema, const std::vector<std::string>& names,
                                          const std::string& pool) {
  std::vector<std::size_t> chosen;
  for (const std::string& name : names) {
    std::size_t v = 0;
    while (v < schema.size() && schema.variables()[v].name != name) ++v;
    if (v == schema.size()) {
      throw usage_error("--variable: found '{}', {} has {}", name, pool, names_of(schema));
    }
    if (std::find(chosen.begin(), chosen.end(), v) != chosen.end()) {
      throw usage_error("--variable: found '{}' twice, expected each name once", name);
    }
    chosen.push_back(v);
  }
  for (std::size_t v = 0; names.empty() && v < schema.size(); ++v) chosen.push_back(v);
  return chosen;
}

std::vector<std::string> texts_of(const std::vector<ExportedVariable>& exported) {
  std::vector<std::string> texts;
  for (const ExportedVariable& one : exported) texts.push_back(to_text(one.variable));
  return texts;
}

/// The format of this name; if it is empty, the one that the output's name ends with, or the first.
const ExportFormat& chosen_format(const std::string& name, const std::string& output) {
  for (const ExportFormat& one : export_formats()) {
    if (name.empty() ? output.ends_with("." + std::string(one.name)) : name == one.name) return one;
  }
  return export_formats()[0];
}

}  // namespace

int export_command(int argc, const char* const* argv) {
  std::string pool;
  std::string iteration = "last";
  std::string format;
  std::string output;
  std::vector<std::string> names;
  for (const ExportFormat& one : export_formats()) names.emplace_back(one.name);
  std::vector<std::string> wanted_variables;
  CommandLine line(
      "Writes variables of a kept step to a file, after verifying it: the first one, or with npz all of them. Rows "
      "count "
      "from 0.",
      "ringside export");
  line.option("POOL", pool, "pool file").required().value_name("FILE");
  line.option("--iteration", iteration, "which iterate").value_name("K|last").show_default();
  line.option("--variable", wanted_variables, "variable to write; several only with npz")
      .value_name("NAME,...")
      .comma_separated();
  line.option("--format", format, "file format (default: the one that the output's name ends with, or npy)")
      .check(one_of(names))
      .value_name(fmt::format("{}", fmt::join(names, "|")));
  line.option("-o,--output", output, "file to write; -: standard output").required().value_name("FILE");
  if (const auto code = parse_or_exit_code(line, argc, argv)) return *code;

  const RingReader reader = RingReader::open(pool);
  const std::vector<KeptFile> kept_files = {{"POOL", pool}};
  check_output(output, "--output", kept_files);
  std::optional<std::uint64_t> wanted;
  if (iteration != "last") wanted = parse_iteration(iteration, "--iteration", "a number or 'last'");
  const Schema& schema = reader.ring().geometry().schema();
  const ExportFormat& chosen = chosen_format(format, output);
  std::vector<std::size_t> variables = chosen_variables(schema, wanted_variables, pool);
  if (!chosen.several && wanted_variables.empty()) variables.resize(1);
  if (!chosen.several && variables.size() > 1) {
    throw usage_error("--variable: found {} with --format {}, expected one (npz holds several)", variables.size(),
                      chosen.name);
  }
  for (const std::size_t v : variables) chosen.check(schema.variables()[v]);
  const auto [kept, payload] = read(reader, wanted);
  std::vector<ExportedVariable> exported;
  for (const std::size_t v : variables) {
    exported.push_back(
        {schema.variables()[v], std::span(payload).subspan(schema.place(v).offset, schema.place(v).bytes)});
  }
  OutputFile file(output, "--output", kept_files);
  chosen.write(file, exported);
  file.finish();
  const std::string what = schema.is_x_only() ? with_separators(schema.place(0).entries) + " rows"
                                              : fmt::format("{}", fmt::join(texts_of(exported), ", "));
  write_beside_output(output, fmt::format("{}: iteration {} of {}, {}, as {}\n", printable(output_name(output)),
                                          with_separators(kept.header.iteration), printable(pool), what, chosen.name));
  return 0;
}

}  // namespace ringside
