// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pool/journal_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "cli/pool/decoded_journal.hpp"
#include "cli/terminal/format.hpp"
#include "common/journal/journal_reader.hpp"
#include "common/json/json.hpp"
#include "common/platform/error.hpp"
#include "common/records/analysis_results.hpp"
#include "common/records/record_message.hpp"
#include "common/records/shown_results.hpp"
#include "common/results/result_values.hpp"
#include "proto/ringside.pb.h"

namespace ringside {
namespace {

/// The steps that a journal names as missing (RecordsMissing), counted over all of its runs.
class RecordGaps {
 public:
  /// Call this function with each record of a journal, in order. A step that was named as missing but was later
  /// recorded from the ring does not count as missing.
  void add(const wire::Record& record) {
    if (record.has_records_missing()) {
      const wire::RecordsMissing& missing = record.records_missing();
      steps_ += missing.steps();
      if (missing.first_iteration() != 0) {
        first_iteration_ =
            first_iteration_ == 0 ? missing.first_iteration() : std::min(first_iteration_, missing.first_iteration());
        last_iteration_ = std::max(last_iteration_, missing.last_iteration());
      }
      if (missing.first_commit_seq() == 0) return;
      gaps_[missing.run_id()][missing.first_commit_seq()].last = missing.first_commit_seq() + missing.steps() - 1;
    } else if (record.has_step() && !gaps_.empty()) {
      const auto run = gaps_.find(record.step().run_id());
      if (run == gaps_.end()) return;
      const std::uint64_t commit_seq = record.step().commit_seq();
      auto gap = run->second.upper_bound(commit_seq);
      if (gap == run->second.begin()) return;
      gap = std::prev(gap);
      if (commit_seq <= gap->second.last && gap->second.recorded.insert(commit_seq).second) --steps_;
    }
  }

  /// The number of committed steps without a record.
  std::uint64_t steps() const noexcept { return steps_; }
  /// Lower and upper bound of the iterations of all these steps; both 0: not known.
  std::pair<std::uint64_t, std::uint64_t> iterations() const noexcept { return {first_iteration_, last_iteration_}; }

