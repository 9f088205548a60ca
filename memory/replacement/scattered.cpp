// SPDX-License-Identifier: BSD-3-Clause
// Evicts granules without neighbours. A MOVE of each granule would interrupt all cores that run the process, once for
// each granule. Here the granules are write-protected together with the granules around them, written if they changed,
// and dropped with one call. So a chunk of 64 granules causes one interruption, and the chunk's next victims are
// already written.
#include "memory/arena/granule_table.hpp"
#include "memory/far/far_file.hpp"
#include "memory/replacement/eviction.hpp"
#include "memory/replacement/protection.hpp"

namespace ringside::memory {
namespace {

static_assert(kBatch == 64, "the granules of a batch or a chunk must fit into the bits of one word");
constexpr uint32_t kShortRun = 4;  // a run of at least so many neighbours is moved, because this is faster

constexpr uint64_t bit(uint32_t index) {
  return uint64_t{1} << index;
}

bool is_unchanged(Word word) {
  return (word & kProtected) != 0 && (word & kChanged) == 0;
}

class Chunk {
 public:
  Chunk(const UserFault& userfault, uint32_t kind, uint32_t granule) noexcept
      : userfault_(userfault),
        kind_(kind),
        first_(granule & ~(chunk_pages(kind) - 1)),
        granules_(chunk_pages(kind) >> kind) {}

  /// Protects resident granules and writes the changed ones. The victims, whose words are in `batch`, are unchanged
  /// afterwards. Returns the bytes written.
  uint64_t clean(Batch& batch, uint32_t begin, uint32_t end) noexcept {
    for (uint32_t i = begin; i < end; ++i) {
      const uint32_t index = (batch.victims[i].granule - first_) >> kind_;
      words_[index] = batch.victims[i].word;
      owned_ |= bit(index);
      victims_ |= bit(index);
    }
    claim_around();
    // The flag is read only after this thread owns the words, because a thread that submits a device read sets
    // devices_store before it pins them.
    if (caches.devices_store.load()) {
      for (uint64_t rest = owned_ & ~victims_; rest != 0; rest &= rest - 1) {
        const auto index = static_cast<uint32_t>(__builtin_ctzll(rest));
        table.close(granule(index), words_[index]);
      }
      return 0;
    }
    protect();
    uint64_t written = 0;
    for (uint64_t rest = owned_; rest != 0; rest &= rest - 1) {
      const auto index = static_cast<uint32_t>(__builtin_ctzll(rest));
      if (state_of(words_[index]) == kResident) written += write(index);
      if ((victims_ & bit(index)) == 0) table.close(granule(index), words_[index]);
    }
    for (uint32_t i = begin; i < end; ++i)
      batch.victims[i].word = words_[(batch.victims[i].granule - first_) >> kind_];
    return written;
  }
  uint32_t victims_written() const noexcept { return victims_written_; }

 private:
  uint32_t granule(uint32_t index) const noexcept { return first_ + (index << kind_); }

  // Also claims absent granules, because no granule may come in while the range around it is being protected. Skips
  // pinned granules.
  void claim_around() noexcept {
    const std::atomic<uint8_t>& size = table.size_of_piece(first_ / kPagesPerPiece);
    for (uint32_t index = 0; index < granules_; ++index) {
      if ((owned_ & bit(index)) != 0) continue;
      const Word word = table.word(granule(index)).load(std::memory_order_acquire);
      const State state = state_of(word);
      if (state == kFree || state == kLoading || state == kLeaving || (word & kPins) != 0) continue;
      if (!table.claim(granule(index), word, kLeaving)) continue;
      if (size.load() != kind_ + 1) {  // the granule size is changing: the word may belong to another granule
        table.close(granule(index), word);
        return;
      }
      words_[index] = in_state(word, state);
      owned_ |= bit(index);
    }
  }

  bool is_open(uint32_t index) const noexcept {
    return state_of(words_[index]) == kResident && (words_[index] & kProtected) == 0;
  }

