// SPDX-License-Identifier: BSD-3-Clause
#include "cli/export/verified_step.hpp"

#include <string>

#include "common/platform/error.hpp"

namespace ringside {
namespace {

/// An older iterate never replaces the last one. The error names the newest intact one, so that the user can decide.
Error damaged(const RingReader& reader, const KeptSlot& kept, std::uint64_t chunk) {
  const std::optional<KeptSlot> intact = newest_intact(reader.ring(), reader.recover());
  return damage_error("{}: iteration {} in slot {} is damaged (chunk {}); {}", reader.path().string(),
                      kept.header.iteration, kept.slot, chunk,
                      intact ? formatted("--iteration {} is the newest intact one", intact->header.iteration)
                             : std::string("none of the others is intact"));
}

}  // namespace

std::optional<VerifiedStep> VerifiedStep::open(const RingReader& reader, const KeptSlot& kept, Way way) {
  VerifiedStep step(reader, kept);
  if (way == Way::kInPlace && reader.hold(kept.header.commit_seq, step.held_) == HoldOutcome::kHeld) {
    const PayloadCheck check = reader.verify(kept);
    if (check.overwritten || !step.still_there()) return std::nullopt;
    if (check.intact()) return step;
    throw damaged(reader, kept, check.damaged_chunks.empty() ? 0 : check.damaged_chunks[0]);
  }
  step.copy_.resize(reader.ring().geometry().payload_bytes());
  const ReadResult result = reader.read(kept, step.copy_.data());
  if (result.status == ReadStatus::kDamaged) throw damaged(reader, kept, result.damaged_chunk);
  if (result.status == ReadStatus::kOverwritten) return std::nullopt;
  return step;
}

std::span<const std::byte> VerifiedStep::bytes(std::size_t variable) const noexcept {
  if (copy_.empty()) return held_.view(variable);
  const VariablePlace& place = reader_->ring().geometry().schema().place(variable);
  return std::span(copy_).subspan(place.offset, place.bytes);
}

bool VerifiedStep::still_there() noexcept {
  return !copy_.empty() || held_.check() == HeldStatus::kOk;
}

}  // namespace ringside
