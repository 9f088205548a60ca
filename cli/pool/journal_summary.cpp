// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pool/journal_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "analyzer/journal/step_record.hpp"
#include "cli/pool/record_gaps.hpp"
#include "cli/terminal/format.hpp"
#include "common/journal/journal_reader.hpp"
#include "common/platform/error.hpp"
#include "proto/ringside.pb.h"

namespace ringside {
namespace {

/// Reads all records; calls `see` with each one that can be parsed.
template <class See>
JournalSummary summarize(JournalReader& journal, const See& see) {
  RecordGaps gaps;
  NamedByJournal named;
  wire::Record record;
  while (const auto encoded = journal.next(0)) {
    if (!record.ParseFromArray(encoded->bytes.data(), static_cast<int>(encoded->bytes.size()))) continue;
    gaps.add(record);
    named.add(record);
    see(record);
  }
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
          .named = std::move(named)};
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

nlohmann::ordered_json to_json(const JournalSummary& summary) {
  return {{"kind", summary.kind},
          {"file_bytes", summary.file_bytes},
          {"records", summary.records},
          {"oldest_seq", summary.oldest_seq},
          {"newest_seq", summary.newest_seq},
          {"records_missing", summary.steps_missing},
          {"damage", summary.damage},
          {"torn", summary.torn}};
}

std::optional<JournaledSteps> JournaledSteps::read(const std::string& pool) {
  if (journal_files_there(pool).empty()) return std::nullopt;
  JournaledSteps journaled;
  try {
    JournalReader journal = JournalReader::open(pool);
    journaled.summary_ = summarize(journal, [&journaled](const wire::Record& record) {
      if (!record.has_step()) return;
      const std::optional<StepFigures> figures = figures_of(record.step());
      if (!figures) return;
      // A measured record takes precedence over a rebuilt one.
      const Name name{figures->run_id, figures->step.iteration, figures->commit_seq};
      const auto [place, is_new] = journaled.steps_.emplace(name, *figures);
      if (!is_new && place->second.rebuilt) place->second = *figures;
    });
  } catch (const Error& error) {
    journaled.summary_.damage = error.what();
  }
  return journaled;
}

const StepFigures* JournaledSteps::find(const SlotHeader& header) const {
  const auto found = steps_.find({header.run_id, header.iteration, header.commit_seq});
  return found == steps_.end() ? nullptr : &found->second;
}

JournaledSteps::Outside JournaledSteps::outside(const std::vector<KeptSlot>& kept) const {
  std::set<Name> inside;
  for (const KeptSlot& slot : kept) {
    inside.emplace(slot.header.run_id, slot.header.iteration, slot.header.commit_seq);
  }
  Outside outside;
  for (const auto& [name, figures] : steps_) {
    if (inside.contains(name)) continue;
    const std::uint64_t iteration = figures.step.iteration;
    outside.first_iteration = outside.steps == 0 ? iteration : std::min(outside.first_iteration, iteration);
    outside.last_iteration = std::max(outside.last_iteration, iteration);
    ++outside.steps;
  }
  return outside;
}

std::vector<FieldDifference> differences(const StepFigures& journaled, const Reductions& recomputed) {
  const ReductionScalars& r = journaled.reductions;
  // Min and max over no entries are infinite: apart from an iterate of zeros, only fields that were never filled in
  // are all 0.
  const bool has_no_scalars = journaled.rebuilt && r.linf == 0 && r.non_finite == 0 && r.min == 0 && r.max == 0;
  if (has_no_scalars) return {};
  // Fields that the record does not hold get the recomputed value, so that only those it holds are compared.
  Reductions recorded = recomputed;
  const bool both_have_change = r.has_change && recomputed.has_change == 1;
  for_each_scalar([&](std::string_view name, auto scalar, auto reduction) {
    const bool is_of_change = name.starts_with("change_") || name == "has_change";
    if (!is_of_change || both_have_change) recorded.*reduction = r.*scalar;
  });
  return differences(recorded, recomputed);
}

}  // namespace ringside
