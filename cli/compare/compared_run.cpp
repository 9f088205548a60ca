// SPDX-License-Identifier: BSD-3-Clause
#include "cli/compare/compared_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <system_error>
#include <utility>

#include "analyzer/pool/pool_file.hpp"
#include "analyzer/ring/kept_results.hpp"
#include "cli/pool/pool_arguments.hpp"
#include "cli/run_history/history_json.hpp"
#include "common/journal/journal_files.hpp"
#include "common/platform/error.hpp"
#include "common/records/record_layout.hpp"
#include "common/text/printable.hpp"
#include "common/text/utc_text.hpp"

namespace ringside {
namespace {

constexpr std::string_view kExpected = "a pool, a ranks file, a journal or a summary of `ringside run`";

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::symlink_status(path, ignored));
}

bool is_hexadecimal(std::string_view text) {
  return !text.empty() && text.size() <= 32 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Splits NAME@ID into a file and the beginning of a run's id. A file whose own name contains an @ takes precedence.
std::pair<std::string, std::string> split(const std::string& name) {
  const std::size_t at = name.rfind('@');
  const bool is_file = exists(name) || !journal_files_there(name).empty();
  if (is_file || at == std::string::npos || at == 0) return {name, {}};
  if (!is_hexadecimal(name.substr(at + 1))) {
    throw usage_error("{}: found no such file; expected after @ the first digits of a run's id (0 to 9 and a to f)",
                      shortened(name));
  }
  return {name.substr(0, at), name.substr(at + 1)};
}

std::optional<double> share(std::optional<double> part, std::initializer_list<std::optional<double>> all) {
  double whole = 0;
  for (const std::optional<double>& one : all) whole += one.value_or(0);
  return part && whole > 0 ? std::optional(*part / whole) : std::nullopt;
}

RunTimes times_of(const StepSums& sums) {
  RunTimes times;
  for (const RunTime& time : kRunTimes) {
    const std::int64_t ns = time.ns != nullptr ? sums.*time.ns : std::max(sums.producer_ns(), sums.analyzer_ns());
    times.*time.seconds = static_cast<double>(ns) * 1e-9;
  }
  return times;
}

double value_named(const StepResults& results, const std::string& name) {
  return name.empty() ? std::numeric_limits<double>::quiet_NaN() : results.find(name).as_double();
}

}  // namespace

std::optional<double> RunTimes::producer_idle_share() const {
  return share(producer_idle_s, {generate_s, producer_idle_s});
}

std::optional<double> RunTimes::analyzer_idle_share() const {
  return share(analyzer_idle_s, {transfer_s, commit_s, analyze_s, record_s, analyzer_idle_s});
}

ComparedRun ComparedRun::read(const std::string& name, const std::string& result) {
  ComparedRun run;
  run.name = name;
  const auto [file, run_prefix] = split(name);
  run.path = one_journal_of(file);
  if (const std::string pool = pool_of_journal_file(run.path); !pool.empty()) run.path = pool;
  if (exists(run.path)) {
    if (const std::optional<std::string> text = read_json_object(run.path, kExpected)) {
      if (!run_prefix.empty())
        throw usage_error("{}: {} is a summary, which has only one run; expected no @RUN_ID", name, file);
      run.read_summary(*text);
      return run;
    }
  } else if (journal_files_there(run.path).empty()) {
    throw usage_error("{}: found neither this file nor the journal of a pool with this name; expected {}",
                      printable(file), kExpected);
  }
  run.read_pool(run_prefix, result);
  return run;
}

void ComparedRun::read_summary(const std::string& text) {
  const Json summary = parse_summary(text, path);
  check_summary(summary, path);
  kind = "summary";
  facts = facts_of(summary);
  const auto seconds_of = [&summary](const char* key) {
    return summary[key].is_number() ? std::optional(summary[key].get<double>()) : std::nullopt;
  };
  if (summary.at("run_id").is_string()) run_id = summary.at("run_id").get<std::string>();
  if (const Json& converged = summary["converged"]; converged.is_boolean()) {
    state = converged.get<bool>() ? "converged" : "not converged";
  }
  if (const auto count = seconds_of("iterations"); count && *count >= 0) {
    iterations = static_cast<std::uint64_t>(*count);
  }
  for (const RunTime& time : kRunTimes) times.*time.seconds = seconds_of(time.key);
  last_value = seconds_of("residual_l1");
  if (last_value) course = {.course = "solver.residual_l1", .course_linf = {}, .is_change = true};
  notices.push_back("a summary has no steps, so only the figures of the whole run are compared");
}

