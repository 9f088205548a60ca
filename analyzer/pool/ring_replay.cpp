// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/pool/ring_replay.hpp"

#include <utility>

#include "analyzer/pool/ring_reader.hpp"

namespace ringside {

RingReplay::RingReplay(const RingView& ring)
    : ring_(ring),
      reducer_(ring.geometry().entries()),
      x_(ring.geometry().entries()),
      before_(ring.geometry().entries()) {}

ReplayedIterate RingReplay::replay(const KeptSlot& kept) {
  ReplayedIterate iterate;
  iterate.kept = kept;
  const ReadResult read = read_payload(ring_, kept.slot, kept.header, x_.data());
  if (read.status == ReadStatus::kDamaged) iterate.payload = check_payload(ring_, kept.slot, kept.header);
  if (read.status == ReadStatus::kOk) {
    iterate.step = read.step.descriptor;
    iterate.reductions = reducer_.reduce(x_.data(), predecessor_of(kept.header), 1);
    compare(iterate);
    x_.swap(before_);
    before_header_ = kept.header;
    return iterate;
  }
  // Checked once more to report what is damaged. The iterate may be gone by then.
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

/// A gap in the sequence numbers means that an iterate between the two was lost. Then it is not known whether the
/// analyzer compared with the one before the gap.
const double* RingReplay::predecessor_of(const SlotHeader& header) const noexcept {
  const bool is_predecessor =
      before_header_ && before_header_->run_id == header.run_id && before_header_->commit_seq + 1 == header.commit_seq;
  return is_predecessor ? before_.data() : nullptr;
}

void RingReplay::compare(ReplayedIterate& iterate) {
  const KeptSlot& kept = iterate.kept;
  Reductions recorded;
  switch (ring_.reductions(kept.slot, kept.header, recorded)) {
    case ResultsState::kNotRecorded:
      // If the header is gone, it is unknown whose record this is.
      iterate.verdict =
          ring_.still_holds(kept.slot, kept.header) ? ReplayVerdict::kNotRecorded : ReplayVerdict::kOverwritten;
      return;
    case ResultsState::kDamaged: iterate.verdict = ReplayVerdict::kReductionsDamaged; return;
    case ResultsState::kRecorded: break;
  }
  iterate.change_left_out = recorded.has_change == 1 && iterate.reductions.has_change == 0;
  Reductions expected = recorded;
  if (iterate.change_left_out) {
    expected.has_change = 0;
    expected.change_l1 = expected.change_l2 = expected.change_linf = 0;
  }
  iterate.differences = differences(expected, iterate.reductions);
  iterate.verdict = iterate.differences.empty() ? ReplayVerdict::kEqual : ReplayVerdict::kDiffers;
}

}  // namespace ringside
