#include "cli/journal_shown.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include <nlohmann/json.hpp>

#include "analyzer/journal.hpp"
#include "analyzer/step_record.hpp"
#include "common/error.hpp"
#include "proto/ringside.pb.h"

namespace ringside {
namespace {

JournalSummary summary_of(const JournalReader& journal) {
  return {.kind = std::string(to_string(journal.kind())),
          .file_bytes = journal.file_bytes(),
          .records = journal.records(),
          .oldest_seq = journal.oldest_seq(),
          .newest_seq = journal.newest_seq(),
          .damage = journal.damage(),
          .torn = journal.torn()};
}

}  // namespace

std::optional<JournalSummary> summarize_journal(const std::string& pool) {
  if (journal_files_there(pool).empty()) return std::nullopt;
  try {
    return summary_of(JournalReader::open(pool));
  } catch (const Error& error) {
    JournalSummary unreadable;
    unreadable.damage = error.what();
    return unreadable;
  }
}

nlohmann::ordered_json to_json(const JournalSummary& summary) {
  return {{"kind", summary.kind},
          {"file_bytes", summary.file_bytes},
          {"records", summary.records},
          {"oldest_seq", summary.oldest_seq},
          {"newest_seq", summary.newest_seq},
          {"damage", summary.damage},
          {"torn", summary.torn}};
}

std::optional<JournaledSteps> JournaledSteps::read(const std::string& pool) {
  if (journal_files_there(pool).empty()) return std::nullopt;
  JournaledSteps journaled;
  try {
    JournalReader journal = JournalReader::open(pool);
    journaled.summary_ = summary_of(journal);
    wire::Record record;
    while (const auto encoded = journal.next(0)) {
      if (!record.ParseFromArray(encoded->bytes.data(), static_cast<int>(encoded->bytes.size()))) continue;
      if (!record.has_step()) continue;
      const std::optional<StepFigures> figures = figures_of(record.step());
      if (!figures) continue;
      // What was measured goes before what was rebuilt.
      const Name name{figures->run_id, figures->step.iteration, figures->commit_seq};
      const auto [place, is_new] = journaled.steps_.emplace(name, *figures);
      if (!is_new && place->second.rebuilt) place->second = *figures;
    }
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
  // min and max of nothing are infinite: only what was never filled in is 0 throughout.
  const bool says_nothing = journaled.rebuilt && r.linf == 0 && r.non_finite == 0 && r.min == 0 && r.max == 0;
  if (says_nothing) return {};
  // What a record does not hold is as it was computed, so that only what it holds is compared.
  Reductions recorded = recomputed;
  const bool both_have_change = r.has_change && recomputed.has_change == 1;
  for_each_scalar([&](std::string_view name, auto scalar, auto reduction) {
    const bool is_of_change = name.starts_with("change_") || name == "has_change";
    if (!is_of_change || both_have_change) recorded.*reduction = r.*scalar;
  });
  return differences(recorded, recomputed);
}

}  // namespace ringside
