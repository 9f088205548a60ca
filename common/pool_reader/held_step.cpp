// SPDX-License-Identifier: BSD-3-Clause
#include "common/pool_reader/held_step.hpp"

#include <atomic>
#include <numeric>

#include "common/kernels/hash.hpp"
#include "common/text/formatted.hpp"

namespace ringside {
namespace {

constexpr std::uint64_t kChunksInPiece = 64;  // a piece of 1 MiB has 64 chunks of 16 KiB

}  // namespace

LeaseStatus ReaderLeases::take(std::uint32_t slot) noexcept {
  if (!mark_.is_owner()) return LeaseStatus::kUnavailable;
  const std::lock_guard lock(mutex_);
  if (counts_[slot] == 0) {
    const LeaseStatus status = take_lease(file_.get(), slot, Lease::kShared);
    if (status != LeaseStatus::kTaken) {
      // On NFS, the conflicting lock may be the lock of the pool's owner, which covers all bytes.
      const auto slots = static_cast<std::uint32_t>(counts_.size());
      return has_leases(file_.get(), slots, Lease::kShared) ? status : LeaseStatus::kUnavailable;
    }
  }
  ++counts_[slot];
  return LeaseStatus::kTaken;
}

void ReaderLeases::end(std::uint32_t slot) noexcept {
  if (!mark_.is_owner()) return;
  const std::lock_guard lock(mutex_);
  if (--counts_[slot] == 0) end_lease(file_.get(), slot);
}

std::uint32_t ReaderLeases::held() const noexcept {
  const std::lock_guard lock(mutex_);
  return std::accumulate(counts_.begin(), counts_.end(), std::uint32_t{0});
}

std::span<const std::byte> HeldStep::view(std::size_t variable) const noexcept {
  const VariablePlace& place = ring_->geometry().schema().place(variable);
  return {ring_->payload(slot_) + place.offset, place.bytes};
}

HeldStatus HeldStep::check() noexcept {
  if (leases_ != nullptr && ring_->still_holds(slot_, header_)) return HeldStatus::kOk;
  if (leases_ != nullptr) held_when_lost_ = leases_->held();
  end();
  return HeldStatus::kOverwritten;
}

HeldStatus HeldStep::verify(std::size_t variable, Team& team) noexcept {
  const bool intact = verified_[variable] || hashes_hold(variable, team);
  if (check() == HeldStatus::kOverwritten) return HeldStatus::kOverwritten;
  verified_[variable] = intact;
  return intact ? HeldStatus::kOk : HeldStatus::kDamaged;
}

HeldStatus HeldStep::verify(Team& team) noexcept {
  HeldStatus status = check();
  for (std::size_t v = 0; v < ring_->geometry().schema().size() && status == HeldStatus::kOk; ++v) {
    status = verify(v, team);
  }
  return status;
}

bool HeldStep::hashes_hold(std::size_t variable, Team& team) const noexcept {
  const RingGeometry& geometry = ring_->geometry();
  const std::span<const std::uint64_t> expected = ring_->chunk_hashes(slot_);
  if (payload_hash(expected, step(), geometry.step_bytes()) != header_.payload_hash) return false;
  const std::uint64_t first = geometry.chunks.first_of(variable);
  const std::uint64_t end = geometry.chunks.end_of(variable);
  std::atomic<bool> hold{true};
  const std::byte* payload = ring_->payload(slot_);
  const std::uint64_t pieces = team.pieces(end - first, kChunksInPiece);
  team.share(pieces, [&](std::uint64_t piece, int) noexcept {
    const std::uint64_t last = first + piece_begin(end - first, piece + 1, pieces);
    for (std::uint64_t chunk = first + piece_begin(end - first, piece, pieces); chunk < last; ++chunk) {
      const PayloadParts::Part part = geometry.chunks[chunk];
      if (hash64(payload + part.offset, part.bytes) != expected[chunk]) hold.store(false, std::memory_order_relaxed);
    }
  });
  return hold.load(std::memory_order_relaxed);
}

HeldStatus HeldStep::release() noexcept {
  const HeldStatus status = check();
  end();
  return status;
}

void HeldStep::end() noexcept {
  if (leases_ != nullptr) leases_->end(slot_);
  leases_ = nullptr;
}

std::string HeldStep::why_lost() const {
  return formatted(
      "iteration {} is no longer held: the analyzer needed its slot ({} slots, {} held); what was read since the last "
      "check may belong to another step; hold fewer steps, copy them, or give the pool more --slots",
      header_.iteration, ring_->geometry().slot_count(), held_when_lost_);
}

void HeldStep::swap(HeldStep& other) noexcept {
  std::swap(ring_, other.ring_);
  std::swap(leases_, other.leases_);
  std::swap(slot_, other.slot_);
  std::swap(header_, other.header_);
  std::swap(verified_, other.verified_);
  std::swap(held_when_lost_, other.held_when_lost_);
}

}  // namespace ringside
