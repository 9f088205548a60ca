// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pool/journal_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/terminal/format.hpp"
#include "common/json/json.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

/// The time as a number without a unit, "1.234": the line above the table names the unit.
std::string milliseconds(std::int64_t ns) {
  return fmt::format("{:.3f}", static_cast<double>(ns) * 1e-6);
}

}  // namespace

JournalComparison::JournalComparison(JournaledSteps steps, const std::vector<KeptSlot>& kept)
    : steps_(std::move(steps)), outside_(steps_.outside(kept)) {}

void JournalComparison::compare(const ReplayedIterate& iterate, const StepResults& recomputed) {
  Row row;
  row.header = iterate.kept.header;
  row.recorded = steps_.find(row.header);
  const bool reduced = iterate.verdict != ReplayVerdict::kOverwritten && iterate.verdict != ReplayVerdict::kDamaged;
  if (row.recorded != nullptr && reduced) {
    row.compared = true;
    row.differences = differences(*row.recorded, recomputed);
  }
  rows_.push_back(std::move(row));
}

Json JournalComparison::last_as_json() const {
  const Row& row = rows_.back();
  if (row.recorded == nullptr) return {};
  const StepFigures& f = row.recorded->figures;
  Json object = {{"generate_ns", f.step.generate_ns},
                 {"producer_idle_ns", f.step.producer_idle_ns},
                 {"analyzer_idle_ns", f.analyzer_idle_ns},
                 {"hand_off_ns", f.hand_off_ns},
                 {"transfer_ns", f.transfer_ns},
                 {"commit_ns", f.commit_ns},
                 {"analyze_ns", f.analyze_ns},
                 {"record_ns", f.record_ns},
                 {"steps_committed", f.steps_committed},
                 {"steps_persisted", f.steps_persisted},
                 {"skipped_before", f.step.skipped_before},
                 {"rebuilt", f.rebuilt}};
  object["agrees"] = row.compared ? Json(row.differences.empty()) : Json();
  object["differences"] = Json::array();
  for (const ResultDifference& d : row.differences) {
    object["differences"].push_back({{"field", d.name}, {"journal", d.recorded}, {"recomputed", d.recomputed}});
  }
  return object;
}

std::uint64_t JournalComparison::differing() const {
  return static_cast<std::uint64_t>(
      std::count_if(rows_.begin(), rows_.end(), [](const Row& row) { return !row.differences.empty(); }));
}

std::uint64_t JournalComparison::absent() const {
  return static_cast<std::uint64_t>(
      std::count_if(rows_.begin(), rows_.end(), [](const Row& row) { return row.recorded == nullptr; }));
}

void JournalComparison::print() const {
  const JournalSummary& summary = steps_.summary();
  fmt::print("\njournal: {} records, durations in milliseconds\n", with_separators(summary.records));
  fmt::print("{:>11} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}  {}\n", "iteration", "generate",
             "prod. idle", "hand-off", "transfer", "commit", "analyze", "anal. idle", "committed", "persisted",
             "agreement");
  for (const Row& row : rows_) {
    fmt::print("{:>11}", with_separators(row.header.iteration));
    if (row.recorded == nullptr) {
      fmt::print("  not in the journal\n");
      continue;
    }
    const StepFigures& f = row.recorded->figures;
    fmt::print(" {:>10} {:>10}", milliseconds(f.step.generate_ns), milliseconds(f.step.producer_idle_ns));
    if (f.rebuilt) {
      fmt::print(" {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}", "-", "-", "-", "-", "-", "-", "-");
    } else {
      fmt::print(" {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}", milliseconds(f.hand_off_ns),
                 milliseconds(f.transfer_ns), milliseconds(f.commit_ns), milliseconds(f.analyze_ns),
                 milliseconds(f.analyzer_idle_ns), with_separators(f.steps_committed),
                 with_separators(f.steps_persisted));
    }
    fmt::print("  {}{}\n",
               !row.compared             ? "nothing to compare with"
               : row.differences.empty() ? "equal"
                                         : "DIFFERS from the ring:",
               f.rebuilt ? ", rebuilt from the ring" : "");
    for (const ResultDifference& d : row.differences) {
      fmt::print("{:>11}   {}: journal {}, recomputed {}\n", "", d.name, d.recorded, d.recomputed);
    }
  }
  if (outside_.steps > 0) {
    fmt::print("journal: steps that the ring no longer keeps: {}, iterations {} to {}\n",
               with_separators(outside_.steps), with_separators(outside_.first_iteration),
               with_separators(outside_.last_iteration));
  }
  if (summary.steps_missing > 0) fmt::print("journal: {}\n", missing_text(summary));
  if (!summary.torn.empty()) fmt::print("journal: {}\n", printable(summary.torn));
  if (!summary.damage.empty()) fmt::print("journal: DAMAGED: {}\n", printable(summary.damage));
}

Json JournalComparison::as_json() const {
  Json object = to_json(steps_.summary());
  object["differs"] = differing();
  object["not_in_journal"] = absent();
  object["outside_ring"] = {{"steps", outside_.steps},
                            {"first_iteration", outside_.first_iteration},
                            {"last_iteration", outside_.last_iteration}};
  return object;
}

}  // namespace ringside