  // Makes one call for the range from the first to the last unprotected granule, if this thread owns all granules
  // between them.
  void protect() const noexcept {
    for (uint32_t index = 0; index < granules_;) {
      if ((owned_ & bit(index)) == 0 || !is_open(index)) {
        ++index;
        continue;
      }
      uint32_t end = index + 1;
      for (uint32_t next = end; next < granules_ && (owned_ & bit(next)) != 0; ++next) {
        if (is_open(next)) end = next + 1;
      }
      userfault_.protect(table.address(granule(index)), (end - index) * bytes_of(kind_), true);
      index = end;
    }
  }

  uint64_t write(uint32_t index) noexcept {
    Word& word = words_[index];
    const Victim here{granule(index), node_of(word), kNoSlot, word};
    const bool differs = eviction.differs(here, kind_, table.address(granule(index)));
    if (differs) {
      far.write(static_cast<uint64_t>(granule(index)) << kPageShift, table.address(granule(index)), bytes_of(kind_));
      word &= ~kFromZero;
    }
    if ((word & kProtected) == 0) word |= kProtected | kCleaned;
    word &= ~kChanged;
    if (!differs) return 0;
    if ((victims_ & bit(index)) != 0) ++victims_written_;
    return bytes_of(kind_);
  }

  const UserFault& userfault_;
  uint32_t kind_, first_, granules_;
  uint64_t owned_ = 0, victims_ = 0;
  uint32_t victims_written_ = 0;
  Word words_[kBatch];  // the words of owned granules before their claim
};

}  // namespace

uint32_t drop_scattered(const UserFault& userfault, Cache& cache, Batch& batch, bool clean) noexcept {
  const uint32_t span = 1u << batch.kind, chunk = ~(chunk_pages(batch.kind) - 1);
  const uint64_t size = bytes_of(batch.kind);
  sort_by_granule(batch);
  uint64_t written = 0;
  uint32_t changed = 0;
  uint64_t gone = 0;
  for (uint32_t i = 0, end = 0; i < batch.count; i = end) {
    bool all_unchanged = true;
    for (end = i; end < batch.count && ((batch.victims[end].granule ^ batch.victims[i].granule) & chunk) == 0; ++end)
      all_unchanged = all_unchanged && is_unchanged(batch.victims[end].word);
    // Changed neighbours are moved instead: one call takes them out, and one call reuses their pages.
    uint32_t longest = 0;
    for (uint32_t j = i, run = 0; j < end; ++j) {
      run = j > i && batch.victims[j].granule == batch.victims[j - 1].granule + span ? run + 1 : 1;
      if (run > longest) longest = run;
    }
    if (!all_unchanged && clean && longest < kShortRun) {
      Chunk around(userfault, batch.kind, batch.victims[i].granule);
      written += around.clean(batch, i, end);
      changed += around.victims_written();
    }
    for (uint32_t j = i; j < end; ++j) gone |= is_unchanged(batch.victims[j].word) ? bit(j) : 0;
  }
  if (gone == 0) return 0;

  iovec ranges[kBatch];
  uint32_t count = 0;
  for (uint64_t rest = gone; rest != 0; rest &= rest - 1)
    ranges[count++] = {table.address(batch.victims[__builtin_ctzll(rest)].granule), size};
  userfault.drop(ranges, count);
  for (uint64_t rest = gone; rest != 0; rest &= rest - 1) {
    const Victim& victim = batch.victims[__builtin_ctzll(rest)];
    table.close(victim.granule, (victim.word & kFromZero) != 0 ? kZero : kAbsent);
  }
  caches.uncharge(count * size);
  const Held held(cache.lock);
  uint32_t left = 0, cleaned = 0;
  for (uint32_t i = 0; i < batch.count; ++i) {
    const Victim victim = batch.victims[i];
    if ((gone & bit(i)) != 0 && (victim.word & kCleaned) != 0) ++cleaned;
    if ((gone & bit(i)) != 0 && (victim.word & kCleaned) == 0) protection::saved(victim.granule);
    if ((gone & bit(i)) == 0) {
      batch.victims[left++] = victim;
      continue;
    }
    caches.remember(cache, victim.granule);
    caches.push(cache, kUnused, victim.node, 0);
  }
  batch.count = left;
  cache.counters.evicted += count;
  cache.counters.evicted_clean += count - changed;
  cache.counters.written_bytes += written;
  cache.cleaning.add(static_cast<int>(cleaned));
  return count;
}

}  // namespace ringside::memory
