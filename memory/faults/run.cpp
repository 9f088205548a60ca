// SPDX-License-Identifier: BSD-3-Clause
#include "memory/faults/run.hpp"

#include "memory/arena/granule_table.hpp"
#include "memory/far/stages.hpp"
#include "memory/faults/read_ahead.hpp"
#include "memory/replacement/neighbourhood.hpp"

namespace ringside::memory {

constinit ReadAhead read_ahead;

namespace {

constexpr uint64_t kMostAhead = uint64_t{1} << 18;  // the most bytes that a stream brings in at once; more did not help

}  // namespace

Run::Run(uint32_t granule, uint32_t kind, Word seen) noexcept
    : kind_(kind),
      chunk_(granule & ~(chunk_pages(kind) - 1)),
      granule_(granule),
      begin_(granule),
      end_(granule + (1u << kind)) {
  words_[place(granule)] = seen;
  uint64_t most = caches.limit.load(std::memory_order_relaxed) / 16;  // a sixteenth of the DRAM
  if (most > kMostAhead) most = kMostAhead;
  most >>= kPageShift + kind;
  if (most > kBatch) most = kBatch;
  const auto advice =
      static_cast<Advice>(table.advice_of_piece(granule / kPagesPerPiece).load(std::memory_order_relaxed));
  planned_ = read_ahead.plan(granule, advice, most > 0 ? static_cast<uint32_t>(most) : 1, &confirmed_, &stored_);
  // If a stream would bring in only one granule of this size, an expected fault counts as a stream.
  expected_ = planned_ > 1 || (most <= 1 && read_ahead.expects(granule, advice));
  around_ = planned_ == 1 && read_ahead.works() && advice != kAdviceRandom && span() < neighbourhood::kPages &&
            most >= neighbourhood::kPages && neighbourhood::wanted(granule);
}

void Run::take(State one, State other) noexcept {
  const uint32_t first = around_ ? neighbourhood::first(granule_) : granule_;
  uint32_t last = around_ ? first + neighbourhood::kPages : granule_ + planned_ * span();
  if (last > chunk_ + chunk_pages(kind_)) last = chunk_ + chunk_pages(kind_);
  const auto taken = [&](uint32_t at) {
    Word& word = words_[place(at)];
    word = table.word(at).load(std::memory_order_acquire);
    return (state_of(word) == one || state_of(word) == other) && table.claim(at, word, kLoading);
  };
  while (end_ < last && taken(end_)) end_ += span();
  while (begin_ > first && taken(begin_ - span())) begin_ -= span();
}

void Run::keep(uint32_t count) noexcept {
  while (this->count() > count) {
    uint32_t left = begin_;
    if (end_ > granule_ + span()) {
      left = end_ -= span();
    } else {
      begin_ += span();
    }
    const Word word = words_[place(left)];
    table.close(left, in_state(word, state_of(word)));
  }
}

bool Run::is_long() const noexcept {
  const uint64_t bytes = planned_ * bytes_of(kind_);
  return expected_ && bytes >= kMostAhead / 8 && bytes_of(kind_) <= kStageBytes;
}

uint32_t Run::came_alone(Cache& cache) const noexcept {
  constexpr uint32_t kBegun = 8;  // the first granules of a stream also count
  if (planned_ > kBegun || around_ || span() >= neighbourhood::kPages) return neighbourhood::not_alone(cache);
  return neighbourhood::came_alone(cache, granule_, kind_);
}

// The stream's next fault is expected after the granules that came in or were already present.
void Run::expect_next(bool store) const noexcept {
  uint32_t next = end_;
  for (uint32_t looked = 0; looked < kBatch && next < table.bytes() >> kPageShift; ++looked, next += span()) {
    const State state = state_of(table.word(next).load(std::memory_order_relaxed));
    if (state == kZero || state == kAbsent || state == kProbation || state == kFree) break;
  }
  // The accesses do not show which granules of a neighbourhood were needed, so a neighbourhood counts as one granule.
  read_ahead.expect(next, around_ ? neighbourhood::kPages : planned_, around_ ? 1 : count(), store);
}

}  // namespace ringside::memory
