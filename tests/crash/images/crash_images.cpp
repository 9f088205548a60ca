// SPDX-License-Identifier: BSD-3-Clause
#include "tests/crash/images/crash_images.hpp"

#include <algorithm>
#include <iterator>

namespace ringside::crash {
namespace {

constexpr std::uint64_t kSectorBytes = 512;  // a disk writes each sector as a whole
constexpr std::uint64_t kWordBytes = sizeof(std::uint64_t);
constexpr std::size_t kNothingPinned = ~std::size_t{0};

}  // namespace

std::string_view to_string(Model model) noexcept {
  constexpr std::string_view kNames[] = {"dax", "page-cache", "torn-page-cache", "process-death"};
  return kNames[static_cast<int>(model)];
}

std::uint64_t CrashImages::cell_of(std::uint64_t offset, EventKind kind) const noexcept {
  const bool by_word = model_ == Model::kTornPageCache || (model_ == Model::kDax && kind == EventKind::kCopyWord);
  const std::uint64_t bytes = by_word ? kWordBytes : model_ == Model::kDax ? kLineBytes : kSectorBytes;
  // The lowest bit distinguishes a word from the line at the same offset. In an offset, this bit is never set.
  return offset / bytes * bytes | (by_word ? 1 : 0);
}

void CrashImages::settle(std::vector<Awaited>& awaited) {
  for (const Awaited& one : awaited) {
    const auto found = cells_.find(one.cell);
    if (found == cells_.end()) continue;
    Cell& cell = found->second;
    auto uncertain = cell.begin();
    for (; uncertain != cell.end() && uncertain->time <= one.time; ++uncertain) {
      pool_.store(uncertain->offset, uncertain->value);
    }
    cell.erase(cell.begin(), uncertain);
    if (cell.empty()) cells_.erase(found);
  }
  awaited.clear();
}

void CrashImages::settle_all() {
  std::vector<Awaited> all;
  for (const auto& [offset, cell] : cells_) all.push_back({offset, time_});
  settle(all);
}

void CrashImages::store(const Event& event) {
  if (model_ == Model::kProcessDeath) {
    pool_.store(event.offset, event.value);
    return;
  }
  const std::uint64_t cell = cell_of(event.offset, event.kind);
  cells_[cell].push_back({event.offset, event.value, time_});
  if (model_ == Model::kDax && event.kind == EventKind::kCopyWord) flushed_[event.thread].push_back({cell, time_});
  has_newest_ = event.kind == EventKind::kStore;
  newest_cell_ = cell;
}

void CrashImages::apply(const Event& event) {
  ++time_;
  has_newest_ = false;
  adds_images_ = is_acknowledgement(event.kind) || event.kind == EventKind::kStore || event.ends_copy;
  if (is_store(event.kind)) store(event);
  if (is_acknowledgement(event.kind) || event.kind == EventKind::kDrain) boundaries_[next_boundary_++ % 8] = time_;
  if (event.kind == EventKind::kKilled) {
    flushed_.clear();
    syncing_.clear();
  }
  if (model_ == Model::kDax) {
    if (event.kind == EventKind::kFlush) {
      const std::uint64_t first = event.offset / kLineBytes * kLineBytes;
      for (std::uint64_t line = first; line < event.offset + event.value; line += kLineBytes) {
        if (cells_.contains(line)) flushed_[event.thread].push_back({line, time_});
      }
    }
    if (event.kind == EventKind::kDrain) settle(flushed_[event.thread]);
  } else {
    if (event.kind == EventKind::kSyncBegin) {
      syncing_.clear();
      for (const auto& [offset, cell] : cells_) syncing_.push_back({offset, time_});
    }
    if (event.kind == EventKind::kSyncEnd) settle(syncing_);
  }
}

void CrashImages::for_each(const Sampling& sampling, Random random, const std::function<void()>& look) {
  std::vector<const Cell*> cells;
  std::size_t pinned = kNothingPinned;
  std::uint64_t images = 1;
  for (const auto& [offset, cell] : cells_) {
    const bool is_newest = has_newest_ && offset == newest_cell_;
    if (is_newest) pinned = cells.size();
    cells.push_back(&cell);
    if (!is_newest && images <= sampling.exhaustive) images *= cell.size() + 1;
  }
  if (images <= sampling.exhaustive) {
    look_at_all(cells, pinned, look);
  } else {
    look_at_some(cells, pinned, sampling, random, look);
  }
}

void CrashImages::look_at(const std::vector<const Cell*>& cells, const std::vector<std::size_t>& prefixes,
                          const std::function<void()>& look) {
  const std::size_t mark = pool_.mark();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    for (std::size_t store = 0; store < prefixes[i]; ++store) {
      pool_.store((*cells[i])[store].offset, (*cells[i])[store].value);
    }
  }
  look();
  pool_.rollback(mark);
}

