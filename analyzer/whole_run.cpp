// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/whole_run.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <vector>

#include "analyzer/journal/step_record.hpp"
#include "analyzer/ring/kept_steps.hpp"
#include "common/journal/journal_reader.hpp"
#include "common/platform/error.hpp"
#include "common/ring/ring_recovery.hpp"

namespace ringside {
namespace {

// Steps are reduced once more while the solver may wait: so many bytes at most, but two steps, which are usually all that
// are under way.
constexpr std::uint64_t kBytesAgain = std::uint64_t{1} << 30;
constexpr std::uint64_t kFewestAgain = 2;

/// A kept step and the one before it; null: it is the run's first.
struct StepAgain {
  const KeptSlot* step;
  const KeptSlot* previous;
};

bool follows(const SlotHeader& next, const SlotHeader& header) noexcept {
  return next.run_id == header.run_id && next.commit_seq == header.commit_seq + 1 && next.step == header.step + 1;
}

/// The newest kept steps, one behind the other up to the one before `end_step`, whose parts can be made as the lost
/// analyzer made them: the step before is kept, too. All are intact.
std::vector<StepAgain> steps_to_add_again(const RingView& ring, const Recovery& found, const RunDescription& run,
                                          std::uint64_t end_step) {
  const std::vector<KeptSlot>& kept = found.kept;
  const auto is_intact = [&ring](const KeptSlot& slot) {
    return check_payload(ring, slot.slot, slot.header).intact();
  };
  const std::uint64_t most = std::max(kBytesAgain / ring.geometry().payload_bytes(), kFewestAgain);
  std::vector<StepAgain> again;
  if (kept.empty() || kept.back().header.run_id != run.run_id || kept.back().header.step + 1 != end_step) return again;
  if (!is_intact(kept.back())) return again;
  for (std::size_t k = kept.size() - 1; again.size() < most; --k) {
    const bool is_first = kept[k].header.step == 0 && kept[k].header.commit_seq == 1;
    const bool has_previous = k > 0 && follows(kept[k].header, kept[k - 1].header) && is_intact(kept[k - 1]);
    if (!is_first && !has_previous) break;
    again.push_back({&kept[k], has_previous ? &kept[k - 1] : nullptr});
    if (!has_previous) break;
  }
  std::ranges::reverse(again);
  return again;
}

/// The step that follows those which the journal of the whole run has, or names as missing; 0: none.
std::uint64_t next_recorded_step(const std::string& pool, const Id128& run_id) {
  if (journal_files_there(pool).empty()) return 0;
  JournalReader journal = JournalReader::open(pool);
  std::uint64_t next = 0;
  wire::Record record;
  while (const auto encoded = journal.next(0)) {
    if (!record.ParseFromArray(encoded->bytes.data(), static_cast<int>(encoded->bytes.size()))) continue;
    if (record.has_step() && id_of(record.step().run_id()) == run_id) next = record.step().step() + 1;
    if (record.has_run_started() && id_of(record.run_started().run_id()) == run_id) next = record.run_started().from_step();
    const wire::RecordsMissing& missing = record.records_missing();
    if (record.has_records_missing() && id_of(missing.run_id()) == run_id) next = missing.first_step() + missing.steps();
  }
  return next;
}

}  // namespace

WholeRun::WholeRun(NodeLink* link, const HandoffReader& handoff, Attachment& attachment, const RecorderOptions& recorder,
                   const RunToRecord& recorded, const TriggerOptions& triggers, std::atomic<bool>& stop_run) {
  if (link == nullptr || !attachment.ranks()) return;
  try {
    plan_ = round_plan(*attachment.ranks());
    if (!plan_) return;
    const RingView& ring = attachment.pool().ring();
    const Recovery found = recover(ring);
    std::vector<StepAgain> again;
    // The lost analyzer had not told the other nodes of all steps that it has committed.
    if (attachment.start() == RunStart::kTakeover) {
      again = steps_to_add_again(ring, found, attachment.run(), handoff.steps_released());
    }
    RunToRecord of_whole = recorded;
    if (plan_->collects()) {
      const RecorderOptions options = global_options(recorder);
      const std::uint64_t next = again.empty() ? 0 : next_recorded_step(options.pool, attachment.run().run_id);
      std::erase_if(again, [next](const StepAgain& one) { return one.step->header.step < next; });
      if (!again.empty()) {
        of_whole.started.set_from_step(again.front().step->header.step);
        of_whole.started.set_first_commit_seq(again.front().step->header.commit_seq);
      }
      collector_.emplace(options, triggers, *plan_, handoff.scalars(), stop_run);
      collector_->begin_run(of_whole);
    }
    const std::uint64_t first_step = again.empty() ? handoff.steps_released() : again.front().step->header.step;
    round_.emplace(*plan_, *link, collector_ ? &*collector_ : nullptr, handoff.schema(), attachment.team(), first_step,
                   recorder.cpus);
    for (const StepAgain& one : again) {
      const void* const payload = ring.payload(one.step->slot);
      const void* const previous = one.previous != nullptr ? ring.payload(one.previous->slot) : nullptr;
      const StepWithScalars step = ring.step(one.step->slot);
      const auto results = attachment.reducer().reduce(payload, previous, 1);
      round_->prepare(step, attachment.reducer(), results, payload, previous);
      StepFigures figures = figures_of(ring, *one.step);
      figures.steps_committed = one.step->header.step + 1;
      round_->add(figures);
    }
    attachment.join(*round_);
  } catch (const Error& error) {  // the run is attached and goes on
    spdlog::warn("event=no_whole_run text=\"{}; the results of the whole run are not recorded\"", error.what());
  }
}

void WholeRun::end(ServeEnd how, const wire::RunEnded& ended) {
  constexpr std::int64_t kPatienceNs = 5'000'000'000;
  constexpr std::int64_t kBrokenOffNs = 300'000'000;
  if (round_) round_->finish(how == ServeEnd::kDetached ? kPatienceNs : kBrokenOffNs);
  if (collector_) collector_->end_run(ended);
}

}  // namespace ringside
