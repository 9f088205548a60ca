// SPDX-License-Identifier: BSD-3-Clause
// A reader that opens a pool during the pool's creation: between any two pages that the reader examines, the creation
// is advanced to each of its moments. A page becomes readable only when the reader reaches it, and the page fault
// advances the creation. Therefore every interleaving is the same in each run of this test.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <set>
#include <vector>

#include "analyzer/ring/ring_writer.hpp"
#include "common/platform/error.hpp"
#include "common/platform/unique_fd.hpp"
#include "common/ring/ring_check.hpp"
#include "common/ring/ring_view.hpp"
#include "tests/unit/analyzer/ring/ring_in_memory.hpp"

namespace ringside {
namespace {

constexpr std::uint64_t kCreatedRows = 100;
constexpr std::uint32_t kCreatedSlots = 3;
constexpr std::uint64_t kWatchedPages = 12;  // two pages of libpmemobj, both superblocks, both run tables

/// The file of a pool that is being made, mapped twice: for its creator, and, one page at a time, for a reader.
class WatchedFile {
 public:
  WatchedFile() : geometry_(place_ring()), fd_(memfd_create("ringside-creation", MFD_CLOEXEC)) {
    if (ftruncate(fd_.get(), static_cast<off_t>(geometry_.file_bytes)) != 0) throw std::bad_alloc();
    creators_ = map(PROT_READ | PROT_WRITE);
    readers_ = map(PROT_READ);
    // When the ring is formatted, libpmemobj has already written these bytes.
    std::memcpy(creators_, "PMEMOBJ", 8);
    std::memcpy(creators_ + kPageBytes, kPoolLayoutName, sizeof(kPoolLayoutName));
    front_.assign(creators_, creators_ + kWatchedPages * kPageBytes);
    ObservedPersistence persistence;
    persistence.observe(creators_);
    format_ring({creators_, geometry_.file_bytes}, geometry_, persistence);
    remember(persistence.take());
    formatting_ = stores_.size();
    RingWriter writer(WritableRing::parse({creators_, geometry_.file_bytes}, "x.pool"), persistence, Storage::kDax,
                      Durability::kProcess);
    begin_x_only(writer, run_of(kCreatedRows));
    remember(persistence.take());
    watched_ = this;
    struct sigaction on_fault {};
    on_fault.sa_sigaction = [](int, siginfo_t* fault, void*) {
      watched_->fault(static_cast<std::byte*>(fault->si_addr));
    };
    on_fault.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &on_fault, &before_);
  }
  ~WatchedFile() {
    sigaction(SIGSEGV, &before_, nullptr);
    munmap(creators_, geometry_.file_bytes);
    munmap(readers_, geometry_.file_bytes);
  }
  WatchedFile(const WatchedFile&) = delete;
  WatchedFile& operator=(const WatchedFile&) = delete;

  /// The number of stores that format the ring. Later stores belong to the beginning of a run.
  std::size_t stores() const { return formatting_; }
  std::size_t stores_in_all() const { return stores_.size(); }
  const PersistenceEvent& store(std::size_t index) const { return stores_[index]; }
  const RingGeometry& geometry() const { return geometry_; }
  std::span<const std::byte> file() const { return {readers_, geometry_.file_bytes}; }

  /// Sets the file to its state after the first `stores` stores of the formatting. When the reader reaches its
  /// `at_page`-th page (a page that is read again counts again), the creation advances to `then` stores.
  void begin(std::size_t stores, std::size_t at_page, std::size_t then) {
    std::copy(front_.begin(), front_.end(), creators_);
    done_ = 0;
    go_on_to(stores);
    faults_ = 0;
    at_page_ = at_page;
    then_ = then;
    mprotect(readers_, kWatchedPages * kPageBytes, PROT_NONE);
  }
  /// Returns whether the reader reached that page. From now on, the whole file is readable.
  bool end() {
    mprotect(readers_, kWatchedPages * kPageBytes, PROT_READ);
    return faults_ >= at_page_;
  }

