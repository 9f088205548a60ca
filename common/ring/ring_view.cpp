// SPDX-License-Identifier: BSD-3-Clause
#include "common/ring/ring_view.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <utility>

#include "common/platform/error.hpp"
#include "common/platform/version.hpp"
#include "common/reductions/reduction_words.hpp"
#include "common/ring/pmdk_metadata.hpp"
#include "common/ring/ring_layout_2.hpp"
#include "common/text/formatted.hpp"

namespace ringside {
namespace {

/// Copies words, the last of which is a sequence number, from a line that its owner may be changing. The owner stores 0
/// as the number, changes the line, then stores a number that it never used before. So if the number is the same before
/// and after the copy, no word has changed, unless another owner took over meanwhile (see RingView::slot).
template <std::size_t kWords>
void copy_unchanged(const std::uint64_t* words, std::uint64_t (&copy)[kWords]) noexcept {
  constexpr std::size_t kSeqWord = kWords - 1;
  do {
    copy[kSeqWord] = __atomic_load_n(words + kSeqWord, __ATOMIC_ACQUIRE);
    for (std::size_t i = 0; i < kSeqWord; ++i) copy[i] = __atomic_load_n(words + i, __ATOMIC_RELAXED);
    std::atomic_thread_fence(std::memory_order_acquire);
  } while (__atomic_load_n(words + kSeqWord, __ATOMIC_RELAXED) != copy[kSeqWord]);
}

/// Copies whole words that another process may be changing.
void copy_words(void* to, const std::uint64_t* words, std::size_t bytes) noexcept {
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
    const std::uint64_t word = __atomic_load_n(words + at / sizeof(word), __ATOMIC_RELAXED);
    std::memcpy(static_cast<std::byte*>(to) + at, &word, sizeof(word));
  }
}

/// The state of a slot's results, according to their stored name (header_hash) and hash; nothing if they must be read
/// again. The writer stores the name last. named: whether the name is the name of this commit. has_name: whether there
/// is any name. complete: whether the hash matches for this commit.
std::optional<ResultsState> settled(bool named, bool has_name, bool complete) noexcept {
  if (named && complete) return ResultsState::kRecorded;
  // Results without a name are unfinished. Results with another name belong to another commit if the hash does not
  // match for this commit. If the hash matches, the results are damaged, because no writer stores this combination.
  if (!named && (!has_name || !complete)) return ResultsState::kNotRecorded;
  return std::nullopt;
}

/// True if the words of a step begin with the words of x_only_catalogue.
bool begins_with_reductions_of_x(const Catalogue& catalogue) noexcept {
  for (const Result& expected : catalogue_2().results()) {
    if (expected.source != ResultSource::kReduction) continue;
    const Result* found = catalogue.find(expected.full_name);
    if (found == nullptr || found->type != expected.type || found->count != expected.count ||
        found->bit != expected.bit || found->word != expected.word) {
      return false;
    }
  }
  return true;
}

constexpr int kAttempts = 2;  // a second reading with an unchanged header confirms damage

}  // namespace

OlderPoolError older_pool(std::uint32_t version, std::string_view name) {
  return OlderPoolError(formatted(
      "{}: the pool has format {}, but this release writes format {}; the pool can be read (ringside info, verify, "
      "replay, export); ringside run --overwrite makes a new pool in its place, or give another --pool",
      name, version, kRingVersion));
}

RingView::RingView(const std::byte* base, FoundRing found) : base_(base), geometry_(std::move(found.geometry)) {
  for (int copy : {0, 1}) superblock_intact_[copy] = found.superblock_intact[copy];
  slot_seeds_.reserve(geometry_.slot_count());
  for (std::uint32_t slot = 0; slot < geometry_.slot_count(); ++slot) {
    slot_seeds_.push_back(slot_seed(geometry_, slot));
  }
}

RingView RingView::parse(std::span<const std::byte> file, std::string_view name) {
  return RingView(file.data(), find_ring_in(file, name));
}

bool RingView::pmdk_metadata_intact() const noexcept {
  return pmdk_metadata_hash({base_, geometry_.file_bytes}, geometry_.superblock_offset[0]) == geometry_.pmdk_hash;
}

