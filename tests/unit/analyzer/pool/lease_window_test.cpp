// SPDX-License-Identifier: BSD-3-Clause
// Lease windows against readers, in a run that commits without a pause: readers of the release before windows, which
// know only single bytes, and readers of this release.
#include "analyzer/ring/lease_window.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "analyzer/pool/ring_pool.hpp"
#include "analyzer/ring/ring_writer.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/unique_fd.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "tests/unit/analyzer/ring/ring_in_memory.hpp"
#include "tests/unit/sanitized.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

constexpr std::uint64_t kRowsInWindow = 100;

TEST(LeaseWindowTest, HalfOfTheSlotsThatMayGoAreLockedAtMostAndNeverMoreThan16) {
  const auto most = [](std::uint32_t slots) {
    LeaseWindow window(slots);
    window.step_ended(0);
    window.step_ended(1);
    return window.slots(1);
  };
  EXPECT_EQ(most(3), 1u);
  EXPECT_EQ(most(5), 1u);
  EXPECT_EQ(most(6), 2u);
  EXPECT_EQ(most(8), 3u);
  EXPECT_EQ(most(34), 16u);
  EXPECT_EQ(most(1024), 16u);
}

TEST(LeaseWindowTest, AsManySlotsAreLockedAsStepsFitInto50Microseconds) {
  LeaseWindow window(1024);
  window.step_ended(1'000'000'000);
  EXPECT_EQ(window.slots(1'000'000'000), 1u) << "the first step's duration is unknown";
  window.step_ended(1'000'010'000);
  EXPECT_EQ(window.slots(1'000'010'000), 5u);
  window.step_ended(1'000'050'000);
  EXPECT_EQ(window.slots(1'000'050'000), 1u);
  window.begin(1'000'050'000);
  EXPECT_TRUE(window.lasts(1'000'099'999));
  EXPECT_FALSE(window.lasts(1'000'100'000));
}

TEST(LeaseWindowTest, ForASecondAfterALeaseWasSeenEachSlotIsLockedAlone) {
  LeaseWindow window(1024);
  window.step_ended(1'000);
  window.lease_seen(1'000);
  window.step_ended(2'000);
  EXPECT_EQ(window.slots(2'000), 1u);
  window.step_ended(1'000'000'999);
  window.step_ended(1'000'001'000);
  EXPECT_EQ(window.slots(1'000'000'999), 1u);
  EXPECT_EQ(window.slots(1'000'001'000), 16u);
}

TEST(LeaseWindowTest, TheFirstStepAndThenEvery64thLooksForLeases) {
  LeaseWindow window(8);
  for (int step = 0; step < 200; ++step) EXPECT_EQ(window.step_ended(step), step % 64 == 0) << step;
}

/// Counts the windows that a writer takes.
class CountedLeases final : public SlotLeases {
 public:
  explicit CountedLeases(SlotLeases& leases) : leases_(leases) {}
  bool take(SlotRange slots) noexcept override {
    const bool taken = leases_.take(slots);
    if (taken && slots.count > 1) windows_.fetch_add(1, std::memory_order_relaxed);
    return taken;
  }
  void give_back(SlotRange slots) noexcept override { leases_.give_back(slots); }
  bool any_held() noexcept override { return leases_.any_held(); }
  std::uint64_t windows() const noexcept { return windows_.load(std::memory_order_relaxed); }

 private:
  SlotLeases& leases_;
  std::atomic<std::uint64_t> windows_{0};
};

/// A thread that commits without a pause. Its clock is not the real one: a step takes 1 us, so that windows have their
/// greatest size; and every 8 steps, two seconds pass, so that windows are used although readers were seen.
class SaturatedWriter {
 public:
  SaturatedWriter(const std::string& path, std::uint32_t slots)
      : pool_(RingPool::create(path, RingShape::x_only(kRowsInWindow), slots)),
        leases_(pool_.leases()),
        writer_(pool_.ring(), pool_.persistence(), pool_.storage(), Durability::kProcess) {
    writer_.respect(leases_);
    begin_x_only(writer_, run_of(kRowsInWindow));
    while (steps_.load() < slots) step();
    thread_ = std::thread([this] {
      while (!stop_.load(std::memory_order_relaxed)) step();
      writer_.finish();
    });
  }
  ~SaturatedWriter() { stop(); }
  void stop() {
    stop_.store(true);
    if (thread_.joinable()) thread_.join();
  }

  std::uint64_t steps() const noexcept { return steps_.load(std::memory_order_acquire); }
  void wait_for(std::uint64_t steps) const {
    while (this->steps() < steps) std::this_thread::yield();
  }
  std::uint64_t windows() const noexcept { return leases_.windows(); }
  std::uint64_t leases_broken() const noexcept { return writer_.leases_broken(); }  // call after `stop`

 private:
  void step() {
    const std::uint64_t k = steps_.load(std::memory_order_relaxed) + 1;
    now_ns_ += k % 8 == 0 ? 2'000'000'000 : 1'000;
    EXPECT_EQ(writer_.begin(), CommitStatus::kOk);
    writer_.copy(iterate(k, kRowsInWindow).data(), step_of(k));
    EXPECT_EQ(writer_.commit(), CommitStatus::kOk);
    writer_.end_lease_before_step(now_ns_);
    writer_.choose_before_step(now_ns_);
    steps_.store(k, std::memory_order_release);
  }

  RingPool pool_;
  CountedLeases leases_;
  RingWriter writer_;
  std::int64_t now_ns_ = 1'000'000'000;
  std::atomic<std::uint64_t> steps_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

bool is_iterate_at(const double* x, std::uint64_t k) {
  const std::vector<double> expected = iterate(k, kRowsInWindow);
  return std::equal(expected.begin(), expected.end(), x);
}

/// The reader's protocol of the release before windows, written out. Do not replace these calls by those of
/// common/pool_reader: old readers stay as they are.
class ReaderBeforeWindows {
 public:
  using Header = std::array<std::uint64_t, 8>;  // commit_seq is the last word, the iteration the first

  ReaderBeforeWindows(const std::string& path, const RingGeometry& geometry)
      : geometry_(geometry), fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    void* file = mmap(nullptr, geometry.file_bytes, PROT_READ, MAP_SHARED, fd_.get(), 0);
    if (file != MAP_FAILED) file_ = static_cast<const std::byte*>(file);
  }
  ~ReaderBeforeWindows() { munmap(const_cast<std::byte*>(file_), geometry_.file_bytes); }
  ReaderBeforeWindows(const ReaderBeforeWindows&) = delete;
  ReaderBeforeWindows& operator=(const ReaderBeforeWindows&) = delete;

  bool mapped() const { return file_ != nullptr; }

  /// Nothing if the slot is locked or being written.
  std::optional<Header> hold(std::uint32_t slot) {
    Header before{};
    if (!read(slot, before)) return std::nullopt;
    if (lock(slot, F_RDLCK) != 0) return std::nullopt;
    Header after{};
    if (read(slot, after) && after == before) return before;
    release(slot);
    return std::nullopt;
  }
  void release(std::uint32_t slot) { lock(slot, F_UNLCK); }

  /// Whether everything read from the slot so far belongs to the step of this header.
  bool check(std::uint32_t slot, const Header& header) const {
    std::atomic_thread_fence(std::memory_order_acquire);
    for (std::size_t word = 0; word < header.size(); ++word) {
      if (load(slot, word) != header[word]) return false;
    }
    return true;
  }
  const double* x(std::uint32_t slot) const {
    return reinterpret_cast<const double*>(file_ + geometry_.slots[slot].payload_offset);
  }

 private:
  std::uint64_t load(std::uint32_t slot, std::size_t word) const {
    const auto* words = reinterpret_cast<const std::uint64_t*>(file_ + geometry_.slots[slot].meta_offset);
    return __atomic_load_n(words + word, __ATOMIC_ACQUIRE);
  }
  bool read(std::uint32_t slot, Header& header) const {
    const std::uint64_t commit_seq = load(slot, 7);
    for (std::size_t word = 0; word < header.size(); ++word) header[word] = load(slot, word);
    std::atomic_thread_fence(std::memory_order_acquire);
    return commit_seq != 0 && header[7] == commit_seq && load(slot, 7) == commit_seq;
  }
  int lock(std::uint32_t slot, short type) {
    struct flock byte {};
    byte.l_type = type;
    byte.l_whence = SEEK_SET;
    byte.l_start = static_cast<off_t>((std::uint64_t{1} << 62) + slot);
    byte.l_len = 1;
    return fcntl(fd_.get(), F_OFD_SETLK, &byte);
  }

  const RingGeometry& geometry_;
  const UniqueFd fd_;
  const std::byte* file_ = nullptr;
};

class SaturatedRunTest : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  static constexpr std::uint64_t kHolds = ringside::testing::kSanitized ? 200 : 1'000;

  const testing::TemporaryFolder folder_;
  const std::string path_ = folder_.file("x.pool");
  SaturatedWriter writer_{path_, GetParam()};
  const RingReader reader_ = RingReader::open(path_);
};

// At most K - 3 slots are held at a time, so no lease may be broken: each held step must stay as it is.
TEST_P(SaturatedRunTest, AStepThatAReaderBeforeWindowsHoldsIsNeverOverwritten) {
  struct Held {
    std::uint32_t slot;
    ReaderBeforeWindows::Header header;
    std::uint64_t until;  // the writer's number of steps
  };
  const std::uint32_t slots = GetParam();
  std::mt19937_64 random(slots);
  ReaderBeforeWindows reader(path_, reader_.ring().geometry());
  ASSERT_TRUE(reader.mapped());
  std::deque<Held> held;
  const auto end_oldest_hold = [&] {
    const Held one = held.front();
    held.pop_front();
    writer_.wait_for(one.until);
    EXPECT_TRUE(is_iterate_at(reader.x(one.slot), one.header[0])) << one.header[0];
    EXPECT_TRUE(reader.check(one.slot, one.header)) << one.header[0];
    reader.release(one.slot);
  };
  const std::uint64_t windows_before = writer_.windows();
  for (std::uint64_t holds = 0; holds < kHolds;) {
    const auto slot = static_cast<std::uint32_t>(random() % slots);
    const bool twice = std::any_of(held.begin(), held.end(), [&](const Held& one) { return one.slot == slot; });
    if (twice) continue;  // two locks of one description are one lock
    const auto header = reader.hold(slot);
    if (!header) continue;
    ++holds;
    held.push_back({slot, *header, writer_.steps() + random() % (random() % 2 == 0 ? 2 * slots : 8)});
    while (held.size() > random() % 5) end_oldest_hold();
    if (held.size() == 5) end_oldest_hold();
    if (random() % 2 == 0) writer_.wait_for(writer_.steps() + random() % 100);  // windows begin again
  }
  while (!held.empty()) end_oldest_hold();
  writer_.wait_for(writer_.steps() + 200);
  writer_.stop();
  EXPECT_GT(writer_.windows(), windows_before) << "a test of windows needs windows";
  EXPECT_EQ(writer_.leases_broken(), 0u);
}

TEST_P(SaturatedRunTest, AHeldStepIsNeverOverwrittenAndTheNewestOnesCanBeHeld) {
  std::mt19937_64 random(GetParam());
  std::uint64_t followed = 0;
  for (std::uint64_t held = 0; held < kHolds;) {
    HeldStep step;
    const std::uint64_t steps = writer_.steps();
    const bool newest = random() % 2 == 0;
    if (reader_.hold(newest ? kNewestCommit : steps - random() % 5, step) != HoldOutcome::kHeld) continue;
    ++held;
    if (!newest) ++followed;
    writer_.wait_for(writer_.steps() + random() % 20);
    EXPECT_TRUE(is_iterate_at(reader_.ring().values<double>(step.slot()), step.header().iteration));
    EXPECT_EQ(step.release(), HeldStatus::kOk);
  }
  EXPECT_GT(followed, 0u);
  writer_.stop();
  EXPECT_EQ(writer_.leases_broken(), 0u);
  EXPECT_GT(writer_.windows(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Slots, SaturatedRunTest, ::testing::Values(8, 1024));

/// A pool of eight slots whose leases the test takes, as an analyzer would.
class LockedSlotsTest : public ::testing::Test {
 protected:
  LockedSlotsTest() {
    RingWriter writer(pool_.ring(), pool_.persistence(), pool_.storage(), Durability::kProcess);
    begin_x_only(writer, run_of(kRowsInWindow));
    for (std::uint64_t k = 1; k <= 8; ++k) commit_iterate(writer, k, kRowsInWindow);
    reader_.emplace(RingReader::open(path_));
  }

  const testing::TemporaryFolder folder_;
  const std::string path_ = folder_.file("x.pool");
  const RingPool pool_ = RingPool::create(path_, RingShape::x_only(kRowsInWindow), 8);
  std::optional<RingReader> reader_;
};

TEST_F(LockedSlotsTest, ARangeIsTakenWholeOrNotAtAll) {
  HeldStep step;
  ASSERT_EQ(reader_->hold(3, step), HoldOutcome::kHeld);  // slot 2
  EXPECT_FALSE(pool_.leases().take({0, 4}));
  EXPECT_EQ(reader_->use(1), SlotUse::kFree);
  EXPECT_TRUE(pool_.leases().any_held());
  EXPECT_EQ(step.release(), HeldStatus::kOk);
  EXPECT_FALSE(pool_.leases().any_held());
  EXPECT_TRUE(pool_.leases().take({0, 4}));
  for (std::uint32_t slot = 0; slot < 8; ++slot) {
    EXPECT_EQ(reader_->use(slot), slot < 4 ? SlotUse::kWritten : SlotUse::kFree) << slot;
  }
  EXPECT_FALSE(pool_.leases().any_held()) << "the analyzer's own locks do not count";
  pool_.leases().give_back({0, 4});
  EXPECT_EQ(reader_->use(0), SlotUse::kFree);
}

TEST_F(LockedSlotsTest, AReaderWaitsForAStepOfAWindowAlthoughItIsNotTheNewest) {
  for (int turn = 0; turn < 50; ++turn) {
    ASSERT_TRUE(pool_.leases().take({4, 3}));
    std::atomic<bool> begins{false};
    std::thread reader([&] {
      HeldStep step;
      begins.store(true);
      EXPECT_EQ(reader_->hold(6, step), HoldOutcome::kHeld);  // slot 5
    });
    while (!begins.load()) std::this_thread::yield();
    // Mostly, the reader has tried by now. It gives up after 100 ms.
    for (const std::int64_t until = now_ns() + 1'000'000; now_ns() < until;) std::this_thread::yield();
    pool_.leases().give_back({4, 3});
    reader.join();
  }
}

TEST_F(LockedSlotsTest, ASingleLockedSlotThatIsNotTheNewestIsNotAwaited) {
  ASSERT_TRUE(pool_.leases().take(0));
  HeldStep step;
  EXPECT_EQ(reader_->hold(1, step), HoldOutcome::kOverwritten);
}

}  // namespace
}  // namespace ringside
