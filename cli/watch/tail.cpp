// SPDX-License-Identifier: BSD-3-Clause
#include "cli/watch/tail.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/pool/decoded_journal.hpp"
#include "cli/pool/journal_identity.hpp"
#include "cli/pool/pool_arguments.hpp"
#include "cli/runs/run_folder.hpp"
#include "cli/runs/run_list.hpp"
#include "cli/subcommands.hpp"
#include "cli/terminal/record_table.hpp"
#include "cli/watch/service.hpp"
#include "common/files/standard_streams.hpp"
#include "common/journal/journal_reader.hpp"
#include "common/options/command_line.hpp"
#include "common/options/options.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "common/platform/process.hpp"
#include "common/platform/stop_flag.hpp"
#include "common/program/stop_signal.hpp"
#include "common/records/result_names.hpp"
#include "common/telemetry/record_stream.hpp"
#include "common/telemetry/wire_json.hpp"
#include "common/text/decimal.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

constexpr int kStatusPatienceMs = 5000;
constexpr std::int64_t kHeardWithinNs = 5'000'000'000;
constexpr int kLookMs = 100;           // time between two checks of the stop flag
constexpr std::size_t kMostLines = 8;  // the most lines in one batch on a terminal; a user cannot read more
constexpr std::size_t kMostAtOnce = 4096;

struct TailOptions {
  ServiceOptions service;
  std::string pool;
  std::string runs;
  std::string since;
  bool json = false;
  bool once = false;
};

TableOptions table_for(int fd) {
  TableOptions options;
  if (isatty(fd) != 1) return options;
  const char* term = std::getenv("TERM");
  options.colours = environment_value("NO_COLOR") == nullptr && term != nullptr && std::string_view(term) != "dumb";
  options.most_lines = kMostLines;
  return options;
}

/// Fits the table to the window. Called for every batch of lines, because the user may resize the window.
void fit_screen(RecordTable& table, int fd) {
  if (isatty(fd) != 1) return;
  winsize size{};
  ioctl(fd, TIOCGWINSZ, &size);
  std::size_t columns = size.ws_col;
  const char* told = std::getenv("COLUMNS");
  if (columns == 0 && told != nullptr) columns = whole_number(told).value_or(0);
  table.fit(size.ws_row > 0 ? size.ws_row : 24, columns);
}

/// Writes a line about the records to standard error, where the user sees it even if the records go to a pipe.
void note(std::string_view text) {
  write_standard_error(fmt::format("ringside tail: {}\n", printable(text)));
}

/// Prints records on standard output, as a table or as JSON.
class Output {
 public:
  Output(bool json, Since since) : json_(json), since_(since), table_(table_for(STDOUT_FILENO)) {}

  /// Takes the names of results from a record or from the start of a run. These names apply to later steps.
  void learn(const wire::Record& record) { names_.learn(record); }
  void learn(const wire::RunStarted& started) { names_.learn(started); }
  void learn(const SharedLayout& layout) { names_.learn(layout); }
  /// Whether there is a step whose results have no names.
  bool lacks_names(const std::vector<wire::Record>& records) const {
    return std::any_of(records.begin(), records.end(), [this](const wire::Record& record) {
      return record.has_step() && !names_.knows(record.step());
    });
  }

  /// Prints records. Returns false if standard output accepts no more; run_program then reports the reason.
  bool show(std::vector<wire::Record> records) {
    for (const wire::Record& record : records) learn(record);
    std::erase_if(records, [this](const wire::Record& record) { return !since_.holds(record); });
    if (records.empty()) return true;
    if (!json_) {
      fit_screen(table_, STDOUT_FILENO);
      return write_standard_output(table_.lines(records, names_));
    }
    std::string text;
    for (const wire::Record& record : records) {
      // File names may contain bytes that are not UTF-8.
      text += to_json(record, names_).dump() + '\n';
    }
    return write_standard_output(text);
  }

  /// Prints an event of the analyzer: as a line of the table, or, if the records are JSON, on standard error.
  bool say(std::string_view text) {
    if (!json_) return write_standard_output(table_.notice(text));
    note(text);
    return true;
  }

 private:
  bool json_;
  Since since_;
  ResultNames names_;
  RecordTable table_;
};

/// Collects the ids in all records of a journal. Also collects the names of results, because the description of results
/// may follow the first steps of their run. Rewinds the journal.
NamedByJournal named_by(JournalReader& journal, Output& output) {
  NamedByJournal named;
  wire::Record record;
  while (const std::optional<EncodedRecord> kept = journal.next(0)) {
    if (!record.ParseFromArray(kept->bytes.data(), static_cast<int>(kept->bytes.size()))) continue;
    named.add(record);
    output.learn(record);
  }
  journal.rewind();
  return named;
}