void CrashImages::look_at_all(const std::vector<const Cell*>& cells, std::size_t pinned,
                              const std::function<void()>& look) {
  std::vector<std::size_t> prefixes(cells.size(), 0);
  if (pinned != kNothingPinned) prefixes[pinned] = cells[pinned]->size();
  while (true) {
    look_at(cells, prefixes, look);
    std::size_t digit = 0;  // the images are counted like numbers; each cell is a digit
    for (; digit < cells.size(); ++digit) {
      if (digit == pinned) continue;
      if (++prefixes[digit] <= cells[digit]->size()) break;
      prefixes[digit] = 0;
    }
    if (digit == cells.size()) return;
  }
}

void CrashImages::look_at_some(const std::vector<const Cell*>& cells, std::size_t pinned, const Sampling& sampling,
                               Random& random, const std::function<void()>& look) {
  std::vector<std::size_t> prefixes(cells.size());
  const auto whole = [&](std::size_t i) { return cells[i]->size(); };
  const auto set_all = [&](bool there) {
    for (std::size_t i = 0; i < cells.size(); ++i) prefixes[i] = there ? whole(i) : 0;
  };
  const auto look_pinned = [&] {
    if (pinned != kNothingPinned) prefixes[pinned] = whole(pinned);
    look_at(cells, prefixes, look);
  };
  for (const bool there : {true, false}) {  // first with all uncertain stores, then with none
    set_all(there);
    look_pinned();
  }
  for (const bool there : {true, false}) {  // first without the last stores to one cell, then only with its first ones
    const std::uint64_t count = std::min<std::uint64_t>(cells.size(), sampling.one_each);
    const std::uint64_t first = random.below(cells.size());
    for (std::uint64_t nth = 0; nth < count; ++nth) {
      // Takes all cells, or as many as the sampling allows, spread evenly over the pool.
      const std::size_t cell = (first + nth * cells.size() / count) % cells.size();
      if (cell == pinned) continue;
      set_all(there);
      prefixes[cell] = there ? random.below(whole(cell)) : 1 + random.below(whole(cell));
      look_pinned();
    }
  }
  for (std::uint64_t nth = 0; nth < sampling.random; ++nth) {
    // If each cell were chosen independently, nearly every image of many cells would hold about half of the stores.
    // Therefore half of the random images have all stores before a certain time, or only the stores after this time.
    if (nth % 2 == 0) {
      cut_in_time(cells, random, prefixes);
    } else {
      const std::uint64_t share = 1 + random.below(15);  // in sixteenths
      for (std::size_t i = 0; i < cells.size(); ++i) {
        prefixes[i] = random.below(16) < share ? random.below(whole(i) + 1) : 0;
      }
    }
    look_pinned();
  }
}

void CrashImages::cut_in_time(const std::vector<const Cell*>& cells, Random& random,
                              std::vector<std::size_t>& prefixes) const {
  // The image holds either the stores from before the cut, or only the cells with a store after the cut. An image that
  // has only later stores shows a wrong order, which fences must prevent. Therefore most cuts are at a fence or at an
  // acknowledgement.
  const bool older = random.one_in(2);
  const std::uint64_t cut = random.one_in(4) ? time_ - std::min(time_, random.below(1024))
                                             : boundaries_[random.below(std::size(boundaries_))];
  std::vector<std::size_t> there;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Cell& stores = *cells[i];
    if (older) {
      const auto newer =
          std::find_if(stores.begin(), stores.end(), [&](const Store& store) { return store.time > cut; });
      prefixes[i] = static_cast<std::size_t>(newer - stores.begin());
    } else {
      prefixes[i] = stores.back().time > cut ? stores.size() : 0;
    }
    if (prefixes[i] != 0) there.push_back(i);
  }
  // Up to two of these cells get only a random prefix of their stores.
  for (std::uint64_t exceptions = random.below(3); exceptions > 0 && !there.empty(); --exceptions) {
    const std::size_t cell = there[random.below(there.size())];
    prefixes[cell] = random.below(prefixes[cell] + 1);
  }
}

}  // namespace ringside::crash
