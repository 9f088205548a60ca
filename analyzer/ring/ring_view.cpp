// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/ring/ring_view.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <utility>

#include "analyzer/ring/pmdk_metadata.hpp"
#include "common/platform/error.hpp"
#include "common/platform/version.hpp"

namespace ringside {
namespace {

constexpr std::string_view kPoolSignature = "PMEMOBJ";  // how every libpmemobj pool begins
constexpr std::uint64_t kPoolDescriptorOffset = 4096;   // where libpmemobj writes what kind of pool it is:
constexpr std::uint64_t kPoolDescriptorBytes = 2048;    // the layout's name and, at the end of its creation, a checksum
constexpr std::uint64_t kMinChunkBytes = 256;           // the write granule of persistent memory
constexpr std::uint64_t kMaxChunkBytes = 1 << 30;

template <class T>
T load(std::span<const std::byte> file, std::uint64_t offset) {
  T value;
  std::memcpy(&value, file.data() + offset, sizeof(T));
  return value;
}

/// Copies the words up to and with the number at `seq_word` from a line that its owner may be changing. The owner
/// stores 0 there, then changes the line, then stores a number it never used before: the same number before and after
/// means that nothing between was changed, unless the owner changed too (see RingView::slot).
template <std::size_t kWords>
void copy_unchanged(const std::uint64_t* words, std::uint64_t (&copy)[kWords]) noexcept {
  constexpr std::size_t kSeqWord = kWords - 1;
  do {
    copy[kSeqWord] = __atomic_load_n(words + kSeqWord, __ATOMIC_ACQUIRE);
    for (std::size_t i = 0; i < kSeqWord; ++i) copy[i] = __atomic_load_n(words + i, __ATOMIC_RELAXED);
    std::atomic_thread_fence(std::memory_order_acquire);
  } while (__atomic_load_n(words + kSeqWord, __ATOMIC_RELAXED) != copy[kSeqWord]);
}

/// True for what an interrupted creation leaves, from its first moment to its last: nothing; zeros; a libpmemobj pool
/// whose descriptor (layout name, checksum) is not written yet; one of our layout. A file of another program is none
/// of these.
bool is_begun_pool(std::span<const std::byte> file) {
  const auto zeros = [](std::span<const std::byte> bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; });
  };
  if (!is_pmemobj_pool(file)) return zeros(file);
  return names_our_layout(file) || zeros(file.subspan(kPoolDescriptorOffset, kPoolDescriptorBytes));
}

/// For files without a usable superblock: formatted words end the pages in which they may lie.
bool was_ever_formatted(std::span<const std::byte> file) {
  const std::uint64_t scan_end = std::min<std::uint64_t>(file.size(), kScanBytes);
  for (std::uint64_t page = 0; page + kPageBytes <= scan_end; page += kPageBytes) {
    if (load<std::uint64_t>(file, page + kPageBytes - kLineBytes) == kFormattedWord) return true;
  }
  return false;
}

UnfinishedPoolError unfinished(std::string_view name) {
  return UnfinishedPoolError(
      fmt::format("{}: the creation of this pool was interrupted; `ringside run --overwrite` makes a new one", name));
}

Error other_version(std::uint32_t version, std::string_view name) {
  return usage_error(
      "{}: the pool has format version {}, Ringside {}"
      " reads version {}; {}, or give another --pool",
      name, version, ringside::version(), kRingVersion,
      version > kRingVersion ? "install the release that made it, or a newer one"
                             : "read it with the release that made it");
}

/// A possible superblock.
struct Candidate {
  Superblock fixed;
  bool hash_holds = false;
};

/// The bytes at `offset` as a superblock, if they begin like one. Nothing in it is trusted unless its hash holds.
std::optional<Candidate> candidate_at(std::span<const std::byte> file, std::uint64_t offset) {
  if (load<std::uint64_t>(file, offset) != kRingMagic) return std::nullopt;
  Candidate candidate{load<Superblock>(file, offset), false};
  const std::uint64_t bytes = candidate.fixed.bytes;
  if (bytes >= 24 && bytes <= superblock_bytes(kMaxSlots) && bytes <= file.size() - offset) {
    candidate.hash_holds = superblock_hash(file.data() + offset, bytes) == candidate.fixed.hash;
  }
  return candidate;
}