/// Shows only earlier records, from the journal's files. If the journal belongs to another pool, a note that says so is
/// also printed before the records, because the output may be long.
ExitCode show_journal(const std::string& pool, Output& output) {
  JournalReader journal = JournalReader::open(pool);
  const JournalIdentity identity = identify(named_by(journal, output), pool);
  for (const std::string& text : {identity.foreign, identity.older}) {
    if (!text.empty()) note(text);
  }
  for (const SharedLayout& layout : layouts_in(pool)) output.learn(layout);
  std::vector<wire::Record> records;
  std::uint64_t from = 0;
  bool read = true;
  while (const std::optional<EncodedRecord> kept = journal.next(from)) {
    from = kept->seq + 1;
    wire::Record& record = records.emplace_back();
    // A record with a right hash that cannot be parsed was not written by an analyzer, and is left out.
    if (!record.ParseFromArray(kept->bytes.data(), static_cast<int>(kept->bytes.size()))) records.pop_back();
    if (records.size() < kMostAtOnce) continue;
    read = output.show(std::exchange(records, {}));
    if (!read) return ExitCode::kDone;
  }
  if (!output.show(std::move(records))) return ExitCode::kDone;
  if (!journal.torn().empty()) note(journal.torn());
  if (!journal.damage().empty()) throw damage_error("{}", journal.damage());
  if (!identity.foreign.empty()) return ExitCode::kDamaged;
  return ExitCode::kDone;
}

/// Lists the runs below a folder. Names each journal that cannot be read, and continues with the others.
ExitCode list_runs(const std::string& folder_name, bool json) {
  RunFolder folder(folder_name);
  folder.look();
  if (json) {
    std::string text;
    for (const ListedRun& run : folder.runs()) {
      text += to_json(run).dump() + '\n';
    }
    if (!write_standard_output(text)) return ExitCode::kDone;
  } else if (!folder.runs().empty() && !write_standard_output(runs_table(folder.runs()))) {
    return ExitCode::kDone;
  }
  if (folder.runs().empty()) note(fmt::format("{}: found no run; journals lie beside pools, as POOL.journal-0", folder_name));
  if (!folder.left_out().empty()) note("left out: " + folder.left_out());
  ExitCode code = ExitCode::kDone;
  for (const JournalFault& fault : folder.faults()) {
    note(fmt::format("the journal of {}: {}", fault.name, fault.why));
    code = fault.code;
  }
  return code;
}

ExitCode show_status(const FoundService& found, bool json) {
  ChannelContext context;
  RecordStream stream(context, found.address, RecordStream::kNoRecords);
  const std::optional<wire::Status> status = stream.status(kStatusPatienceMs);
  if (!status) {
    throw peer_error("the analyzer at '{}' does not answer; is it alive, and was it started with --telemetry on?",
                     found.name);
  }
  fmt::print("{}", json ? to_json(*status).dump() + "\n" : status_text(*status));
  return ExitCode::kDone;
}

[[noreturn]] void throw_unheard(const ServiceOptions& options, const FoundService& found) {
  if (options.tcp.empty()) {
    throw peer_error("nothing was heard at '{}'; is an analyzer alive there, with --telemetry on?", found.name);
  }
  throw peer_error(
      "nothing was heard at '{}'; is an analyzer alive there with this --telemetry-tcp, and does its clients.allowed "
      "have the key in '{}'?",
      found.name, options.keys);
}

ExitCode follow(const TailOptions& options, const FoundService& found, const Since& since, Output& output) {
  const StopFlag stop = catch_stop_signals();
  ChannelContext context;
  RecordStream stream(context, found.address, since.seq);
  std::vector<wire::Record> records;
  const std::int64_t begun_ns = now_ns();
  bool lost = false;
  bool described = false;  // whether the description of the run was requested
  while (!stop.is_set()) {
    const StreamEvent event = stream.next(records, kLookMs);
    bool read = true;
    if (event == StreamEvent::kLost) read = output.say(fmt::format("the analyzer at {} is silent", found.name));
    if (event == StreamEvent::kBack) read = output.say("the analyzer is back");
    if (event == StreamEvent::kNewAnalyzer) read = output.say("another analyzer continues");
    if (event == StreamEvent::kNoLongerKept) {
      const RecordRange range = stream.no_longer_kept();
      read = output.say(fmt::format("records {} to {} are no longer kept", range.first, range.last));
    }
    if (event != StreamEvent::kNothing) lost = event == StreamEvent::kLost;
    for (const wire::Record& record : records) output.learn(record);
    // The record that describes the run may precede the first record that was requested.
    if (!described && !lost && output.lacks_names(records)) {
      described = true;
      if (const auto status = stream.status(kStatusPatienceMs)) output.learn(status->run());
    }
    if (!output.show(std::exchange(records, {})) || !read) return ExitCode::kDone;
    // After a turn without a message, all messages that were sent have arrived.
    if (lost && event == StreamEvent::kNothing && is_gone_for_good(found)) {
      if (!stream.has_heard()) throw peer_error("no analyzer is alive at '{}'", found.name);
      RestOfRun rest = read_rest(stream.end());
      if (!output.show(std::move(rest.records))) return ExitCode::kDone;
      if (!rest.missing.empty()) output.say(rest.missing);
      output.say("the run is over");
      return ExitCode::kDone;
    }
    if (!stream.has_heard() && now_ns() - begun_ns > kHeardWithinNs) throw_unheard(options.service, found);
  }
  return ExitCode::kInterrupted;
}

}  // namespace

