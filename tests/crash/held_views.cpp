// SPDX-License-Identifier: BSD-3-Clause
#include "tests/crash/held_views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "tests/crash/images/pool_bytes.hpp"

namespace ringside::crash {
namespace {

/// A step as a reader found it when it was committed: the header, and all bytes that a view may return.
struct View {
  std::uint32_t slot = 0;
  SlotHeader header;
  std::vector<std::uint64_t> words;
  bool may_be_mixed = false;
};

/// A store, and when other processes may see it first: after event `visible` of the trace.
struct EarlyStore {
  std::size_t visible = 0;
  std::uint64_t offset = 0;
  std::uint64_t value = 0;
};

/// The words that were copied past the cache, by ascending `visible`.
std::vector<EarlyStore> copied_words(const Trace& trace) {
  std::vector<EarlyStore> words;
  std::size_t of_caller = 0;
  std::size_t of_thread[256] = {};
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const Event& event = trace[i];
    if (event.kind == EventKind::kDrain && event.phase != Phase::kCopy) of_caller = i;
    if (event.kind == EventKind::kDrain) of_thread[event.thread] = i;
    if (event.kind != EventKind::kCopyWord) continue;
    words.push_back({std::max(of_caller, of_thread[event.thread]), event.offset, event.value});
  }
  std::ranges::stable_sort(words, {}, &EarlyStore::visible);
  return words;
}

class Readers {
 public:
  Readers(const TracedScenario& traced, Check check)
      : traced_(traced), check_(check), pool_(traced.geometry.file_bytes) {}

  ViewExploration run() {
    const std::vector<EarlyStore> copied = copied_words(traced_.trace);
    auto next = copied.begin();
    for (std::size_t i = 0; i < traced_.trace.size() && result_.violation.empty(); ++i) {
      const Event& event = traced_.trace[i];
      if (is_store(event.kind)) pool_.store(event.offset, event.value);
      pool_.keep();
      if (event.kind == EventKind::kStore) see(event.offset, event.value);
      for (; next != copied.end() && next->visible <= i; ++next) see(next->offset, next->value);
      if (event.kind == EventKind::kFormatted) ring_ = RingView::parse(pool_.file(), "pool");
      check_all(i);
      if (event.kind == EventKind::kCommitted) hold(event.value);
    }
    return std::move(result_);
  }

 private:
  std::uint64_t view_begin(std::uint32_t slot) const { return traced_.geometry.slots[slot].payload_offset; }

  void hold(std::uint64_t commit_seq) {
    for (std::uint32_t slot = 0; slot < traced_.geometry.slot_count(); ++slot) {
      const SlotReading reading = ring_->slot(slot);
      if (reading.state != SlotState::kCommitted || reading.header.commit_seq != commit_seq) continue;
      ++result_.views;
      View view{slot, reading.header, std::vector<std::uint64_t>(traced_.geometry.payload_bytes() / 8)};
      std::memcpy(view.words.data(), ring_->payload(slot), traced_.geometry.payload_bytes());
      views_.push_back(std::move(view));
    }
  }

  /// Another process may read `value` at `offset` from now on.
  void see(std::uint64_t offset, std::uint64_t value) {
    for (View& view : views_) {
      const std::uint64_t begin = view_begin(view.slot);
      if (offset < begin || offset >= begin + view.words.size() * 8) continue;
      view.may_be_mixed = view.may_be_mixed || view.words[(offset - begin) / 8] != value;
    }
  }

  void check_all(std::size_t event) {
    for (const View& view : views_) {
      if (!view.may_be_mixed) continue;
      ++result_.checks;
      if (!check_(*ring_, view.slot, view.header)) continue;
      result_.violation =
          fmt::format("event {} ({}): a view of iteration {} passes its check, with a byte of another step", event,
                      to_string(traced_.trace[event].phase), view.header.iteration);
      return;
    }
  }

  const TracedScenario& traced_;
  const Check check_;
  PoolBytes pool_;
  std::optional<RingView> ring_;
  std::vector<View> views_;
  ViewExploration result_;
};

}  // namespace

ViewExploration explore_views(const TracedScenario& traced, Check check) {
  return Readers(traced, check).run();
}

bool whole_header(const RingView& ring, std::uint32_t slot, const SlotHeader& held) {
  return ring.still_holds(slot, held);
}

}  // namespace ringside::crash