/// Geometry from a superblock whose hash holds. A program that can write the file can also write its hash, so that
/// every number is still treated as hostile. Throws on the first impossible number.
RingGeometry checked_geometry(std::span<const std::byte> file, std::uint64_t offset, const Superblock& fixed,
                              std::string_view name) {
  const auto damaged = [&](std::string_view what, std::uint64_t found) {
    return damage_error("{}: damaged pool: the superblock at byte {} says {} = {}, which cannot be", name, offset, what,
                        found);
  };
  if (fixed.slots < kMinSlots || fixed.slots > kMaxSlots) throw damaged("slots", fixed.slots);
  if (fixed.bytes != superblock_bytes(fixed.slots)) throw damaged("its size", fixed.bytes);
  if (fixed.run_records != fixed.slots + 2) throw damaged("run table entries", fixed.run_records);
  if (fixed.rows == 0 || fixed.rows > kMaxPayloadBytes / sizeof(double)) throw damaged("rows", fixed.rows);
  if (fixed.payload_bytes != fixed.rows * sizeof(double)) throw damaged("payload bytes", fixed.payload_bytes);
  if (fixed.chunk_bytes < kMinChunkBytes || fixed.chunk_bytes > kMaxChunkBytes ||
      (fixed.chunk_bytes & (fixed.chunk_bytes - 1)) != 0) {
    throw damaged("chunk bytes", fixed.chunk_bytes);
  }
  if (fixed.file_bytes > file.size()) {
    throw damage_error("{}: damaged pool: the file has {} bytes, it was created with {}: it was truncated", name,
                       file.size(), fixed.file_bytes);
  }

  RingGeometry geometry;
  geometry.file_bytes = fixed.file_bytes;
  geometry.rows = fixed.rows;
  geometry.chunk_bytes = fixed.chunk_bytes;
  geometry.created_realtime_ns = fixed.created_realtime_ns;
  geometry.pool_id = fixed.pool_id;
  geometry.pmdk_hash = fixed.pmdk_hash;
  geometry.slots.resize(fixed.slots);
  std::memcpy(geometry.slots.data(), file.data() + offset + sizeof(Superblock), fixed.slots * sizeof(SlotPlace));
  if (fixed.meta_bytes != geometry.meta_bytes()) throw damaged("meta bytes", fixed.meta_bytes);

  // Every part as [begin, end); none may leave the file or overlap another.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> parts;
  const auto add_part = [&](std::string_view what, std::uint64_t begin, std::uint64_t bytes, std::uint64_t alignment) {
    if (begin % alignment != 0 || begin > fixed.file_bytes || bytes > fixed.file_bytes - begin) {
      throw damaged(what, begin);
    }
    parts.emplace_back(begin, begin + bytes);
  };
  for (int copy : {0, 1}) {
    geometry.superblock_offset[copy] = fixed.superblock_offset[copy];
    geometry.run_table_offset[copy] = fixed.run_table_offset[copy];
    add_part("superblock offset", fixed.superblock_offset[copy], superblock_area_bytes(fixed.slots), kPageBytes);
    add_part("run table offset", fixed.run_table_offset[copy], geometry.run_table_bytes(), kPageBytes);
  }
  if (fixed.superblock_offset[1] < fixed.superblock_offset[0]) {
    throw damaged("the offset of the second superblock", fixed.superblock_offset[1]);
  }
  for (const SlotPlace& place : geometry.slots) {
    add_part("payload offset", place.payload_offset, geometry.payload_bytes(), kPayloadAlignment);
    if (place.meta_offset > place.payload_offset || place.payload_offset - place.meta_offset != geometry.meta_bytes()) {
      throw damaged("meta offset", place.meta_offset);
    }
    add_part("meta offset", place.meta_offset, geometry.meta_bytes(), kLineBytes);
  }
  std::sort(parts.begin(), parts.end());
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].first < parts[i - 1].second) throw damaged("two parts that overlap, one at byte", parts[i].first);
  }
  return geometry;
}

/// The result of a search in the file's front.
struct Superblocks {
  std::optional<RingGeometry> geometry;  // of the first superblock whose hash holds
  bool intact[2] = {false, false};       // its hash holds, and it belongs to that pool
  bool saw_damaged = false;              // a block begins like a superblock, but its hash does not hold

  bool complete() const noexcept { return intact[0] && intact[1]; }
};

Superblocks find_superblocks(std::span<const std::byte> file, std::string_view name) {
  Superblocks found;
  const std::uint64_t scan_end = std::min<std::uint64_t>(file.size(), kScanBytes);
  for (std::uint64_t offset = 0; offset + sizeof(Superblock) <= scan_end; offset += kPageBytes) {
    const std::optional<Candidate> candidate = candidate_at(file, offset);
    if (!candidate) continue;
    if (!candidate->hash_holds) {
      found.saw_damaged = true;
      continue;
    }
    if (candidate->fixed.version != kRingVersion) throw other_version(candidate->fixed.version, name);
    // A superblock that is not at the offset it states is a copy inside some payload.
    const Superblock& fixed = candidate->fixed;
    if (fixed.superblock_offset[0] != offset && fixed.superblock_offset[1] != offset) continue;
    if (!found.geometry) found.geometry = checked_geometry(file, offset, fixed, name);
    const RingGeometry& geometry = *found.geometry;
    for (int copy : {0, 1}) {
      if (geometry.superblock_offset[copy] == offset) found.intact[copy] = geometry.pool_id == fixed.pool_id;
    }
    if (offset >= geometry.superblock_offset[1]) break;
  }
  return found;
}

}  // namespace