 private:
  struct Gap {
    std::uint64_t last = 0;            // commit_seq
    std::set<std::uint64_t> recorded;  // commit_seqs of steps that were recorded later
  };
  std::map<std::string, std::map<std::uint64_t, Gap>> gaps_;  // by run_id, then by first commit_seq
  std::uint64_t steps_ = 0;
  std::uint64_t first_iteration_ = 0;
  std::uint64_t last_iteration_ = 0;
};

/// Calls `see` with each record that parses.
template <class See>
void for_each_record(JournalReader& journal, const See& see) {
  wire::Record record;
  while (const auto encoded = journal.next(0)) {
    if (record.ParseFromArray(encoded->bytes.data(), static_cast<int>(encoded->bytes.size()))) see(record);
  }
}

template <class See>
JournalSummary summarize(JournalReader& journal, const See& see) {
  RecordGaps gaps;
  NamedByJournal named;
  std::map<std::string, AnalysisInJournal> analyses;
  std::map<JournalSummary::MarkName, MarksInJournal> marks;
  for_each_record(journal, [&](const wire::Record& record) {
    gaps.add(record);
    named.add(record);
    see(record);
    for_each_result(record.analysis_results(), [&](const std::string& name, double value) {
      AnalysisInJournal& one = analyses[name];
      ++one.records;
      one.iteration = record.analysis_results().iteration();
      one.value = value;
    });
    if (record.has_mark()) {
      const wire::Mark& mark = record.mark();
      MarksInJournal& of_name = marks[{mark.name(), mark.cause()}];
      if (++of_name.records == 1) of_name.first_iteration = mark.iteration();
      of_name.last_iteration = mark.iteration();
    }
  });
  return {.kind = std::string(to_string(journal.kind())),
          .file_bytes = journal.file_bytes(),
          .records = journal.records(),
          .oldest_seq = journal.oldest_seq(),
          .newest_seq = journal.newest_seq(),
          .steps_missing = gaps.steps(),
          .first_missing_iteration = gaps.iterations().first,
          .last_missing_iteration = gaps.iterations().second,
          .damage = journal.damage(),
          .torn = journal.torn(),
          .named = std::move(named),
          .analyses = std::move(analyses),
          .marks = std::move(marks)};
}

}  // namespace

std::optional<JournalSummary> summarize_journal(const std::string& pool) {
  if (journal_files_there(pool).empty()) return std::nullopt;
  try {
    JournalReader journal = JournalReader::open(pool);
    return summarize(journal, [](const wire::Record&) {});
  } catch (const Error& error) {
    JournalSummary unreadable;
    unreadable.damage = error.what();
    return unreadable;
  }
}

std::string missing_text(const JournalSummary& summary) {
  if (summary.steps_missing == 0) return {};
  const std::string where = summary.first_missing_iteration == 0
                                ? std::string()
                                : fmt::format(", iterations {} to {}", with_separators(summary.first_missing_iteration),
                                              with_separators(summary.last_missing_iteration));
  return fmt::format("{} committed steps have no record{}", with_separators(summary.steps_missing), where);
}

Json to_json(const JournalSummary& summary) {
  Json analyses = Json::object();
  for (const auto& [name, one] : summary.analyses) {
    analyses[name] = {{"records", one.records}, {"iteration", one.iteration}, {"last", number_or_null(one.value)}};
  }
  Json marks = Json::array();
  for (const auto& [name, one] : summary.marks) {
    marks.push_back({{"name", name.first},
                     {"cause", name.second},
                     {"records", one.records},
                     {"first_iteration", one.first_iteration},
                     {"last_iteration", one.last_iteration}});
  }
  return {{"kind", summary.kind},
          {"file_bytes", summary.file_bytes},
          {"records", summary.records},
          {"oldest_seq", summary.oldest_seq},
          {"newest_seq", summary.newest_seq},
          {"records_missing", summary.steps_missing},
          {"damage", summary.damage},
          {"torn", summary.torn},
          {"analyses", analyses},
          {"marks", marks}};
}

std::optional<JournaledSteps> JournaledSteps::read(const std::string& pool) {
  if (journal_files_there(pool).empty()) return std::nullopt;
  JournaledSteps journaled;
  try {
    JournalReader journal = JournalReader::open(pool);
    ResultNames names;  // the description of a run may follow its first steps
    for_each_record(journal, [&names](const wire::Record& record) { names.learn(record); });
    for (const SharedLayout& layout : layouts_in(pool)) names.learn(layout);
    journal.rewind();
    journaled.summary_ = summarize(journal, [&journaled, &names](const wire::Record& record) {
      if (!record.has_step()) return;
      std::optional<RecordedStep> step = step_of(record.step(), names);
      if (!step) return;
      // A record with measured times takes precedence over a record that was rebuilt from the ring.
      const StepFigures& figures = step->figures;
      const Name name{figures.run_id, figures.step.iteration, figures.commit_seq};
      const auto found = journaled.steps_.find(name);
      if (found == journaled.steps_.end()) {
        journaled.steps_.emplace(name, std::move(*step));
      } else if (found->second.figures.rebuilt) {
        found->second = std::move(*step);
      }
    });
  } catch (const Error& error) {
    journaled.summary_.damage = error.what();
  }
  return journaled;
}

const RecordedStep* JournaledSteps::find(const SlotHeader& header) const {
  const auto found = steps_.find({header.run_id, header.iteration, header.commit_seq});
  return found == steps_.end() ? nullptr : &found->second;
}

JournaledSteps::Outside JournaledSteps::outside(const std::vector<KeptSlot>& kept) const {
  std::set<Name> inside;
  for (const KeptSlot& slot : kept) {
    inside.emplace(slot.header.run_id, slot.header.iteration, slot.header.commit_seq);
  }
  Outside outside;
  for (const auto& [name, step] : steps_) {
    if (inside.contains(name)) continue;
    const std::uint64_t iteration = step.figures.step.iteration;
    outside.first_iteration = outside.steps == 0 ? iteration : std::min(outside.first_iteration, iteration);
    outside.last_iteration = std::max(outside.last_iteration, iteration);
    ++outside.steps;
  }
  return outside;
}

std::vector<ResultDifference> differences(const RecordedStep& journaled, const StepResults& recomputed) {
  std::vector<ResultDifference> found;
  const SharedLayout& layout = journaled.results.layout();
  if (!layout) return found;  // the names of the values are not known
  for (const RecordedResult& recorded : layout->results()) {
    if (recorded.result->source != ResultSource::kReduction) continue;
    const std::string& name = recorded.result->full_name;
    if (recomputed.layout()->find(name) == nullptr) continue;  // this release does not compute this result
    const StepValue before = journaled.results.value_of(recorded);
    const StepValue now = recomputed.find(name);
    const bool may_be_absent = journaled.figures.rebuilt || (recorded.result->flags & kNeedsPrevious) != 0;
    if (before == now || (may_be_absent && !(before.present && now.present))) continue;
    if (is_of_earlier_release(*recorded.result, before.words[0], now.words[0])) continue;
    found.push_back({name, to_text(before), to_text(now)});
    if (found.back().recorded != found.back().recomputed) continue;
    found.back().recorded += fmt::format(" ({:#018x})", before.words[0]);
    found.back().recomputed += fmt::format(" ({:#018x})", now.words[0]);
  }
  return found;
}

}  // namespace ringside