SlotReading RingView::read_slot(std::uint32_t slot) const noexcept {
  const auto* words = at<std::uint64_t>(geometry_.slots[slot].meta_offset);
  constexpr std::size_t kSeqWord = offsetof(SlotHeader, commit_seq) / sizeof(std::uint64_t);
  SlotReading reading;
  std::uint64_t copy[kSeqWord + 1];
  copy_unchanged(words, copy);
  std::memcpy(&reading.header, copy, sizeof(copy));

  const SlotHeader& header = reading.header;
  if (header.commit_seq == 0) return reading;
  const bool valid = header.commit_seq <= kMaxSequence && header.payload_bytes == geometry_.header_size() &&
                     header.header_hash == header_hash(header, slot_seeds_[slot]);
  reading.state = valid ? SlotState::kCommitted : SlotState::kDamagedHeader;
  return reading;
}

SlotReading RingView::slot(std::uint32_t slot) const noexcept {
  // An owner that empties the ring counts from 1 again, and so may the next owner. A reader that is delayed meanwhile
  // can therefore read the same number before and after a copy that mixes words of two headers. A second reading
  // confirms real damage.
  const SlotReading reading = read_slot(slot);
  return reading.state == SlotState::kDamagedHeader ? read_slot(slot) : reading;
}

bool RingView::still_holds(std::uint32_t slot, const SlotHeader& header) const noexcept {
  std::atomic_thread_fence(std::memory_order_acquire);  // orders all earlier reads of the slot before the next ones
  // Compare all eight words: after the ring is cleared, a commit_seq can recur, but a whole header recurs only with the
  // same step.
  std::uint64_t expected[sizeof(SlotHeader) / sizeof(std::uint64_t)];
  std::memcpy(expected, &header, sizeof(expected));
  const auto* words = at<std::uint64_t>(geometry_.slots[slot].meta_offset);
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    if (__atomic_load_n(words + i, __ATOMIC_RELAXED) != expected[i]) return false;
  }
  return true;
}

const std::byte* RingView::payload(std::uint32_t slot) const noexcept {
  return base_ + geometry_.slots[slot].payload_offset;
}

std::span<const std::uint64_t> RingView::chunk_hashes(std::uint32_t slot) const noexcept {
  return {at<std::uint64_t>(geometry_.slots[slot].meta_offset + geometry_.chunk_hashes_offset()),
          geometry_.chunk_count()};
}

StepWithScalars RingView::step(std::uint32_t slot) const noexcept {
  StepWithScalars step;
  std::memcpy(&step, base_ + geometry_.slots[slot].meta_offset + kStepOffset, geometry_.step_bytes());
  return step;
}

ResultsState RingView::results(std::uint32_t slot, const SlotHeader& header, SlotResults& results) const {
  return geometry_.version == kRingVersion2 ? read_results_2(slot, header, results)
                                            : read_results(slot, header, results);
}

ResultsState RingView::read_results(std::uint32_t slot, const SlotHeader& header, SlotResults& results) const {
  const std::uint64_t offset = geometry_.slots[slot].meta_offset + geometry_.results_offset();
  const auto* stored = at<ResultsHead>(offset);
  const auto* values = at<std::uint64_t>(offset + sizeof(ResultsHead));
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::uint64_t name = __atomic_load_n(&stored->header_hash, __ATOMIC_ACQUIRE);
    ResultsHead head;
    head.words = __atomic_load_n(&stored->words, __ATOMIC_RELAXED);
    head.catalogue_hash = __atomic_load_n(&stored->catalogue_hash, __ATOMIC_RELAXED);
    head.hash = __atomic_load_n(&stored->hash, __ATOMIC_RELAXED);
    head.header_hash = header.header_hash;
    const bool possible = head.words <= geometry_.most_result_words();
    results.words.resize(possible ? head.words : 0);
    copy_words(results.words.data(), values, results.words.size() * sizeof(std::uint64_t));
    if (!still_holds(slot, header)) return ResultsState::kNotRecorded;
    const bool complete = possible && head.hash == results_hash(head, results.words.data());
    results.catalogue_hash = head.catalogue_hash;
    if (const auto state = settled(name == header.header_hash, name != 0, complete)) return *state;
  }
  return ResultsState::kDamaged;
}