bool is_pmemobj_pool(std::span<const std::byte> file) noexcept {
  return file.size() >= kPoolDescriptorOffset + kPoolDescriptorBytes &&
         std::memcmp(file.data(), kPoolSignature.data(), kPoolSignature.size()) == 0;
}

bool names_our_layout(std::span<const std::byte> file) noexcept {
  return is_pmemobj_pool(file) &&
         std::memcmp(file.data() + kPoolDescriptorOffset, kPoolLayoutName, sizeof(kPoolLayoutName)) == 0;
}

UnfinishedPoolError empty_pool_file(std::string_view name) {
  return UnfinishedPoolError(
      fmt::format("{}: an empty file, not a pool; `ringside run --overwrite` makes one in its place", name));
}

RingView::RingView(const std::byte* base, RingGeometry geometry) : base_(base), geometry_(std::move(geometry)) {
  slot_seeds_.reserve(geometry_.slot_count());
  for (std::uint32_t slot = 0; slot < geometry_.slot_count(); ++slot) {
    slot_seeds_.push_back(slot_seed(geometry_, slot));
  }
}

RingView RingView::parse(std::span<const std::byte> file, std::string_view name) {
  Superblocks found = find_superblocks(file, name);
  bool was_formatted = true;
  if (!found.complete()) {
    // The formatted words are stored last. If one was there before the search, a missing superblock is damaged;
    // otherwise the superblock may have been written during the search.
    was_formatted = was_ever_formatted(file);
    std::atomic_thread_fence(std::memory_order_acquire);
    found = find_superblocks(file, name);
  }
  if (!found.geometry) {
    // Superblocks without their magic are not found at all. In a file that was never formatted, damaged superblocks
    // are unfinished ones.
    if (!found.saw_damaged && !is_begun_pool(file)) throw usage_error("{}: not a Ringside pool", name);
    // A creation gives the file all of its bytes before libpmemobj writes to it.
    if (is_pmemobj_pool(file) && file.size() < kLeastPoolBytes) {
      throw damage_error("{}: damaged pool: it was truncated to {} bytes; the smallest pool has {}", name, file.size(),
                         kLeastPoolBytes);
    }
    if (!was_formatted) throw unfinished(name);
    throw damage_error("{}: damaged pool: both superblocks are damaged, and only they say where its iterates lie",
                       name);
  }
  RingView view(file.data(), std::move(*found.geometry));
  if (!view.is_formatted(0) && !view.is_formatted(1)) throw unfinished(name);
  if (!was_formatted) {  // then it was formatted during the search
    std::atomic_thread_fence(std::memory_order_acquire);
    found = find_superblocks(file, name);
  }
  for (int copy : {0, 1}) view.superblock_intact_[copy] = found.intact[copy] && view.is_formatted(copy);
  return view;
}

bool RingView::is_formatted(int copy) const noexcept {
  return *at<std::uint64_t>(geometry_.superblock_offset[copy] + formatted_word_offset(geometry_.slot_count())) ==
         kFormattedWord;
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
  const bool valid = header.commit_seq <= kMaxSequence && header.rows == geometry_.rows &&
                     header.header_hash == header_hash(header, slot_seeds_[slot]);
  reading.state = valid ? SlotState::kCommitted : SlotState::kDamagedHeader;
  return reading;
}

SlotReading RingView::slot(std::uint32_t slot) const noexcept {
  // An owner that emptied the ring and the next one both count from 1: a reader that was delayed in between can see
  // the same number around words of two headers. Real damage is found again in a second reading.
  const SlotReading reading = read_slot(slot);
  return reading.state == SlotState::kDamagedHeader ? read_slot(slot) : reading;
}

bool RingView::still_holds(std::uint32_t slot, const SlotHeader& header) const noexcept {
  std::atomic_thread_fence(std::memory_order_acquire);  // everything read of the slot so far was read before this
  const SlotReading now = this->slot(slot);
  return std::memcmp(&now.header, &header, sizeof(header)) == 0;
}

const double* RingView::payload(std::uint32_t slot) const noexcept {
  return at<double>(geometry_.slots[slot].payload_offset);
}

