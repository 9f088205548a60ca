// SPDX-License-Identifier: BSD-3-Clause
#include "cli/terminal/record_table.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "cli/terminal/format.hpp"
#include "cli/terminal/run_text.hpp"
#include "common/records/analysis_results.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

constexpr std::size_t kSparks = 8;  // the number of lines whose values a sparkline shows
constexpr std::size_t kIdle = 10;   // width of an idle share, in columns
constexpr std::string_view kGreen = "\x1b[32m";
constexpr std::string_view kYellow = "\x1b[33m";
constexpr std::string_view kRed = "\x1b[31m";
constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kPlain = "\x1b[0m";

std::string clock_text(std::int64_t unix_ns) {
  return fmt::format("{:%H:%M:%S}", fmt::localtime(static_cast<std::time_t>(unix_ns / 1'000'000'000)));
}

std::string value_text(std::optional<double> value) {
  return value ? fmt::format("{:.2e}", *value) : "-";
}

void remember(std::deque<double>& values, double value) {
  values.push_back(value);
  if (values.size() > kSparks) values.pop_front();
}

/// "392 steps have no record: iterations 101 to 492".
std::string missing_text(const wire::RecordsMissing& missing) {
  if (missing.first_iteration() == 0) {
    return fmt::format("{} steps from step {} on have no record", missing.steps(), missing.first_step());
  }
  return fmt::format("{} steps have no record: iterations {} to {}", with_separators(missing.steps()),
                     with_separators(missing.first_iteration()), with_separators(missing.last_iteration()));
}

/// "mark first_nan at iteration 1,204: x.non_finite > 0; then freeze, stop".
std::string mark_text(const wire::Mark& mark) {
  std::string text = fmt::format("mark {} at iteration {}", mark.name().empty() ? mark.cause() : mark.name(),
                                 with_separators(mark.iteration()));
  if (!mark.text().empty() && mark.text() != mark.name()) text += ": " + mark.text();
  for (int i = 0; i < mark.action_size(); ++i) text += (i == 0 ? "; then " : ", ") + mark.action(i);
  return text;
}

/// "iteration 17: analysis.energy 1.25, 3 steps skipped".
std::string analysis_results_text(const wire::AnalysisResults& results) {
  std::string text = fmt::format("iteration {}:", with_separators(results.iteration()));
  bool is_first = true;
  for_each_result(results, [&](const std::string& name, double value) {
    text += fmt::format("{} {} {:.6g}", std::exchange(is_first, false) ? "" : ",", name, value);
  });
  if (results.skipped() > 0) text += fmt::format(", {} skipped so far", counted(results.skipped(), "step"));
  return text;
}

}  // namespace

std::string sparkline(const std::deque<double>& values, double lowest, double highest) {
  constexpr std::string_view kBars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string text;
  for (const double value : values) {
    if (!std::isfinite(value)) {
      text += ' ';
      continue;
    }
    const double height = highest > lowest ? std::clamp((value - lowest) / (highest - lowest), 0.0, 1.0) : 0.0;
    text += kBars[static_cast<std::size_t>(std::lround(height * 7))];
  }
  return text;
}

/// The cells of a line as text. Cells of idle shares and sparklines are already as wide as their columns.
struct RecordTable::Cells {
  std::string time, iteration, steps, change, change_sparks, generate, transfer, commit, analyze, hand_off,
      producer_idle, producer_sparks, analyzer_idle, analyzer_sparks;
  std::vector<std::string> scalars;
};

RecordTable::Cells RecordTable::head() const {
  const std::string blank(kSparks, ' ');
  Cells cells{.time = "time",
              .iteration = "iteration",
              .steps = "steps",
              .change = course_,
              .change_sparks = blank,
              .generate = "generate",
              .transfer = "transfer",
              .commit = "commit",
              .analyze = "analyze",
              .hand_off = "hand-off",
              .producer_idle = "prod. idle",
              .producer_sparks = blank,
              .analyzer_idle = "anal. idle",
              .analyzer_sparks = blank,
              .scalars = {}};
  for (const std::string& name : scalars_) cells.scalars.push_back(column_name(name));
  return cells;
}

RecordTable::RecordTable(const TableOptions& options) : options_(options) {
  choose_columns();
}

void RecordTable::fit(std::size_t screen_rows, std::size_t screen_columns) {
  if (screen_rows == options_.screen_rows && screen_columns == options_.screen_columns) return;
  options_.screen_rows = screen_rows;
  options_.screen_columns = screen_columns;
  choose_columns();
  lines_left_ = 0;
}

void RecordTable::choose_columns() {
  shown_ = {};
  if (options_.screen_columns == 0) return;
  // Columns are left out in this order: first the sparklines, because they only repeat the numbers beside them; last
  // the time, because the lines of events also show it.
  for (bool* shown : {&shown_.sparks, &shown_.scalars, &shown_.commit, &shown_.hand_off, &shown_.time}) {
    if (step_line(head()).size() <= options_.screen_columns) return;
    *shown = false;
  }
}

/// Chooses the results that get columns: the run's course, and further scalars of the solver.
void RecordTable::name_columns(const StepResults& results) {
  if (results.layout() == layout_) return;
  layout_ = results.layout();
  const ShownNames shown = shown_names(results);
  std::vector<std::string> scalars;
  for (std::size_t i = 0; layout_ && i < results.size() && scalars.size() < kMostShownScalars; ++i) {
    const Result& result = *layout_->results()[i].result;
    const bool is_shown = result.full_name == shown.course || result.full_name == shown.course_linf;
    if (result.source == ResultSource::kScalar && !is_shown) scalars.push_back(result.full_name);
  }
  const std::string course = shown.is_change ? "change" : column_name(shown.course);
  if (course == course_ && scalars == scalars_) return;
  course_ = course;
  scalars_ = std::move(scalars);
  choose_columns();
  lines_left_ = 0;
}

std::string RecordTable::step_line(const Cells& c) const {
  std::string line;
  const auto add = [&line](bool shown, const std::string& cell, std::size_t columns) {
    if (shown) line += fmt::format("{}{:>{}}", line.empty() ? "" : " ", cell, columns);
  };
  add(shown_.time, c.time, 8);
  add(true, c.iteration, 11);
  add(true, c.steps, 5);
  add(true, c.change, std::max<std::size_t>(9, course_.size()));
  add(shown_.sparks, c.change_sparks, 0);
  for (std::size_t i = 0; i < c.scalars.size(); ++i) {
    add(shown_.scalars, c.scalars[i], std::max<std::size_t>(9, column_name(scalars_[i]).size()));
  }
  add(true, c.generate, 8);
  add(true, c.transfer, 8);
  add(shown_.commit, c.commit, 8);
  add(true, c.analyze, 8);
  add(shown_.hand_off, c.hand_off, 8);
  add(true, c.producer_idle, 0);
  add(shown_.sparks, c.producer_sparks, 0);
  add(true, c.analyzer_idle, 0);
  add(shown_.sparks, c.analyzer_sparks, 0);
  return line;
}

std::string RecordTable::paint(std::string_view text, std::string_view colour) const {
  return options_.colours && !colour.empty() ? fmt::format("{}{}{}", colour, text, kPlain) : std::string(text);
}

/// "    57 %", coloured if a process waits more than half of the time.
std::string RecordTable::share(double share) const {
  return paint(fmt::format("{:>{}.0f} %", 100 * share, kIdle - 2), share > 0.8 ? kRed : share > 0.5 ? kYellow : "");
}

void RecordTable::add_line(std::string& out, std::string_view line) {
  out += line;
  out += '\n';
  if (lines_left_ > 0) --lines_left_;
}

std::string RecordTable::lines(std::span<const wire::Record> records, const ResultNames& names) {
  std::string out;
  const auto steps =
      std::count_if(records.begin(), records.end(), [](const auto& record) { return record.has_step(); });
  const std::size_t together =
      options_.most_lines == 0 ? 1 : (static_cast<std::size_t>(steps) + options_.most_lines - 1) / options_.most_lines;
  std::vector<const wire::Record*> group;
  std::map<std::string, const wire::Record*> analyses;  // by the name of a record's first result: the newest record
  const auto flush = [&] {
    if (!group.empty()) add_steps(out, group, names);
    group.clear();
  };
  for (const wire::Record& record : records) {
    if (record.has_step()) {
      group.push_back(&record);
      if (group.size() >= together) flush();
    } else if (record.has_analysis_results() && options_.most_lines > 0) {
      const wire::AnalysisResults& results = record.analysis_results();
      analyses[results.name_size() > 0 ? results.name(0) : std::string()] = &record;
    } else if (!record.has_run_described()) {  // such a record only repeats the description of a run
      flush();
      add_event(out, record);
    }
  }
  flush();
  for (const auto& [name, record] : analyses) add_event(out, *record);
  return out;
}

/// Adds one line for consecutive steps: the numbers of the newest step, and the mean durations of all these steps.
void RecordTable::add_steps(std::string& out, std::span<const wire::Record* const> steps, const ResultNames& names) {
  const StepResults results = names.results(steps.back()->step());
  const ShownFigures figures = shown_of(results);
  name_columns(results);
  if (lines_left_ == 0) {
    add_line(out, paint(step_line(head()), kBold));
    lines_left_ = options_.screen_rows > 2 ? options_.screen_rows - 2 : static_cast<std::size_t>(-1);
  }
  wire::StepRecord sum;
  for (const wire::Record* record : steps) {
    const wire::StepRecord& step = record->step();
    sum.set_generate_ns(sum.generate_ns() + step.generate_ns());
    sum.set_producer_idle_ns(sum.producer_idle_ns() + step.producer_idle_ns());
    sum.set_analyzer_idle_ns(sum.analyzer_idle_ns() + step.analyzer_idle_ns());
    sum.set_transfer_ns(sum.transfer_ns() + step.transfer_ns());
    sum.set_commit_ns(sum.commit_ns() + step.commit_ns());
    sum.set_analyze_ns(sum.analyze_ns() + step.analyze_ns());
    sum.set_record_ns(sum.record_ns() + step.record_ns());
    sum.set_hand_off_ns(sum.hand_off_ns() + step.hand_off_ns());
    sum.set_skipped_before(sum.skipped_before() + step.skipped_before());
  }
  const wire::StepRecord& newest = steps.back()->step();
  const double producer_idle = share_of(sum.producer_idle_ns(), sum.producer_idle_ns() + sum.generate_ns());
  const double analyzer_idle =
      share_of(sum.analyzer_idle_ns(), sum.analyzer_idle_ns() + sum.transfer_ns() + sum.commit_ns() + sum.analyze_ns() +
                                           sum.record_ns());
  remember(changes_, std::log10(figures.course.value_or(std::numeric_limits<double>::quiet_NaN())));
  remember(producer_idle_, producer_idle);
  remember(analyzer_idle_, analyzer_idle);
  const auto finite = [](double value) { return std::isfinite(value); };
  double lowest = 0;
  double highest = 0;
  bool any = false;
  for (const double value : changes_) {
    if (!finite(value)) continue;
    lowest = any ? std::min(lowest, value) : value;
    highest = any ? std::max(highest, value) : value;
    any = true;
  }
  const auto mean = [&](std::int64_t ns) { return duration_text(ns / static_cast<std::int64_t>(steps.size())); };
  // A bar takes three bytes but only one column of the terminal, so fmt cannot compute the padding.
  const auto sparks = [](const std::deque<double>& values, double low, double high) {
    return sparkline(values, low, high) + std::string(kSparks - values.size(), ' ');
  };
  std::vector<std::string> scalars;
  for (const std::string& name : scalars_) {
    const StepValue value = results.find(name);
    scalars.push_back(value_text(value.present ? std::optional(value.as_double()) : std::nullopt));
  }
  std::string line = step_line({.time = clock_text(steps.back()->unix_ns()),
                                .iteration = with_separators(newest.iteration()),
                                .steps = std::to_string(steps.size()),
                                .change = value_text(figures.course),
                                .change_sparks = sparks(changes_, lowest, highest),
                                .generate = mean(sum.generate_ns()),
                                .transfer = mean(sum.transfer_ns()),
                                .commit = mean(sum.commit_ns()),
                                .analyze = mean(sum.analyze_ns()),
                                .hand_off = mean(sum.hand_off_ns()),
                                .producer_idle = share(producer_idle),
                                .producer_sparks = sparks(producer_idle_, 0, 1),
                                .analyzer_idle = share(analyzer_idle),
                                .analyzer_sparks = sparks(analyzer_idle_, 0, 1),
                                .scalars = std::move(scalars)});
  if (sum.skipped_before() > 0) line += paint(fmt::format(" {} skipped", sum.skipped_before()), kYellow);
  if (newest.rebuilt()) line += " from the ring";
  add_line(out, line);
}

void RecordTable::add_event(std::string& out, const wire::Record& record) {
  const std::string time = clock_text(record.unix_ns());
  const auto add = [&](const std::string& text, std::string_view colour) {
    add_line(out, fmt::format("{:>8} {}", time, paint(printable(text), colour)));
  };
  switch (record.what_case()) {
    case wire::Record::kRunStarted: {
      const wire::RunStarted& run = record.run_started();
      changes_.clear();
      producer_idle_.clear();
      analyzer_idle_.clear();
      const std::string continues =
          run.from_step() > 0        ? fmt::format(", taken over after {} steps", run.from_step())
          : run.from_iteration() > 0 ? fmt::format(", resumed from iteration {}", with_separators(run.from_iteration()))
                                     : "";
      const std::string planned = run.has_planned() ? "; planned: " + planned_text(run.planned()) : "";
      add(
          fmt::format("run {} started{}: {}, {}; {} buffers, {}, {} slots, {}, durability {}{}", id_text(run.run_id()),
                      continues, problem_text(run.solver(), run.matrix(), run.parameters()), size_text(run),
                      run.buffers(), run.coordination(), run.slots(), run.storage(), run.durability(), planned),
          run.from_step() > 0 ? kYellow : kGreen);
      for (const wire::PlugIn& plug_in : run.plug_ins()) {
        if (has_failed(plug_in)) add("plug-in " + plug_in_text(plug_in), kRed);
      }
      return;
    }
    case wire::Record::kRunEnded: {
      const wire::RunEnded& ended = record.run_ended();
      const std::string how = ended.how() == "detached" ? ended.outcome() : ended.how();
      return add(
          with_note(fmt::format("run {} ended: {}, {} steps committed, {} persisted, iteration {}",
                                id_text(ended.run_id()), how, with_separators(ended.steps_committed()),
                                with_separators(ended.steps_persisted()), with_separators(ended.last_iteration())),
                    ended.text()),
          ended.exit_code() == 0 && ended.outcome() == "finished" ? kGreen : kRed);
    }
    case wire::Record::kAnalyzerStarted: {
      const wire::AnalyzerStarted& started = record.analyzer_started();
      const std::string rebuilt =
          started.rebuilt() > 0 ? fmt::format("; {} records rebuilt from the ring", started.rebuilt()) : "";
      return add(fmt::format("analyzer {} started (pid {}){}", started.version(), started.pid(), rebuilt), kYellow);
    }
    case wire::Record::kMark: return add(mark_text(record.mark()), record.mark().cause() == "trigger" ? kYellow : kRed);
    case wire::Record::kRecordsMissing: return add(missing_text(record.records_missing()), kRed);
    case wire::Record::kAnalysisResults: return add(analysis_results_text(record.analysis_results()), "");
    default: return add("a record of a kind unknown to this version", kYellow);
  }
}

std::string RecordTable::notice(std::string_view text) {
  std::string out;
  add_line(out, fmt::format("{:>8} {}", "", paint(printable(text), kYellow)));
  return out;
}

}  // namespace ringside