ResultsState RingView::read_results_2(std::uint32_t slot, const SlotHeader& header, SlotResults& results) const {
  const auto* words = at<std::uint64_t>(geometry_.slots[slot].meta_offset + geometry_.results_offset());
  constexpr std::size_t kNameWord = offsetof(StoredReductions2, header_hash) / sizeof(std::uint64_t);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::uint64_t name = __atomic_load_n(words + kNameWord, __ATOMIC_ACQUIRE);
    std::uint64_t copy[sizeof(StoredReductions2) / sizeof(std::uint64_t)];
    for (std::size_t i = 0; i < std::size(copy); ++i) copy[i] = __atomic_load_n(words + i, __ATOMIC_RELAXED);
    if (!still_holds(slot, header)) return ResultsState::kNotRecorded;
    StoredReductions2 stored;
    std::memcpy(&stored, copy, sizeof(stored));
    stored.header_hash = header.header_hash;
    const bool complete = stored.hash == reductions_hash(stored);
    if (const auto state = settled(name == header.header_hash, name != 0, complete)) {
      if (*state == ResultsState::kRecorded) {
        results.words.resize(kXOnlyWords);
        to_words(stored.reductions, results.words);
        results.catalogue_hash = catalogue_hash(catalogue_2().descriptions(), geometry_.schema().id());
      }
      return *state;
    }
  }
  return ResultsState::kDamaged;
}

ResultsState RingView::reductions(std::uint32_t slot, const SlotHeader& header, Reductions& reductions) const {
  SlotResults found;
  const ResultsState state = results(slot, header, found);
  if (state != ResultsState::kRecorded) return state;
  const std::uint64_t expected = catalogue_hash(catalogue_2().descriptions(), geometry_.schema().id());
  if (found.catalogue_hash != expected) {  // the difference may be only in the scalars, which have no words here
    const std::optional<Catalogue> recorded = catalogue(header.run_id, found.catalogue_hash);
    if (!recorded || !begins_with_reductions_of_x(*recorded)) return ResultsState::kNotRecorded;
  }
  if (found.words.size() < kXOnlyWords) return ResultsState::kNotRecorded;
  reductions = to_reductions(found.words, geometry_.entries());
  return state;
}

std::optional<Catalogue> RingView::catalogue(const Id128& run_id, std::uint64_t hash) const {
  const std::vector<RunReading> all = runs();
  for (auto reading = all.rbegin(); reading != all.rend(); ++reading) {
    if (reading->run.run_id != run_id || catalogue_hash(reading->catalogue, geometry_.schema().id()) != hash) continue;
    try {
      return Catalogue::decode(geometry_.schema(), reading->catalogue, "catalogue");
    } catch (const Error&) {  // possible although the hash matches: a program may have written both
    }
  }
  return std::nullopt;
}

EntryReading RingView::run_entry_copy(int copy, std::uint32_t index) const {
  if (geometry_.version == kRingVersion2) return entry_copy_2(copy, index);
  const std::uint64_t offset = geometry_.run_table_offset[copy] + index * geometry_.run_entry_bytes();
  const auto* tail = at<RunEntryTail>(offset + geometry_.run_tail_offset());
  EntryReading reading;
  RunEntryHead head;
  do {  // like copy_unchanged, but the first words determine the number of words
    reading.tail.record_seq = __atomic_load_n(&tail->record_seq, __ATOMIC_ACQUIRE);
    copy_words(&head, at<std::uint64_t>(offset), sizeof(head));
    reading.catalogue.resize(std::min(head.results, geometry_.shape.catalogue_entries));
    copy_words(reading.catalogue.data(), at<std::uint64_t>(offset + sizeof(head)),
               reading.catalogue.size() * sizeof(ResultDescription));
    reading.tail.hash = __atomic_load_n(&tail->hash, __ATOMIC_RELAXED);
    std::atomic_thread_fence(std::memory_order_acquire);
  } while (__atomic_load_n(&tail->record_seq, __ATOMIC_RELAXED) != reading.tail.record_seq);

  reading.run = head.run;
  const std::uint64_t record_seq = reading.tail.record_seq;
  if (record_seq == 0) return reading;
  const bool valid = record_seq <= kMaxSequence && head.results == reading.catalogue.size() &&
                     reading.tail.hash == run_hash(head, reading.catalogue, record_seq, run_seed(geometry_, index));
  reading.state = valid ? EntryState::kValid : EntryState::kDamaged;
  return reading;
}