/// The id (16 bytes) of the run to compare: the newest run, or the run whose id begins with `prefix`.
std::string ComparedRun::chosen_run(const std::string& prefix, const std::vector<RecordedRun>& journaled) const {
  std::vector<std::pair<std::int64_t, std::string>> candidates;  // each with the time at which its run began
  for (const RecordedRun& run : journaled) {
    candidates.emplace_back(run.started ? run.started->started_unix_ns() : run.first_unix_ns, hex(run.run_id));
  }
  for (const RunReading& reading : reader_ ? reader_->ring().runs() : std::vector<RunReading>()) {
    candidates.emplace_back(reading.run.started_realtime_ns, to_string(reading.run.run_id));
  }
  if (candidates.empty()) throw usage_error("{}: it holds no run", printable(name));
  std::erase_if(candidates, [&prefix](const auto& candidate) { return !candidate.second.starts_with(prefix); });
  std::map<std::string, std::int64_t> ids;
  for (const auto& [began, id] : candidates) ids[id] = std::max(ids[id], began);
  if (ids.empty()) throw usage_error("{}: none of its runs has an id that begins with {}", printable(path), prefix);
  if (!prefix.empty() && ids.size() > 1) {
    throw usage_error("{}: {} of its runs have ids that begin with {}; expected more digits: {} or {}", printable(path),
                      ids.size(), prefix, ids.begin()->first, std::next(ids.begin())->first);
  }
  return std::max_element(ids.begin(), ids.end(), [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

void ComparedRun::read_pool(const std::string& run_prefix, const std::string& result) {
  const bool has_pool = exists(path);
  kind = has_pool ? "pool" : "journal";
  const bool has_journal = !journal_files_there(path).empty();
  if (has_pool) open_pool(has_journal);
  RecordedRuns recorded(result);
  std::map<std::string, std::vector<ComparedStep>> found;  // by run id (16 bytes)
  if (has_journal) {
    journal_ = std::make_unique<JournalReader>(JournalReader::open(path));
    wire::Record record;
    const auto for_each_record = [&](const auto& see) {
      journal_->rewind();
      while (const std::optional<EncodedRecord> encoded = journal_->next(0)) {
        if (record.ParseFromArray(encoded->bytes.data(), static_cast<int>(encoded->bytes.size()))) see(encoded->bytes);
      }
    };
    if (reader_) {
      for (const KnownRun& known : described_runs(reader_->ring())) recorded.learn(known.layout);
    }
    // The description of a run may follow the run's first steps only if the RunStarted record is lost.
    for_each_record([&](std::string_view bytes) {
      const RecordedRun* const run = recorded.add(record);
      if (run == nullptr || !record.has_step()) return;
      found[run->run_id].push_back({run->last, record.step().rebuilt(), bytes, 0});
    });
    if (!journal_->damage().empty()) {
      damaged = true;
      notices.push_back("the journal is damaged: " + journal_->damage());
    }
    if (!journal_->torn().empty()) notices.push_back("the journal's last record is incomplete: " + journal_->torn());
  } else {
    notices.push_back("the pool has no journal, so only the iterates in the ring and their results are compared");
  }
  run_id = chosen_run(run_prefix, recorded.runs());
  names_ = recorded.names();
  for (const RecordedRun& run : recorded.runs()) {
    if (hex(run.run_id) != run_id) continue;
    describe(run);
    take_steps(run, std::move(found[run.run_id]));
  }
  if (reader_) {
    for (const RunReading& reading : reader_->ring().runs()) {
      if (to_string(reading.run.run_id) == run_id && facts.empty()) describe(reading.run);
    }
    add_kept(result);
  }
  if (!steps.empty()) iterations = steps.back().point.iteration;
  const auto has_value = [](const ComparedStep& step) { return step.point.value == step.point.value; };
  const auto last = std::find_if(steps.rbegin(), steps.rend(), has_value);
  if (last != steps.rend()) last_value = last->point.value;
}

/// Opens the pool. If the pool cannot be opened, the steps can still be read from a journal.
void ComparedRun::open_pool(bool has_journal) {
  try {
    reader_.emplace(RingReader::open(path));
  } catch (const Error& error) {
    if (!has_journal) throw;
    damaged = error.code() == ExitCode::kDamaged;
    notices.push_back(fmt::format("the pool cannot be read, so only its journal is compared: {}", error.what()));
  }
}

void ComparedRun::describe(const RecordedRun& run) {
  if (run.started) {
    facts = facts_of(*run.started, run.version);
    started = utc_text(run.started->started_unix_ns());
  }
  const bool is_live = !run.ended && reader_ && has_owner(path);
  state = state_of(run, is_live);
  times = times_of(run.totals.sums);
  course = run.course;
  const StepSums& sums = run.totals.sums;
  if (is_live) notices.push_back("the run has not ended, so only the records made before this comparison are compared");
  if (run.totals.steps_before > 0) {
    notices.push_back(fmt::format("the first {} steps are no longer in the journal", run.totals.steps_before));
  }
  if (sums.records_missing > 0) notices.push_back(fmt::format("{} steps have no record", sums.records_missing));
  if (sums.rebuilt > 0) {
    notices.push_back(fmt::format("{} records were rebuilt from the ring and have no durations", sums.rebuilt));
  }
}

void ComparedRun::describe(const RunDescription& run) {
  facts = facts_of(run, reader_->ring().geometry().schema());
  started = utc_text(run.started_realtime_ns);
}

/// Takes one step for each iteration. A run that is resumed from an older iterate solves iterations again; of several
/// steps for one iteration, the step that was measured last is taken.
void ComparedRun::take_steps(const RecordedRun& run, std::vector<ComparedStep> found) {
  const auto by_iteration = [](const ComparedStep& a, const ComparedStep& b) {
    return a.point.iteration < b.point.iteration;
  };
  if (!std::is_sorted(found.begin(), found.end(), by_iteration)) {
    std::stable_sort(found.begin(), found.end(), by_iteration);
  }
  steps.reserve(found.size());
  for (const ComparedStep& step : found) {
    const bool repeated = !steps.empty() && steps.back().point.iteration == step.point.iteration;
    if (!repeated) {
      steps.push_back(step);
    } else if (!step.rebuilt || steps.back().rebuilt) {
      steps.back() = step;
    }
  }
  series = run.series.points();
}

/// Adds the steps that the ring keeps and the journal lacks.
void ComparedRun::add_kept(const std::string& result) {
  KeptResults of_ring(reader_->ring());
  std::vector<ComparedStep> added;
  for (const KeptSlot& slot : kept()) {
    const std::uint64_t iteration = slot.header.iteration;
    const auto at = std::lower_bound(steps.begin(), steps.end(), iteration, [](const ComparedStep& step, auto wanted) {
      return step.point.iteration < wanted;
    });
    if (at != steps.end() && at->point.iteration == iteration) continue;
    StepResults results = of_ring.of(slot);
    if (course.course.empty()) course = shown_names(results);
    const std::string& name_of_course = result.empty() ? course.course : result;
    added.push_back({{iteration, 0, value_named(results, name_of_course)}, true, {}, of_ring_.size()});
    of_ring_.push_back(std::move(results));
  }
  if (added.empty()) return;
  steps.insert(steps.end(), added.begin(), added.end());
  std::stable_sort(steps.begin(), steps.end(),
                   [](const ComparedStep& a, const ComparedStep& b) { return a.point.iteration < b.point.iteration; });
}

std::vector<KeptSlot> ComparedRun::kept() const {
  if (!reader_) return {};
  std::vector<KeptSlot> found = reader_->recover().kept;
  std::erase_if(found, [this](const KeptSlot& slot) { return to_string(slot.header.run_id) != run_id; });
  // The order of commits is kept within an iteration, so that the last solution of a repeated iteration counts.
  std::stable_sort(found.begin(), found.end(),
                   [](const KeptSlot& a, const KeptSlot& b) { return a.header.iteration < b.header.iteration; });
  std::vector<KeptSlot> last;
  for (const KeptSlot& slot : found) {
    if (!last.empty() && last.back().header.iteration == slot.header.iteration) last.pop_back();
    last.push_back(slot);
  }
  return last;
}

StepResults ComparedRun::results(const ComparedStep& step) const {
  if (step.record.empty()) return of_ring_[step.of_ring];
  wire::Record record;
  record.ParseFromArray(step.record.data(), static_cast<int>(step.record.size()));
  return names_.results(record.step());
}

}  // namespace ringside
