// SPDX-License-Identifier: BSD-3-Clause
// `ringside report`: writes one HTML file with the account of a run, its waiting times, and change and reductions
// over its iterations. The source is the journal and the ring of a pool, or a summary, which contains no steps.
#include <fmt/format.h>
#include <unistd.h>

#include <optional>
#include <string_view>

#include "analyzer/ring/kept_results.hpp"
#include "cli/pool/decoded_journal.hpp"
#include "cli/pool/journal_identity.hpp"
#include "cli/pool/pool_arguments.hpp"
#include "cli/pool_view/field_image.hpp"
#include "cli/pool_view/field_image_json.hpp"
#include "cli/subcommands.hpp"
#include "cli/terminal/format.hpp"
#include "cli/watch/report_page.hpp"
#include "common/files/output_file.hpp"
#include "common/files/own_descriptor.hpp"
#include "common/journal/journal_files.hpp"
#include "common/options/command_line.hpp"
#include "common/options/options.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "common/platform/version.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "common/records/shown_results.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

constexpr std::string_view kExpected = "a pool, or a summary of `ringside run`";

constexpr std::size_t kMostImages = 4;  // each image takes about 90 kB

/// Images of the two-dimensional fields of the newest kept iterate. large: whether to include large fields.
Json images_in(const RingReader& reader, bool large, Json& notices) {
  Json images = Json::array();
  for (const FieldGrid& grid : grids_in(reader)) {
    if (images.size() == kMostImages) break;
    if (grid.is_large() && !large) {
      notices.push_back(fmt::format("{} is not drawn: it has more than {} entries; --draw-large draws it.", grid.name,
                                    with_separators(FieldGrid::kLarge)));
      continue;
    }
    const DrawnField drawn = draw_newest(reader, grid, CellShows::kExtreme);
    if (drawn.image) {
      images.push_back(to_json(grid, drawn, CellShows::kExtreme));
    } else {
      notices.push_back(fmt::format("{} is not drawn: {}.", grid.name, drawn.why));
    }
  }
  return images;
}

/// Adds the iterates that the pool's ring keeps, or a notice if the ring cannot be read.
void add_kept(const std::string& pool, bool large, Json& report) {
  Json& notices = report["notices"];
  Json kept = Json::array();
  try {
    const RingReader reader = RingReader::open(pool);
    KeptResults results(reader.ring());
    for (const KeptSlot& slot : reader.recover().kept) {
      Json row = {{"iteration", slot.header.iteration}, {"step", slot.header.step}};
      if (const auto shown = results.shown(slot)) row.update(Json(to_json(*shown, slot.header.iteration)));
      kept.push_back(row);
    }
    report["images"] = images_in(reader, large, notices);
  } catch (const Error& error) {
    notices.push_back(fmt::format("The ring could not be read: {}", error.what()));
  }
  report["kept"] = kept;
  report["kept_hint"] = "iterates in the ring";
}

Json report_of_pool(const std::string& pool, bool large) {
  const DecodedJournal journal = read_journal(pool);
  RunHistory history;
  NamedByJournal named;
  for (const wire::Record& record : journal.records) history.learn(record);
  for (const SharedLayout& layout : layouts_in(pool)) history.learn(layout);
  for (const wire::Record& record : journal.records) {
    history.add(record);
    named.add(record);
  }
  if (!history.run()) throw usage_error("{}: its journal holds no run", pool);
  Json report = report_of(history);
  if (!journal.damage.empty()) report["notices"].push_back("The journal is damaged: " + journal.damage);
  if (!journal.torn.empty()) report["notices"].push_back("The journal's last record is incomplete: " + journal.torn);
  const JournalIdentity identity = identify(named, pool);
  for (const std::string& text : {identity.foreign, identity.older}) {
    if (!text.empty()) report["notices"].push_back(text);
  }
  if (access(pool.c_str(), F_OK) == 0) {
    add_kept(pool, large, report);
  } else {
    report["kept"] = Json::array();
    report["kept_hint"] = "none: this is the journal of a whole run, whose iterates are in the rings of its nodes";
  }
  return report;
}

}  // namespace

int report_command(int argc, const char* const* argv) {
  std::string input = RingOptions().pool;
  std::string output = "report.html";
  bool draw_large = false;
  CommandLine line(
      "Writes one HTML file about a run: its account, how long each side waited, its change and its reductions.",
      "ringside report");
  line.option("INPUT", input, "pool with its journal, its ranks file, or a summary of `ringside run`")
      .value_name("POOL|SUMMARY.json")
      .show_default();
  line.option("-o,--output", output, "the file to write (-: standard output)").value_name("FILE.html").show_default();
  line.flag("--draw-large", draw_large, "draw fields of more than 4,000,000 entries as well");
  if (const auto code = parse_or_exit_code(line, argc, argv)) return *code;

  const std::string named = std::exchange(input, one_journal_of(input));
  // A journal of a whole run of several nodes has no ring beside it.
  const bool only_journal = access(input.c_str(), F_OK) != 0 && !journal_files_there(input).empty();
  const std::optional<std::string> text = only_journal ? std::nullopt : read_json_object(input, kExpected);
  Json report = text ? report_of_summary(parse_summary(*text, input), input) : report_of_pool(input, draw_large);
  report["written_s"] = seconds(realtime_ns());
  report["source"] = input;
  report["version"] = version();
  const std::vector<KeptFile> kept = {{"INPUT", input}, {"INPUT", named}};
  check_output(output, "--output", kept);  // before the check of the ending: naming the input is worse
  refuse_other_endings(output, "--output", kPageEndings);
  OutputFile file(output, "--output", kept);
  file.write(report_page(report));
  file.finish();
  write_beside_output(output, fmt::format("ringside report: wrote {}\n", printable(output_name(output))));
  return static_cast<int>(ExitCode::kDone);
}

}  // namespace ringside