EntryReading RingView::entry_copy_2(int copy, std::uint32_t index) const {
  const auto* words = at<std::uint64_t>(geometry_.run_table_offset[copy] + index * sizeof(RunTableEntry2));
  constexpr std::size_t kSeqWord = offsetof(RunTableEntry2, record_seq) / sizeof(std::uint64_t);
  std::uint64_t read[kSeqWord + 1];
  copy_unchanged(words, read);
  RunTableEntry2 entry;
  std::memcpy(&entry, read, sizeof(read));

  EntryReading reading;
  reading.run = run_of(entry.run, geometry_.schema().id());
  reading.catalogue.assign(catalogue_2().descriptions().begin(), catalogue_2().descriptions().end());
  reading.tail = {entry.hash, entry.record_seq};
  if (entry.record_seq == 0) return reading;
  const bool valid = entry.record_seq <= kMaxSequence && entry.run.rows == geometry_.entries() &&
                     entry.hash == run_hash_2(entry, run_seed(geometry_, index));
  reading.state = valid ? EntryState::kValid : EntryState::kDamaged;
  return reading;
}

std::vector<RunReading> RingView::runs() const {
  std::vector<RunReading> runs;
  for (std::uint32_t index = 0; index < geometry_.run_entries(); ++index) {
    RunReading newest;
    for (int copy : {0, 1}) {
      EntryReading reading = run_entry_copy(copy, index);
      if (reading.state == EntryState::kValid && reading.tail.record_seq > newest.record_seq) {
        newest = {reading.run, std::move(reading.catalogue), reading.tail.record_seq, index};
      }
    }
    if (newest.record_seq != 0) runs.push_back(newest);
  }
  std::sort(runs.begin(), runs.end(),
            [](const RunReading& a, const RunReading& b) { return a.record_seq < b.record_seq; });
  return runs;
}

std::optional<RunDescription> RingView::run(const Id128& run_id) const {
  std::optional<RunDescription> found;
  for (const RunReading& reading : runs()) {
    if (reading.run.run_id == run_id) found = reading.run;
  }
  return found;
}

WritableRing WritableRing::parse(std::span<std::byte> file, std::string_view name) {
  RingView view = RingView::parse(file, name);
  if (view.geometry().version != kRingVersion) throw older_pool(view.geometry().version, name);
  return WritableRing(file.data(), std::move(view));
}

SlotHeader* WritableRing::header(std::uint32_t slot) const noexcept {
  return at<SlotHeader>(geometry().slots[slot].meta_offset);
}

StepWithScalars* WritableRing::slot_step(std::uint32_t slot) const noexcept {
  return at<StepWithScalars>(geometry().slots[slot].meta_offset + kStepOffset);
}

ResultsHead* WritableRing::results_head(std::uint32_t slot) const noexcept {
  return at<ResultsHead>(geometry().slots[slot].meta_offset + geometry().results_offset());
}

std::uint64_t* WritableRing::chunk_hash_table(std::uint32_t slot) const noexcept {
  return at<std::uint64_t>(geometry().slots[slot].meta_offset + geometry().chunk_hashes_offset());
}

std::byte* WritableRing::writable_payload(std::uint32_t slot) const noexcept {
  return at<std::byte>(geometry().slots[slot].payload_offset);
}

RunEntryHead* WritableRing::run_entry(int copy, std::uint32_t index) const noexcept {
  return at<RunEntryHead>(geometry().run_table_offset[copy] + index * geometry().run_entry_bytes());
}

ResultDescription* WritableRing::run_catalogue(int copy, std::uint32_t index) const noexcept {
  return static_cast<ResultDescription*>(static_cast<void*>(run_entry(copy, index) + 1));
}

RunEntryTail* WritableRing::run_tail(int copy, std::uint32_t index) const noexcept {
  return at<RunEntryTail>(geometry().run_table_offset[copy] + index * geometry().run_entry_bytes() +
                          geometry().run_tail_offset());
}

}  // namespace ringside