const std::uint64_t* RingView::chunk_hashes(std::uint32_t slot) const noexcept {
  return at<std::uint64_t>(geometry_.slots[slot].meta_offset + kChunkHashesOffset);
}

StepDescriptor RingView::step(std::uint32_t slot) const noexcept {
  StepDescriptor step;
  std::memcpy(&step, base_ + geometry_.slots[slot].meta_offset + kStepOffset, sizeof(step));
  return step;
}

ReductionsState RingView::reductions(std::uint32_t slot, const SlotHeader& header,
                                     Reductions& reductions) const noexcept {
  const auto* words = at<std::uint64_t>(geometry_.slots[slot].meta_offset + kReductionsOffset);
  constexpr std::size_t kNameWord = offsetof(StoredReductions, header_hash) / sizeof(std::uint64_t);
  constexpr int kAttempts = 2;  // damage is found again, under an unchanged header, in a second reading
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    // The writer stores header_hash last: if it names this commit, the rest was there before.
    const std::uint64_t name = __atomic_load_n(words + kNameWord, __ATOMIC_ACQUIRE);
    std::uint64_t copy[sizeof(StoredReductions) / sizeof(std::uint64_t)];
    for (std::size_t i = 0; i < std::size(copy); ++i) copy[i] = __atomic_load_n(words + i, __ATOMIC_RELAXED);
    if (!still_holds(slot, header)) return ReductionsState::kNotRecorded;
    StoredReductions stored;
    std::memcpy(&stored, copy, sizeof(stored));
    stored.header_hash = header.header_hash;
    const bool named = name == header.header_hash;
    const bool complete = stored.hash == reductions_hash(stored);
    if (named && complete) {
      reductions = stored.reductions;
      return ReductionsState::kRecorded;
    }
    // Reductions without a name are unfinished. With another name, and a hash that does not hold for this commit,
    // they are another commit's. With another name, but a hash that holds for this commit, they are damaged: no
    // writer stores that.
    if (!named && (name == 0 || !complete)) return ReductionsState::kNotRecorded;
  }
  return ReductionsState::kDamaged;
}

EntryReading RingView::run_entry_copy(int copy, std::uint32_t index) const noexcept {
  const auto* words = at<std::uint64_t>(geometry_.run_table_offset[copy] + index * sizeof(RunTableEntry));
  constexpr std::size_t kSeqWord = offsetof(RunTableEntry, record_seq) / sizeof(std::uint64_t);
  std::uint64_t read[kSeqWord + 1];
  copy_unchanged(words, read);
  EntryReading reading;
  std::memcpy(&reading.entry, read, sizeof(read));

  const RunTableEntry& entry = reading.entry;
  if (entry.record_seq == 0) return reading;
  const bool valid = entry.record_seq <= kMaxSequence && entry.hash == run_hash(entry, run_seed(geometry_, index));
  reading.state = valid ? EntryState::kValid : EntryState::kDamaged;
  return reading;
}

std::vector<RunReading> RingView::runs() const {
  std::vector<RunReading> runs;
  for (std::uint32_t index = 0; index < geometry_.run_entries(); ++index) {
    RunReading newest;
    for (int copy : {0, 1}) {
      const auto [state, entry] = run_entry_copy(copy, index);
      if (state == EntryState::kValid && entry.record_seq > newest.record_seq) {
        newest = {entry.run, entry.record_seq, index};
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
  return WritableRing(file.data(), RingView::parse(file, name));
}

SlotHeader* WritableRing::header(std::uint32_t slot) const noexcept {
  return at<SlotHeader>(geometry().slots[slot].meta_offset);
}

StepDescriptor* WritableRing::step_descriptor(std::uint32_t slot) const noexcept {
  return at<StepDescriptor>(geometry().slots[slot].meta_offset + kStepOffset);
}

StoredReductions* WritableRing::stored_reductions(std::uint32_t slot) const noexcept {
  return at<StoredReductions>(geometry().slots[slot].meta_offset + kReductionsOffset);
}

std::uint64_t* WritableRing::chunk_hash_table(std::uint32_t slot) const noexcept {
  return at<std::uint64_t>(geometry().slots[slot].meta_offset + kChunkHashesOffset);
}

double* WritableRing::writable_payload(std::uint32_t slot) const noexcept {
  return at<double>(geometry().slots[slot].payload_offset);
}

RunTableEntry* WritableRing::run_entry(int copy, std::uint32_t index) const noexcept {
  return at<RunTableEntry>(geometry().run_table_offset[copy] + index * sizeof(RunTableEntry));
}

}  // namespace ringside
