// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/journal/journal_rebuild.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "common/journal/journal_reader.hpp"
#include "common/records/record_message.hpp"

namespace ringside {
namespace {

constexpr std::uint64_t kNoCommit = ~std::uint64_t{0};

using Named = std::set<std::tuple<Id128, std::uint64_t, std::uint64_t>>;  // run, iteration, commit_seq

/// How far the journal's records of one run reach: each commit up to `commit_seq` has a record or is listed as missing.
struct Recorded {
  std::optional<std::uint64_t> commit_seq;  // empty: the journal lacks the run
  std::uint64_t iteration = 0;              // the iteration of that commit, or a lower bound
  std::uint64_t next_step = 0;              // the step of the next commit, if it belongs to the same attachment
  std::uint64_t oldest = kNoCommit;         // a commit_seq; rotation may have removed records of earlier commits
};

struct Journaled {
  Named steps;
  std::map<Id128, Recorded> runs;
};

void add(Journaled& journaled, const wire::StepRecord& step) {
  const std::optional<Id128> run_id = id_of(step.run_id());
  if (!run_id) return;
  journaled.steps.emplace(*run_id, step.iteration(), step.commit_seq());
  Recorded& recorded = journaled.runs[*run_id];
  recorded.oldest = std::min(recorded.oldest, step.commit_seq());
  // A record rebuilt from the ring may describe an older commit than the records before it.
  if (recorded.commit_seq && step.commit_seq() < *recorded.commit_seq) return;
  recorded = {step.commit_seq(), step.iteration(), step.step() + 1, recorded.oldest};
}

void add(Journaled& journaled, const wire::RecordsMissing& missing) {
  const std::optional<Id128> run_id = id_of(missing.run_id());
  if (!run_id || missing.first_commit_seq() == 0) return;
  Recorded& recorded = journaled.runs[*run_id];
  recorded.oldest = std::min(recorded.oldest, missing.first_commit_seq());
  const std::uint64_t last = missing.first_commit_seq() + missing.steps() - 1;
  if (recorded.commit_seq && last < *recorded.commit_seq) return;
  recorded = {last, std::max(recorded.iteration, missing.last_iteration()), missing.first_step() + missing.steps(),
              recorded.oldest};
}

/// In the journal, all records of commits before an attachment precede the attachment's RunStarted.
void add(Journaled& journaled, const wire::RunStarted& started) {
  const std::optional<Id128> run_id = id_of(started.run_id());
  if (!run_id || started.first_commit_seq() == 0) return;
  Recorded& recorded = journaled.runs[*run_id];
  recorded.oldest = std::min(recorded.oldest, started.first_commit_seq());
  recorded.commit_seq = started.first_commit_seq() - 1;
  if (started.from_iteration() > 0) recorded.iteration = started.from_iteration();
  recorded.next_step = started.from_step();
}

Journaled read(const std::string& pool, const std::function<void(const wire::Record&)>& see) {
  Journaled journaled;
  if (journal_files_there(pool).empty()) return journaled;
  JournalReader journal = JournalReader::open(pool);
  wire::Record record;
  while (const auto encoded = journal.next(0)) {
    if (!record.ParseFromArray(encoded->bytes.data(), static_cast<int>(encoded->bytes.size()))) continue;
    if (see) see(record);
    if (record.has_step()) add(journaled, record.step());
    if (record.has_records_missing()) add(journaled, record.records_missing());
    if (record.has_run_started()) add(journaled, record.run_started());
  }
  return journaled;
}

/// The commits between `recorded` and the next known commit, `next_commit_seq`. next: the figures of this next commit,
/// if the ring keeps its step.
MissingSteps between(const Recorded& recorded, const Id128& run_id, std::uint64_t next_commit_seq,
                     const StepFigures* next) {
  MissingSteps missing{.run_id = run_id};
  missing.first_commit_seq = *recorded.commit_seq + 1;
  missing.steps = next_commit_seq - missing.first_commit_seq;
  const bool one_attachment = next != nullptr && missing.steps <= next->step.step;
  missing.first_step = one_attachment ? next->step.step - missing.steps : recorded.next_step;
  if (next != nullptr && recorded.iteration + 1 < next->step.iteration) {
    missing.first_iteration = recorded.iteration + 1;
    missing.last_iteration = next->step.iteration - 1;
  }
  return missing;
}

/// For a run that is not in the journal. With the returned state, all commits before the oldest kept commit of the run
/// count as missing, but at most as many as the run had iterations before that commit. (The run made fewer commits only
/// if a pool was overwritten and some iterations were not published.)
Recorded before_the_first(const StepFigures& oldest) {
  const std::uint64_t iterations = oldest.step.iteration == 0 ? 0 : oldest.step.iteration - 1;
  return {oldest.commit_seq - 1 - std::min(oldest.commit_seq - 1, iterations), 0, 0, 0};
}

}  // namespace

CatchUp catch_up(const std::string& pool, const std::vector<RecordedStep>& kept, const wire::RunStarted& started,
                 std::uint64_t last_iteration, const std::function<void(const wire::Record&)>& see) {
  Journaled journaled = read(pool, see);
  CatchUp lacking;
  const auto add_missing = [&lacking](const MissingSteps& missing) {
    if (missing.steps > 0) lacking.emplace_back(missing);
  };
  const std::optional<Id128> run_id = id_of(started.run_id());
  bool continues = false;
  for (const RecordedStep& kept_step : kept) {
    const StepFigures& step = kept_step.figures;
    if (step.run_id == run_id) continues = true;
    Recorded& recorded = journaled.runs[step.run_id];
    if (!recorded.commit_seq) recorded = before_the_first(step);
    if (step.commit_seq > *recorded.commit_seq) {
      add_missing(between(recorded, step.run_id, step.commit_seq, &step));
      recorded = {step.commit_seq, step.step.iteration, step.step.step + 1, recorded.oldest};
    }
    // A reader can hold a slot for longer than the journal keeps records. The step in this slot was recorded earlier.
    if (step.commit_seq < recorded.oldest) continue;
    if (!journaled.steps.contains({step.run_id, step.step.iteration, step.commit_seq})) lacking.emplace_back(kept_step);
  }
  if (!run_id) return lacking;
  const bool is_known = journaled.runs.contains(*run_id);
  Recorded& recorded = journaled.runs[*run_id];
  if (!continues && is_known && started.from_iteration() > recorded.iteration) {
    // A run without its own ring (the whole run of several nodes) was resumed from a step that was not recorded.
    add_missing({.run_id = *run_id,
                 .first_step = recorded.next_step,
                 .steps = started.from_iteration() - recorded.iteration,
                 .first_iteration = recorded.iteration + 1,
                 .last_iteration = started.from_iteration()});
  } else if (continues) {  // commits after the newest kept one; their slots are damaged
    if (started.first_commit_seq() > *recorded.commit_seq + 1) {
      add_missing(between(recorded, *run_id, started.first_commit_seq(), nullptr));
    }
  } else if (started.from_step() > recorded.next_step) {  // the run was taken over without its pool
    MissingSteps missing{
        .run_id = *run_id, .first_step = recorded.next_step, .steps = started.from_step() - recorded.next_step};
    // A frozen ring keeps only older iterates, so its last iteration can be too low to be a bound.
    if (last_iteration >= recorded.iteration + missing.steps) {
      missing.first_iteration = recorded.iteration + 1;
      missing.last_iteration = last_iteration;
    }
    add_missing(missing);
  }
  return lacking;
}

}  // namespace ringside
