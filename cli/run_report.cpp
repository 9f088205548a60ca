#include "cli/run_report.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <fstream>

#include <CLI/CLI.hpp>

#include "analyzer/ring_reader.hpp"
#include "cli/journal_identity.hpp"
#include "cli/journal_records.hpp"
#include "cli/report_page.hpp"
#include "common/error.hpp"
#include "common/options.hpp"
#include "common/output_file.hpp"
#include "common/reduction_json.hpp"

namespace ringside {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

json read_summary(const std::string& path) {
  std::ifstream file(path);
  json summary = json::parse(file, nullptr, false);
  if (summary.is_discarded()) {
    throw usage_error("{}: neither a pool nor a summary; expected what `ringside run` left, or its --summary", path);
  }
  return summary;
}

bool is_json_object(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    const int error = errno;
    throw usage_error("{}: cannot be opened: {}; expected a pool, or a summary of `ringside run`", path,
                      errno_text(error != 0 ? error : EIO));
  }
  char first = 0;
  return static_cast<bool>(file >> first) && first == '{';
}

/// What the ring of the pool holds; nothing, and a notice, where it cannot be read.
ordered_json kept_in(const std::string& pool, ordered_json& notices) {
  ordered_json kept = ordered_json::array();
  try {
    const RingReader reader = RingReader::open(pool);
    for (const KeptSlot& slot : reader.recover().kept) {
      ordered_json row = {{"iteration", slot.header.iteration}, {"step", slot.header.step}};
      Reductions reductions;
      if (reader.ring().reductions(slot.slot, slot.header, reductions) == ReductionsState::kRecorded) {
        row.update(ordered_json(to_json(reductions, slot.header.iteration)));
      }
      kept.push_back(row);
    }
  } catch (const Error& error) {
    notices.push_back(fmt::format("The ring could not be read: {}", error.what()));
  }
  return kept;
}

ordered_json report_of_pool(const std::string& pool) {
  const JournalRecords journal = read_journal(pool);
  RunHistory history;
  for (const wire::Record& record : journal.records) history.add(record);
  if (!history.run()) throw usage_error("{}: its journal tells of no run", pool);
  ordered_json report = report_of(history);
  if (!journal.damage.empty()) report["notices"].push_back("The journal is damaged: " + journal.damage);
  if (!journal.torn.empty()) report["notices"].push_back("The journal's last record is not whole: " + journal.torn);
  if (const std::string foreign = foreign_journal(pool); !foreign.empty()) report["notices"].push_back(foreign);
  report["kept"] = kept_in(pool, report["notices"]);
  report["kept_hint"] = "iterates in the ring";
  return report;
}

}  // namespace

int report_command(int argc, const char* const* argv) {
  std::string input = RingOptions().pool;
  std::string output = "report.html";
  CLI::App app("Writes one HTML file about a run: the account, who waited for whom, residual and reductions.",
               "ringside report");
  app.add_option("INPUT", input, "pool with its journal, or a summary of `ringside run`")
      ->type_name("POOL|SUMMARY.json")
      ->capture_default_str();
  app.add_option("-o,--output", output, "the file to write")->type_name("FILE.html")->capture_default_str();
  if (const auto code = parse_or_exit_code(app, argc, argv)) return *code;

  ordered_json report = is_json_object(input) ? report_of_summary(read_summary(input), input) : report_of_pool(input);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  report["written_s"] = std::chrono::duration<double>(now).count();
  report["source"] = input;
  report["version"] = RINGSIDE_VERSION;
  OutputFile file(output, "--output");
  file.write(report_page(report));
  file.finish();
  fmt::print("ringside report: wrote {}\n", output);
  return static_cast<int>(ExitCode::kDone);
}

}  // namespace ringside
