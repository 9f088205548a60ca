// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/whole_run.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "analyzer/ring/kept_results.hpp"
#include "common/journal/journal_reader.hpp"
#include "common/platform/error.hpp"
#include "common/program/log.hpp"
#include "common/records/record_message.hpp"
#include "common/ring/ring_recovery.hpp"

namespace ringside {
namespace {

// The most bytes to verify and reduce again. This takes a fraction of a second, during which the solver may wait.
constexpr std::uint64_t kMostBytesAgain = std::uint64_t{256} << 20;

bool follows(const SlotHeader& next, const SlotHeader& header) noexcept {
  return next.run_id == header.run_id && next.commit_seq == header.commit_seq + 1 && next.step == header.step + 1;
}

/// The newest contiguous kept steps before `end_step` whose parts can be recomputed exactly as the lost analyzer made
/// them, because the predecessor of each of these steps is kept, too. All these steps are intact.
std::vector<StepAgain> steps_to_add_again(const RingView& ring, const Recovery& found, const RunDescription& run,
                                          std::uint64_t end_step, std::uint64_t most) {
  const std::vector<KeptSlot>& kept = found.kept;
  const auto is_intact = [&ring](const KeptSlot& slot) { return check_payload(ring, slot.slot, slot.header).intact(); };
  std::vector<StepAgain> again;
  if (most == 0 || kept.empty() || kept.back().header.run_id != run.run_id) return again;
  if (kept.back().header.step + 1 != end_step || !is_intact(kept.back())) return again;
  for (std::size_t k = kept.size() - 1; again.size() < most; --k) {
    const bool begins_ring = kept[k].header.commit_seq == 1;
    const bool begins_run = k > 0 && kept[k - 1].header.run_id != run.run_id;
    const bool is_first = kept[k].header.step == 0 && (begins_ring || begins_run);
    const bool has_previous = k > 0 && follows(kept[k].header, kept[k - 1].header) && is_intact(kept[k - 1]);
    if (!is_first && !has_previous) break;
    again.push_back({&kept[k], has_previous ? &kept[k - 1] : nullptr});
    if (!has_previous) break;
  }
  std::ranges::reverse(again);
  return again;
}

/// The step after the last step that the journal of the whole run records or lists as missing. 0 if the journal
/// contains nothing about the run, because the lost analyzer died before it wrote. Empty if the journal cannot be read.
std::optional<std::uint64_t> next_recorded_step(const std::string& pool, const Id128& run_id) {
  std::uint64_t next = 0;
  if (journal_files_there(pool).empty()) return next;
  try {
    JournalReader journal = JournalReader::open(pool);
    wire::Record record;
    while (const auto encoded = journal.next(0)) {
      if (!record.ParseFromArray(encoded->bytes.data(), static_cast<int>(encoded->bytes.size()))) continue;
      const wire::RecordsMissing& missing = record.records_missing();
      if (record.has_step() && id_of(record.step().run_id()) == run_id) next = record.step().step() + 1;
      if (record.has_run_started() && id_of(record.run_started().run_id()) == run_id)
        next = record.run_started().from_step();
      if (record.has_records_missing() && id_of(missing.run_id()) == run_id)
        next = missing.first_step() + missing.steps();
    }
  } catch (const Error&) {  // the recorder reports what is wrong with the journal
    return std::nullopt;
  }
  return next;
}

}  // namespace

WholeRun::WholeRun(NodeLink* link, const HandoffReader& handoff, Attachment& attachment,
                   const RecorderOptions& recorder, const RunToRecord& recorded, const TriggerOptions& triggers,
                   std::atomic<bool>& stop_run) {
  if (!attachment.ranks() || attachment.ranks()->nodes.size() < 2) return;
  try {
    if (link != nullptr) plan_ = round_plan(*attachment.ranks());
    if (!plan_) {
      log_info("event=no_whole_run text=\"{}: the results of the whole run are not recorded\"",
               link == nullptr ? "found no --node-address" : "a node of the run has no --node-address");
      return;
    }
    begin(*link, handoff, attachment, recorder, recorded, triggers, stop_run);
  } catch (const std::exception& error) {  // the run is already attached, so it continues
    log_warning("event=no_whole_run text=\"{}; the results of the whole run are not recorded\"", error.what());
    rounds_.reset();
    if (collector_) collector_->finish(handoff.steps_released());
  }
}

void WholeRun::begin(NodeLink& link, const HandoffReader& handoff, Attachment& attachment,
                     const RecorderOptions& recorder, const RunToRecord& recorded, const TriggerOptions& triggers,
                     std::atomic<bool>& stop_run) {
  rounds_.emplace(*plan_, link, handoff.schema(), attachment.team(), recorder.cpus);
  const RingView& ring = attachment.pool().ring();
  Recovery found;
  std::vector<StepAgain> again;  // refers to `found`
  // The lost analyzer may have reported fewer steps to the other nodes than it committed.
  if (attachment.start() == RunStart::kTakeover) {
    found = recover(ring);
    const std::uint64_t most =
        std::min<std::uint64_t>(kMostBytesAgain / ring.geometry().payload_bytes(), rounds_->capacity() / 2);
    again = steps_to_add_again(ring, found, attachment.run(), handoff.steps_released(), most);
  }
  if (plan_->collects()) {
    again = begin_collector(std::move(again), handoff, attachment, recorder, recorded, triggers, stop_run);
  }
  const std::uint64_t first_step = again.empty() ? handoff.steps_released() : again.front().step->header.step;
  rounds_->begin(first_step, collector_ ? &*collector_ : nullptr);
  if (!again.empty()) add_again(again, ring, handoff, attachment, recorder.durability);
  attachment.join(*rounds_);
}

/// Returns the steps that are not recorded yet. The rounds take place even without a collector, because other nodes
/// wait for their end.
std::vector<StepAgain> WholeRun::begin_collector(std::vector<StepAgain> again, const HandoffReader& handoff,
                                                 const Attachment& attachment, const RecorderOptions& recorder,
                                                 const RunToRecord& recorded, const TriggerOptions& triggers,
                                                 std::atomic<bool>& stop_run) try {
  const RecorderOptions options = global_options(recorder);
  if (!again.empty()) {
    const std::optional<std::uint64_t> next = next_recorded_step(options.pool, attachment.run().run_id);
    std::erase_if(again, [next](const StepAgain& one) { return !next || one.step->header.step < *next; });
  }
  RunToRecord of_whole = recorded;
  if (!again.empty()) {
    of_whole.started.set_from_step(again.front().step->header.step);
    of_whole.started.set_first_commit_seq(again.front().step->header.commit_seq);
    const KeptSlot* const before = again.front().previous;
    of_whole.last_iteration = before != nullptr ? before->header.iteration : 0;
  }
  collector_.emplace(options, triggers, *plan_, handoff.scalars(), stop_run);
  collector_->begin_run(of_whole);
  return again;
} catch (const Error& error) {
  log_warning("event=no_whole_run text=\"{}; the results of the whole run are not recorded\"", error.what());
  collector_.reset();
  return {};
}

/// No plug-ins are used, because a plug-in may have killed the lost analyzer; and the whole run has no results of
/// plug-ins.
void WholeRun::add_again(const std::vector<StepAgain>& again, const RingView& ring, const HandoffReader& handoff,
                         const Attachment& attachment, Durability durability) {
  StepReducer reducer(handoff.schema());
  for (const StepAgain& one : again) {
    const void* const payload = ring.payload(one.step->slot);
    const void* const previous = one.previous != nullptr ? ring.payload(one.previous->slot) : nullptr;
    const StepWithScalars step = ring.step(one.step->slot);
    const auto results = reducer.reduce(payload, previous, 1);
    rounds_->prepare(step, reducer, results, payload, previous);
    StepFigures figures = figures_of(ring, *one.step);
    figures.steps_committed = one.step->header.step + 1;
    // The attachment has persisted everything that the ring held.
    figures.steps_persisted = durability == Durability::kPower ? figures.steps_committed : 0;
    if (attachment.pool().fault()) throw Error(*attachment.pool().fault());
    rounds_->add(figures);
  }
}

void WholeRun::end(ServeEnd how) {
  constexpr std::int64_t kPatienceNs = 5'000'000'000;
  constexpr std::int64_t kBrokenOffNs = 300'000'000;
  if (!rounds_) return;
  // If only this analyzer is stopped, another analyzer continues the run.
  const bool goes_on = how == ServeEnd::kStopped;
  if (goes_on) {
    rounds_->leave();
  } else {
    rounds_->finish(how == ServeEnd::kDetached ? kPatienceNs : kBrokenOffNs);
  }
}

void WholeRun::record_end(const wire::RunEnded& ended) {
  if (collector_) collector_->end_run(ended);
}

std::string WholeRun::what_stopped() const {
  return collector_ ? collector_->what_stopped() : std::string();
}

}  // namespace ringside