 private:
  /// Places the ring as in a pool, after libpmemobj's first two pages.
  static RingGeometry place_ring() {
    RingShape shape = RingShape::x_only(kCreatedRows);
    shape.catalogue_entries = 16;  // only as many as are used, so that an entry of the run table is within a page
    RingGeometry geometry(shape);
    ringside::place_ring(geometry, kCreatedSlots, 2 * kPageBytes);
    return geometry;
  }
  std::byte* map(int protection) const {
    void* mapped = mmap(nullptr, geometry_.file_bytes, protection, MAP_SHARED, fd_.get(), 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    return static_cast<std::byte*>(mapped);
  }
  void remember(const std::vector<PersistenceEvent>& events) {
    for (const PersistenceEvent& event : events) {
      if (event.event == Event::kStore && event.offset < kWatchedPages * kPageBytes) stores_.push_back(event);
    }
  }
  void go_on_to(std::size_t stores) {
    for (; done_ < stores; ++done_) std::memcpy(creators_ + stores_[done_].offset, &stores_[done_].value, 8);
  }
  void fault(std::byte* at) {
    if (at < readers_ || at >= readers_ + kWatchedPages * kPageBytes) _exit(139);  // a fault outside the watched pages
    if (++faults_ == at_page_) go_on_to(then_);
    mprotect(readers_, kWatchedPages * kPageBytes, PROT_NONE);
    const std::size_t page = static_cast<std::size_t>(at - readers_) / kPageBytes;
    mprotect(readers_ + page * kPageBytes, kPageBytes, PROT_READ);
  }

  static WatchedFile* watched_;

  const RingGeometry geometry_;
  UniqueFd fd_;
  std::byte* creators_ = nullptr;
  std::byte* readers_ = nullptr;
  std::vector<std::byte> front_;  // before the formatting
  std::vector<PersistenceEvent> stores_;
  std::size_t formatting_ = 0;
  std::size_t done_ = 0;
  std::size_t faults_ = 0;
  std::size_t at_page_ = 0;
  std::size_t then_ = 0;
  struct sigaction before_ {};
};

WatchedFile* WatchedFile::watched_ = nullptr;

class RingCreationTest : public ::testing::Test {
 protected:
  /// The moments that a reader can distinguish: the first and last stores of each part, and some stores within the
  /// part.
  std::vector<std::size_t> moments() const {
    std::set<std::size_t> chosen = {0, file_.stores()};
    for (std::size_t i = 0; i < file_.stores(); ++i) {
      const bool new_page = i == 0 || file_.store(i).offset / kPageBytes != file_.store(i - 1).offset / kPageBytes;
      if (new_page) chosen.insert({i, i + 1, i + 3});
      if (file_.store(i).value == kFormattedWord) chosen.insert({i, i + 1});
    }
    return {chosen.begin(), chosen.lower_bound(file_.stores() + 1)};
  }

  /// Calls `look`, a reader, while the creation advances from each moment to each later moment, at each page that the
  /// reader reaches.
  void at_every_moment(const std::function<void(std::size_t from, std::size_t to)>& look) {
    std::size_t interleavings = 0;
    for (const std::size_t from : moments()) {
      for (const std::size_t to : moments()) {
        if (to <= from) continue;
        for (std::size_t page = 1;; ++page, ++interleavings) {
          file_.begin(from, page, to);
          look(from, to);
          if (!file_.end()) break;
          ASSERT_LT(page, 1000u) << "a look that never ends";
        }
      }
    }
    EXPECT_GT(interleavings, 1000u);
  }

  WatchedFile file_;
};

TEST_F(RingCreationTest, ALookIsNeverTakenForDamage) {
  at_every_moment([&](std::size_t from, std::size_t to) {
    try {
      RingView::parse(file_.file(), "x.pool");
    } catch (const UnfinishedPoolError&) {
      // A pool that was unfinished at some moment while the reader looked may be reported as unfinished.
      EXPECT_LT(from, file_.stores());
    } catch (const Error& error) {
      ADD_FAILURE() << "from store " << from << " to " << to << ": " << error.what();
    }
  });
}

TEST_F(RingCreationTest, ACopyOfTheSuperblockThatIsCompleteIsNotCalledDamaged) {
  at_every_moment([&](std::size_t from, std::size_t to) {
    try {
      const RingView view = RingView::parse(file_.file(), "x.pool");
      // If the first formatted word was stored and the second was not, the second copy counts as damaged. RingReader
      // looks again, because it can find out whether the creation is in progress.
      if (to < file_.stores() || from + 1 == file_.stores()) return;
      EXPECT_TRUE(view.superblock_intact(0) && view.superblock_intact(1)) << "from store " << from << " to " << to;
    } catch (const Error&) {
      EXPECT_LT(from, file_.stores());
    }
  });
}

TEST_F(RingCreationTest, WhatIsCompleteIsARing) {
  file_.begin(file_.stores(), 0, 0);
  const RingView view = RingView::parse(file_.file(), "x.pool");
  file_.end();
  EXPECT_TRUE(view.superblock_intact(0) && view.superblock_intact(1));
  EXPECT_TRUE(check_twins(view).intact());
}

TEST_F(RingCreationTest, ARunThatBeginsIsNotTakenForADamagedRecord) {
  // The last two words of an entry are its hash and its number. A writer may be delayed between these two stores.
  const RingGeometry& geometry = file_.geometry();
  const auto is_in_tail = [&](std::uint64_t offset) {
    const std::uint64_t table = geometry.run_table_offset[offset >= geometry.run_table_offset[1] ? 1 : 0];
    return (offset - table) % geometry.run_entry_bytes() >= geometry.run_tail_offset();
  };
  constexpr std::size_t kPagesOfThreeLooks = 6;  // the pages of both copies, alternately
  int held_up = 0;
  for (std::size_t from = file_.stores(); from < file_.stores_in_all(); ++from) {
    if (!is_in_tail(file_.store(from).offset)) continue;
    for (std::size_t page = 1; page <= kPagesOfThreeLooks; ++page) {
      file_.begin(from, 0, 0);
      const RingView view = RingView::parse(file_.file(), "x.pool");
      file_.begin(from, page, file_.stores_in_all());
      EXPECT_TRUE(check_twins(view).intact()) << "store " << from << ", page " << page;
      EXPECT_TRUE(file_.end());
      ++held_up;
    }
  }
  EXPECT_GT(held_up, 20);
}

}  // namespace
}  // namespace ringside
