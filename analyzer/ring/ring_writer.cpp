// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/ring/ring_writer.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "analyzer/ring/ring_creation.hpp"
#include "analyzer/ring/slot_prefetch.hpp"
#include "common/platform/error.hpp"

namespace ringside {
namespace {

// The unit of a helper thread's copies: 1 MiB in chunks of 16 KiB, copied in some 40 us.
constexpr std::uint64_t kPortionsInPiece = 64;

/// The commit_seq of each kept step by slot, without the steps that are newer than `newest`; 0: no such step.
std::vector<std::uint64_t> kept_seqs(const Recovery& recovery, std::uint32_t slots, std::uint64_t newest) {
  std::vector<std::uint64_t> seqs(slots, 0);
  for (const KeptSlot& kept : recovery.kept) {
    if (kept.header.commit_seq <= newest) seqs[kept.slot] = kept.header.commit_seq;
  }
  return seqs;
}

/// Half of the slots that may be overwritten: while one half is synced, the run fills the other half.
constexpr std::uint64_t commits_in_sync(std::uint64_t slots) noexcept {
  return std::max<std::uint64_t>((slots - 2) / 2, 1);
}

}  // namespace

RingWriter::RingWriter(WritableRing ring, Persistence& persistence, Storage storage, Durability durability)
    : ring_(std::move(ring)),
      persistence_(persistence),
      syncs_(needs_sync(storage, durability)),
      durability_(durability),
      portions_(ring_.geometry().schema(), std::max<std::uint64_t>(ring_.geometry().chunk_bytes, kCopyChunkBytes)),
      order_(ring_.geometry().slot_count()),
      victims_(ring_.geometry().slot_count()),
      window_(ring_.geometry().slot_count()),
      pace_{.batch = commits_in_sync(ring_.geometry().slot_count())} {
  const Recovery recovery = recover(ring_);
  order_.assign(kept_seqs(recovery, order_.slots(), recovery.newest_seq()));
  next_seq_ = recovery.newest_seq() + 1;
  committed_.store(recovery.newest_seq());
  committed_before_run_.store(recovery.newest_seq());
  persistence_.expect_payloads(ring_.geometry().schema().payload_bytes());
}

std::optional<KeptSlot> RingWriter::begin_run(const RunDescription& run, const Catalogue& catalogue,
                                              void* newest_payload, std::uint64_t resume_from) {
  const RingGeometry& geometry = ring_.geometry();
  if (run.schema_id != geometry.schema().id()) {
    throw usage_error("the pool holds steps of {}, but this run has other variables; --overwrite makes a new pool",
                      to_text(geometry.schema()));
  }
  if (const std::string lacks = geometry.lacks_room_for(catalogue); !lacks.empty()) {
    throw usage_error("the pool has {}; --overwrite makes a new pool", lacks);
  }
  if (const int error = finish()) {
    throw system_error("the pool could not be synced to its disk: {}; the last committed steps may be lost",
                       errno_text(error));
  }

  persist_found();
  if (resume_from != 0) discard_newer(recover(ring_), run, resume_from);

  // After a power cut, a plain file may hold a header without its payload. The newest slot whose payload verifies must
  // be kept; slots that claim to be newer are overwritten first. The sequence numbers continue above those of all these
  // slots.
  const Recovery recovery = recover(ring_);
  const std::optional<KeptSlot> intact = newest_intact(ring_, recovery, newest_payload);
  const std::uint64_t intact_seq = intact ? intact->header.commit_seq : 0;
  order_.assign(kept_seqs(recovery, order_.slots(), intact_seq));
  next_seq_ = std::max(next_seq_, recovery.newest_seq() + 1);
  run_id_ = run.run_id;
  newest_.reset();
  if (intact && intact->header.run_id == run.run_id) newest_ = intact->slot;
  previous_ = newest_;
  current_ = newest_.value_or(0);

  write_run(run, catalogue);
  catalogue_hash_ = catalogue_hash(catalogue.descriptions(), geometry.schema().id());
  if (const int error = sync_all()) {
    throw system_error("the pool could not be synced to its disk: {}", errno_text(error));
  }
  committed_before_run_.store(next_seq_ - 1, std::memory_order_release);
  committed_.store(recovery.newest_seq(), std::memory_order_release);
  if (durability_ == Durability::kPower) persisted_.store(intact_seq, std::memory_order_release);
  if (syncs_) {
    persistence_.expect_syncs();
    syncs_itself_ = persistence_.syncs_at_once();
    if (!syncs_itself_) syncer_ = std::make_unique<RingSyncer>(persistence_, persisted_, pace_);
  } else {
    persistence_.watch_disk();
  }
  return intact;
}

/// Discards the run's steps that are newer than the step of that iteration, if that step is intact. Leases are ignored:
/// a reader that holds a discarded step finds that this step was overwritten, as after `clear`.
void RingWriter::discard_newer(const Recovery& recovery, const RunDescription& run, std::uint64_t iteration) {
  const auto wanted = std::find_if(recovery.kept.rbegin(), recovery.kept.rend(), [&](const KeptSlot& kept) {
    return kept.header.run_id == run.run_id && kept.header.iteration == iteration;
  });
  if (wanted == recovery.kept.rend()) {
    throw damage_error(
        "--resume: the other nodes continue from iteration {}, which this node does not keep; it keeps iterations {} "
        "to {}",
        iteration, recovery.kept.empty() ? 0 : recovery.kept.front().header.iteration, recovery.newest_iteration());
  }
  if (!check_payload(ring_, wanted->slot, wanted->header).intact()) {
    throw damage_error("--resume: the other nodes continue from iteration {}, which is damaged on this node",
                       iteration);
  }
  // The newest step is discarded first, so that the remaining steps are still contiguous if this is interrupted.
  for (auto newer = recovery.kept.rbegin(); newer != wanted; ++newer) discard(newer->slot);
  next_seq_ = std::max(next_seq_, recovery.newest_seq() + 1);
}

void RingWriter::persist_found() noexcept {
  // A killed earlier analyzer may have left stores in the processor's caches, which are visible but not yet persistent.
  // The bytes on which the run now builds must survive the next power cut. Payloads and chunk hashes need no flush,
  // because they were drained before their header was stored.
  const RingGeometry& geometry = ring_.geometry();
  for (std::uint32_t slot = 0; slot < geometry.slot_count(); ++slot) {
    persistence_.flush(ring_.header(slot), sizeof(SlotHeader));
  }
  for (int copy : {0, 1}) persistence_.flush(ring_.run_entry(copy, 0), geometry.run_table_bytes());
  persistence_.drain();
}

void RingWriter::write_run(const RunDescription& run, const Catalogue& catalogue) {
  // The table needs the newest description of every run that a slot refers to, and the newest description of all: at
  // most K + 1 of the K + 2 entries.
  const std::vector<RunReading> runs = ring_.runs();
  if (!runs.empty() && std::memcmp(&runs.back().run, &run, sizeof(run)) == 0 &&
      std::ranges::equal(std::as_bytes(std::span(runs.back().catalogue)), std::as_bytes(catalogue.descriptions()))) {
    return;
  }
  std::vector<char> needed(ring_.geometry().run_entries(), 0);
  std::vector<char> wanted(needed.size(),
                           0);  // whether it has the catalogue of a kept slot, whose run was resumed with another
  if (!runs.empty()) needed[runs.back().index] = 1;
  for (const KeptSlot& kept : recover(ring_).kept) {
    const auto newest = std::find_if(runs.rbegin(), runs.rend(), [&](const RunReading& reading) {
      return reading.run.run_id == kept.header.run_id;
    });
    if (newest != runs.rend()) needed[newest->index] = 1;
    SlotResults results;
    if (ring_.results(kept.slot, kept.header, results) != ResultsState::kRecorded) continue;
    for (const RunReading& reading : runs) {
      const std::uint64_t hash = catalogue_hash(reading.catalogue, ring_.geometry().schema().id());
      if (reading.run.run_id == kept.header.run_id && hash == results.catalogue_hash) wanted[reading.index] = 1;
    }
  }
  std::uint32_t index = 0;
  while (index < needed.size() && (needed[index] != 0 || wanted[index] != 0)) ++index;
  if (index == needed.size()) {  // every entry is needed or wanted: an entry that is only wanted is taken
    index = static_cast<std::uint32_t>(std::find(needed.begin(), needed.end(), 0) - needed.begin());
  }

  const std::uint64_t record_seq = runs.empty() ? 1 : runs.back().record_seq + 1;
  // The copies are written one after the other, so a crash leaves at most one of them incomplete.
  for (int copy : {0, 1}) {
    write_run_entry(ring_, copy, index, run, catalogue.descriptions(), record_seq, persistence_);
  }
}

void RingWriter::clear() {
  if (const int error = finish()) {
    throw system_error("the pool could not be synced to its disk: {}", errno_text(error));
  }
  // The oldest slot is cleared first, so that the remaining slots are still contiguous if this is interrupted. Leases
  // are ignored, because the user discards the iterates; no payload changes before its header.
  for (std::uint32_t slot = order_.oldest(); slot != order_.end(); slot = order_.newer(slot)) discard(slot);
  victims_.disregard_all();
  order_.make_all_empty();
  newest_.reset();
  previous_.reset();
  if (const int error = sync_all()) {
    throw system_error("the pool could not be synced to its disk: {}", errno_text(error));
  }
}

void RingWriter::discard(std::uint32_t slot) noexcept {
  SlotHeader* header = ring_.header(slot);
  persistence_.store64(&header->commit_seq, 0);
  // The next owner may use this sequence number again. Then no word of the old header may make an incomplete new header
  // look complete.
  persistence_.store64(&header->header_hash, 0);
  persist(persistence_, &header->header_hash, sizeof(header->header_hash) + sizeof(header->commit_seq));
}

CommitStatus RingWriter::begin() noexcept {
  if (sync_error() != 0) return CommitStatus::kSyncFailed;
  // A slot with 0 (nothing worth keeping) counts as older than the oldest commit. With three or more slots, the oldest
  // step is not the newest one, which the reductions read as the previous step. So the oldest step may be overwritten
  // once a newer step is persisted.
  const std::uint64_t oldest = victims_.oldest_that_may_go(order_);
  if (oldest != 0 && syncer_ && !syncer_->wait_past(oldest)) return CommitStatus::kSyncFailed;
  // If no slot is free, commits whose sync was delayed are persisted first: they may free one. This happens at most
  // once in a round of the ring, because syncs are then not delayed for so long.
  if (persisted() < delayed_ && !victims_.is_decided() && !victims_.choose_ahead(order_, may_go_below())) {
    hurry_syncs();
    if (!syncer_->wait_past(delayed_ - 1)) return CommitStatus::kSyncFailed;
  }
  current_ = victims_.choose(order_, may_go_below());
  if (order_.seq(current_) != oldest) hurry_syncs();  // the oldest step is held
  previous_ = newest_;
  order_.make_empty(current_);

  SlotHeader* header = ring_.header(current_);
  persistence_.store64(&header->commit_seq, 0);
  persist(persistence_, &header->commit_seq, sizeof(header->commit_seq));  // fence 1
  // If the old header of this slot is still in the file, the slot's payload must not change.
  return persistence_.store_error() == 0 ? CommitStatus::kOk : CommitStatus::kSyncFailed;
}

void RingWriter::copy(const void* source, const StepWithScalars& step, StepReducer* reducer) noexcept {
  // Bytes moved: the payload is read, and written with non-temporal stores. Each chunk adds 8 bytes for its hash, and
  // the step adds a cache line. If the step is reduced, the previous step's payload is read, too.
  const RingGeometry& geometry = ring_.geometry();
  std::memcpy(&step_, &step, geometry.step_bytes());
  if (reducer != nullptr) reducer->begin(previous_payload());
  std::uint64_t* table = ring_.chunk_hash_table(current_);

  const std::uint64_t portions = portions_.count();
  const std::uint64_t pieces = team_->pieces(portions, kPortionsInPiece);
  team_->share(pieces, [&](std::uint64_t piece, int thread) noexcept {
    if (piece == 0) {
      StepWithScalars* to = ring_.slot_step(current_);
      persistence_.store_words(to, &step_, geometry.step_bytes());
      persistence_.flush(to, geometry.step_bytes());
    }
    const std::uint64_t first = piece_begin(portions, piece, pieces);
    const std::uint64_t last = piece_begin(portions, piece + 1, pieces);
    for (std::uint64_t portion = first; portion < last; ++portion) {
      copy_portion(static_cast<const std::byte*>(source), portions_[portion], reducer,
                   static_cast<std::size_t>(thread));
    }
    const std::uint64_t first_chunk = first_chunk_of(portions_[first]);
    const std::uint64_t end_chunk = last == portions ? geometry.chunk_count() : first_chunk_of(portions_[last]);
    persistence_.flush(table + first_chunk, (end_chunk - first_chunk) * sizeof(std::uint64_t));
    persistence_.drain();  // fence 2: each thread waits only for its own stores
  });
}

std::uint64_t RingWriter::first_chunk_of(const PayloadParts::Part& portion) const noexcept {
  const RingGeometry& geometry = ring_.geometry();
  return geometry.chunks.first_of(portion.variable) + portion.in_variable / geometry.chunk_bytes;
}

void RingWriter::copy_portion(const std::byte* source, const PayloadParts::Part& portion, StepReducer* reducer,
                              std::size_t thread) noexcept {
  const std::uint64_t chunk_bytes = ring_.geometry().chunk_bytes;
  const bool reduced = reducer != nullptr && reducer->reduces(portion.variable);
  const bool on_the_way = reduced && chunk_bytes == kCopyChunkBytes;
  std::byte* to = ring_.writable_payload(current_) + portion.offset;
  const std::byte* from = source + portion.offset;
  std::uint64_t* hash_of_chunk = ring_.chunk_hash_table(current_) + first_chunk_of(portion);
  for (std::uint64_t done = 0; done < portion.bytes; done += chunk_bytes) {
    const std::uint64_t bytes = std::min(chunk_bytes, portion.bytes - done);
    const std::uint64_t hash =
        on_the_way ? persistence_.copy_reduced(to + done, from + done, bytes,
                                               {*reducer, thread, portion.variable, portion.in_variable})
                   : persistence_.copy_nontemporal(to + done, from + done, bytes);
    persistence_.store64(hash_of_chunk++, hash);
  }
  // This program makes rings with chunks of this size only. In a ring with other chunks, each portion is read twice.
  if (reduced && !on_the_way) {
    reducer->sweep(thread, portion.variable, ring_.payload(current_), portion.in_variable, portion.bytes);
  }
}

CommitStatus RingWriter::commit() noexcept {
  if (persistence_.store_error() != 0) return CommitStatus::kSyncFailed;  // a part of the payload is not in the file
  const RingGeometry& geometry = ring_.geometry();
  header_.iteration = step_.descriptor.iteration;
  header_.step = step_.descriptor.step;
  header_.run_id = run_id_;
  header_.payload_bytes = geometry.payload_bytes();
  header_.payload_hash = payload_hash(ring_.chunk_hashes(current_), step_, geometry.step_bytes());
  header_.commit_seq = next_seq_;
  header_.header_hash = header_hash(header_, ring_.seed(current_));

  SlotHeader* header = ring_.header(current_);
  persistence_.store_words(header, &header_, sizeof(header_));            // ascending: commit_seq is the last word
  persist(persistence_, header, sizeof(*header));                         // fence 3
  if (persistence_.store_error() != 0) return CommitStatus::kSyncFailed;  // a part of the step is not in the file

  order_.commit(current_, next_seq_);
  newest_ = current_;
  committed_.store(next_seq_, std::memory_order_release);
  if (syncer_) {
    syncer_->request(next_seq_);
    if (next_seq_ < hurried_until_) {
      syncer_->hurry();
    } else if (pace_.batch > 1 && pace_.delay > pace_.delay.zero()) {
      delayed_ = next_seq_;
    }
  } else if (durability_ == Durability::kPower && (!syncs_itself_ || sync_all() == 0)) {
    persisted_.store(next_seq_, std::memory_order_release);
  }
  ++next_seq_;
  return sync_error() == 0 ? CommitStatus::kOk : CommitStatus::kSyncFailed;
}

bool RingWriter::guard(std::optional<std::uint64_t> commit_seq) noexcept {
  const std::span<const std::uint64_t> seqs = order_.seqs();
  const auto found = commit_seq ? std::find(seqs.begin(), seqs.end(), *commit_seq) : seqs.end();
  victims_.guard(found == seqs.end() ? std::nullopt : std::optional(static_cast<std::uint32_t>(found - seqs.begin())));
  return found != seqs.end();
}

void RingWriter::choose_before_step(std::int64_t now_ns) noexcept {
  if (window_.step_ended(now_ns)) victims_.look_for_leases();
  if (victims_.lease_seen()) window_.lease_seen(now_ns);
  const std::uint32_t slots = window_.slots(now_ns);
  if (slots == 1 || !window_.lasts(now_ns)) victims_.give_back();
  if (!victims_.has_unused()) window_.begin(now_ns);
  choose_ahead(slots);
}

void RingWriter::choose_ahead(std::uint32_t most) noexcept {
  if (const auto slot = victims_.choose_ahead(order_, may_go_below(), most)) {
    prefetch_slot(ring_, *slot);
  } else {
    hurry_syncs();
  }
}

/// A delayed sync must not be the reason why a lease is broken (see also `begin`). Under Durability::kPower on a disk,
/// only steps that are older than the newest persisted one may be overwritten; if readers hold steps, few others
/// remain. So while steps are held, syncs are not delayed. Within one round of the ring, every slot that is still held
/// is the oldest one.
void RingWriter::hurry_syncs() noexcept {
  if (!syncer_) return;
  hurried_until_ = next_seq_ + order_.slots();
  syncer_->hurry();
}

void RingWriter::store_results(std::span<const std::uint64_t> words) noexcept {
  ResultsHead head;
  head.words = words.size();
  head.catalogue_hash = catalogue_hash_;
  head.header_hash = header_.header_hash;
  head.hash = results_hash(head, words.data());

  // While the results change, their head belongs to no step. So incomplete results count as not recorded, not as
  // damaged.
  ResultsHead* to = ring_.results_head(current_);
  persistence_.store64(&to->header_hash, 0);
  persistence_.store64(&to->words, head.words);
  persistence_.store64(&to->catalogue_hash, head.catalogue_hash);
  persistence_.store_words(to + 1, words.data(), words.size_bytes());
  persist(persistence_, to, sizeof(*to) + words.size_bytes());
  persistence_.store64(&to->hash, head.hash);
  persistence_.store64(&to->header_hash, head.header_hash);
  persist(persistence_, to, sizeof(*to));
}

const std::byte* RingWriter::previous_payload() const noexcept {
  return previous_ ? ring_.payload(*previous_) : nullptr;
}

int RingWriter::sync_all() noexcept {
  if (syncs_ && sync_error_ == 0) sync_error_ = persistence_.sync();
  if (sync_error_ == 0) sync_error_ = persistence_.store_error();
  return sync_error_;
}

int RingWriter::finish() noexcept {
  victims_.give_back();
  if (!syncer_) {
    if (std::exchange(syncs_itself_, false)) return sync_all();
    if (sync_error_ == 0) sync_error_ = persistence_.store_error();
    return sync_error_;
  }
  syncer_->stop();
  sync_error_ = syncer_->error();
  syncer_.reset();
  // One more sync is needed, because reductions are recorded after the commit, and the sync of that commit may have
  // been the last one.
  if (sync_all() == 0) persisted_.store(committed_.load(), std::memory_order_release);
  return sync_error_;
}

int RingWriter::sync_error() const noexcept {
  return syncer_ ? syncer_->error() : sync_error_;
}

}  // namespace ringside
