// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/pool/ring_replay.hpp"

#include <algorithm>
#include <memory>
#include <span>

#include "common/pool_reader/ring_reader.hpp"
#include "common/records/shown_results.hpp"
#include "common/reductions/reduction_catalogue.hpp"
#include "common/reductions/reduction_words.hpp"

namespace ringside {

namespace {

/// The recomputed results, in the order of the recorded results. Results that this release does not compute count as
/// equal, and so does a change that could not be recomputed (change_left_out).
std::vector<std::uint64_t> in_recorded_order(const Catalogue& recorded_catalogue,
                                             std::span<const std::uint64_t> recorded, const Catalogue& catalogue,
                                             std::span<const std::uint64_t> recomputed, bool has_predecessor,
                                             bool& change_left_out) {
  std::vector<std::uint64_t> words(recorded.begin(), recorded.end());
  const ResultValues before(recorded);
  const ResultValues now(recomputed);
  for (const Result& result : recorded_catalogue.results()) {
    if (result.source != ResultSource::kReduction) continue;
    const Result* own = catalogue.find(result.full_name);
    if (own == nullptr || own->type != result.type || own->count != result.count) continue;
    if (own->origin != result.origin) continue;  // the result of another plug-in, or of another build of it
    if (result.origin != Id128{} && !before.present(result)) continue;  // the plug-in was left out then
    if ((own->flags & kNeedsPrevious) != 0 && !has_predecessor && before.present(result)) {
      change_left_out = true;
      continue;
    }
    const std::uint64_t bit = std::uint64_t{1} << (result.bit % 64);
    words[result.bit / 64] &= ~bit;
    if (now.present(*own)) words[result.bit / 64] |= bit;
    const std::uint64_t count = std::uint64_t{result.count} * words_of(result.type);
    std::copy_n(recomputed.begin() + static_cast<std::ptrdiff_t>(own->word), count,
                words.begin() + static_cast<std::ptrdiff_t>(result.word));
  }
  return words;
}

}  // namespace

RingReplay::RingReplay(const RingView& ring, PlugInSet* plug_ins)
    : ring_(ring),
      reducer_(ring.geometry().schema(), plug_ins),
      layout_(std::make_shared<const RecordLayout>(ring.geometry().schema(), reducer_.catalogue())),
      step_(ring.geometry().payload_bytes() / sizeof(std::uint64_t)),
      before_(step_.size()) {}

StepResults RingReplay::results(std::span<const std::uint64_t> words) const {
  std::vector<std::uint64_t> values(layout_->words());
  layout_->gather(words, nullptr, values);
  return {layout_, values};
}

std::optional<Reductions> RingReplay::shown(std::span<const std::uint64_t> words) const {
  // With many results of plug-ins there is more than one word of presence bits.
  const bool as_words_of_x = ring_.geometry().schema().is_x_only() && catalogue().presence_words() == 1;
  if (as_words_of_x) return to_reductions(words, ring_.geometry().entries());
  const ShownFigures shown = shown_of(results(words));
  if (!shown.reductions) return std::nullopt;
  Reductions reductions;
  for_each_scalar([&](const char*, auto from, auto to) { reductions.*to = (*shown.reductions).*from; });
  return reductions;
}

ReplayedIterate RingReplay::replay(const KeptSlot& kept) {
  ReplayedIterate iterate;
  iterate.kept = kept;
  const ReadResult read = read_payload(ring_, kept.slot, kept.header, step_.data());
  if (read.status == ReadStatus::kDamaged) iterate.payload = check_payload(ring_, kept.slot, kept.header);
  if (read.status == ReadStatus::kOk) {
    iterate.step = read.step;
    const auto words = reducer_.reduce(step_.data(), predecessor_of(kept.header), 1);
    iterate.words.assign(words.begin(), words.end());
    compare(iterate);
    step_.swap(before_);
    before_header_ = kept.header;
    return iterate;
  }
  // The payload was checked again to report the damage. The iterate may have been overwritten by then.
  const bool gone = read.status == ReadStatus::kOverwritten || iterate.payload.overwritten;
  iterate.verdict = gone ? ReplayVerdict::kOverwritten : ReplayVerdict::kDamaged;
  return iterate;
}

void RingReplay::skip(const KeptSlot& kept) {
  before_header_.reset();
  if (read_payload(ring_, kept.slot, kept.header, before_.data()).status == ReadStatus::kOk) {
    before_header_ = kept.header;
  }
}

/// A gap in the sequence numbers means that an iterate in between was lost. Then it is not known whether the analyzer
/// compared this iterate with the iterate before the gap. In an archive (docs/use/questions.md) commits are contiguous,
/// but steps are not; steps begin with 0 again when a run is resumed.
const void* RingReplay::predecessor_of(const SlotHeader& header) const noexcept {
  const auto follows = [&header](const SlotHeader& before) {
    return header.step == 0 ? header.iteration == before.iteration + 1 : header.step == before.step + 1;
  };
  const bool is_predecessor = before_header_ && before_header_->run_id == header.run_id &&
                              before_header_->commit_seq + 1 == header.commit_seq && follows(*before_header_);
  return is_predecessor ? before_.data() : nullptr;
}

/// If the run's description is lost, the recorded words are read as results of this release.
Catalogue RingReplay::recorded_catalogue(const SlotHeader& header, const SlotResults& recorded) {
  if (!recorded_catalogue_ || run_id_ != header.run_id || catalogue_hash_ != recorded.catalogue_hash) {
    run_id_ = header.run_id;
    catalogue_hash_ = recorded.catalogue_hash;
    recorded_catalogue_ = ring_.catalogue(run_id_, catalogue_hash_);
    if (!recorded_catalogue_) recorded_catalogue_ = usual_catalogue(ring_.geometry().schema(), catalogue_hash_);
    if (!recorded_catalogue_) recorded_catalogue_ = catalogue();
  }
  return *recorded_catalogue_;
}

void RingReplay::compare(ReplayedIterate& iterate) {
  const KeptSlot& kept = iterate.kept;
  SlotResults recorded;
  switch (ring_.results(kept.slot, kept.header, recorded)) {
    case ResultsState::kNotRecorded:
      // If the header has been overwritten, the results beside it belong to another step.
      iterate.verdict =
          ring_.still_holds(kept.slot, kept.header) ? ReplayVerdict::kNotRecorded : ReplayVerdict::kOverwritten;
      return;
    case ResultsState::kDamaged: iterate.verdict = ReplayVerdict::kReductionsDamaged; return;
    case ResultsState::kRecorded: break;
  }
  const Catalogue recorded_as = recorded_catalogue(kept.header, recorded);
  if (recorded.words.size() != recorded_as.words()) {  // a forged catalogue, or a lost catalogue of another release
    iterate.verdict = ReplayVerdict::kReductionsDamaged;
    return;
  }
  const std::vector<std::uint64_t> recomputed =
      in_recorded_order(recorded_as, recorded.words, catalogue(), iterate.words, predecessor_of(kept.header) != nullptr,
                        iterate.change_left_out);
  iterate.differences = differences(recorded_as, ResultValues(recorded.words), ResultValues(recomputed));
  iterate.verdict = iterate.differences.empty() ? ReplayVerdict::kEqual : ReplayVerdict::kDiffers;
}

}  // namespace ringside