bool Since::holds(const wire::Record& record) const noexcept {
  return record.seq() >= seq && record.unix_ns() >= unix_ns &&
         (!record.has_step() || record.step().iteration() >= iteration) &&
         (!record.has_analysis_results() || record.analysis_results().iteration() >= iteration);
}

Since parse_since(const std::string& text, std::int64_t now_unix_ns) {
  constexpr std::string_view kIteration = "iteration=";
  constexpr std::int64_t kSecond = 1'000'000'000;
  constexpr std::int64_t kLongestAgo = kSecond * 86400 * 36500;  // a century
  Since since;
  if (text.empty()) return since;
  const std::string_view view = text;
  if (const auto seq = whole_number(view)) {
    since.seq = *seq;
    return since;
  }
  if (view.starts_with(kIteration)) {
    if (const auto iteration = whole_number(view.substr(kIteration.size()))) {
      since.iteration = *iteration;
      return since;
    }
  }
  const std::string_view digits = view.substr(0, view.size() - 1);
  const auto amount = whole_number(digits);
  const std::int64_t unit = view.back() == 's'   ? kSecond
                            : view.back() == 'm' ? 60 * kSecond
                            : view.back() == 'h' ? 3600 * kSecond
                            : view.back() == 'd' ? 86400 * kSecond
                                                 : 0;
  if (!amount || unit == 0 || *amount > static_cast<std::uint64_t>(kLongestAgo / unit)) {
    throw usage_error(
        "--since: found '{}', expected a record's number, iteration=K, or a time before now such as 30s, 10m, 2h or "
        "1d, at most 36500d (numbers are from 0 to {})",
        shortened(text), std::numeric_limits<std::uint64_t>::max());
  }
  since.unix_ns = now_unix_ns - static_cast<std::int64_t>(*amount) * unit;
  return since;
}

int tail_command(int argc, const char* const* argv) {
  TailOptions options;
  CommandLine line("Follows a run: first its past from the journal, then each step as it is committed. Ctrl-C ends it.",
                   "ringside tail");
  declare(line, options.service);
  line.option("--pool", options.pool, "show only the past, from this pool's journal; needs no analyzer")
      .value_name("POOL");
  line.option("--runs", options.runs, "list the runs below this folder, from their journals, and end; needs no analyzer")
      .value_name("DIR");
  line.option("--since", options.since,
              "begin with this record number, with iteration K of each run, or at a time before now such as 30s, 10m, "
              "2h or 1d")
      .value_name("SEQ|iteration=K|AGO");
  line.flag("--json", options.json, "print one record per line, as JSON (docs/use/live.md)");
  line.flag("--once", options.once, "print the present state, and end");
  if (const auto code = parse_or_exit_code(line, argc, argv)) return *code;
  if (!options.pool.empty() && (options.once || options.service.any())) {
    throw usage_error(
        "--pool: found with --once, --socket, --tcp or --keys, expected alone, because the journal is read without an "
        "analyzer (ringside info shows the present state of a pool)");
  }
  if (options.once && !options.since.empty()) {
    throw usage_error("--since: found with --once, expected without it, because --once prints only the present state");
  }

  if (!options.runs.empty() &&
      (!options.pool.empty() || options.once || !options.since.empty() || options.service.any())) {
    throw usage_error(
        "--runs: found with --pool, --since, --once, --socket, --tcp or --keys, expected alone or with --json, because "
        "--runs lists runs without an analyzer");
  }
  if (!options.runs.empty()) return static_cast<int>(list_runs(options.runs, options.json));

  const Since since = parse_since(options.since, realtime_ns());
  Output output(options.json, since);
  if (!options.pool.empty()) return static_cast<int>(show_journal(one_journal_of(options.pool), output));
  const FoundService found = find_service(options.service,
                                          "start one with `ringside run --matrix FILE`; `ringside tail --pool POOL` "
                                          "shows the past of a run that has ended");
  if (options.once) return static_cast<int>(show_status(found, options.json));
  return static_cast<int>(follow(options, found, since, output));
}

}  // namespace ringside
