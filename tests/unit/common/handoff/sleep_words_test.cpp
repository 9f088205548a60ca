// SPDX-License-Identifier: BSD-3-Clause
// The words by which the sides tell whether they sleep (docs/formats/handoff_protocol.md, "Waiting"): no wake-up may be
// missed, whoever tells and whoever does not. The tests count missed wake-ups, which FutexCoordination reports; they
// measure no time.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <random>
#include <thread>

#include "common/handoff/futex_coordination.hpp"
#include "tests/unit/common/handoff/handoff_fixture.hpp"
#include "tests/unit/sanitized.hpp"

namespace ringside {
namespace {

using namespace testing;

/// Executes instructions for a while: mostly none, sometimes enough for the peer to fall asleep.
void pause_for(std::uint64_t rounds) {
  for (volatile std::uint64_t i = 0; i < rounds;) i = i + 1;
}

/// One side's counter and word. In versions before the words, the word is always 0.
struct SideWords {
  alignas(64) std::atomic<std::uint64_t> counter{0};
  std::atomic<std::uint32_t> sleep{kSleepUnknown};
};

/// Two sides that notify each other in turn, with random pauses, and with random spins before they sleep.
class TwoSides {
 public:
  /// Whether each side is of a version that has the words.
  TwoSides(bool first_tells, bool second_tells) : tells_{first_tells, second_tells} {
    for (int side : {0, 1}) {
      if (tells_[side]) sides_[side].sleep.store(kAwake);
    }
  }

  void run(std::uint64_t steps) {
    std::thread second([&] { take_turns(1, steps); });
    take_turns(0, steps);
    second.join();
  }
  std::uint64_t missed_wakes() const { return missed_; }
  /// How often a side found the other one awake, or asleep, when it notified it.
  std::uint64_t found_awake() const { return awake_; }
  std::uint64_t found_asleep() const { return asleep_; }

 private:
  void take_turns(int side, std::uint64_t steps) {
    SideWords& own = sides_[side];
    SideWords& other = sides_[1 - side];
    // A side without words neither tells nor looks.
    SleepWords words;
    if (tells_[side]) words = {.own = &own.sleep, .peer = &other.sleep};
    FutexCoordination coordination(own.counter, other.counter, words);
    std::mt19937_64 random(static_cast<std::uint64_t>(side) + 1);
    for (std::uint64_t step = 1; step <= steps; ++step) {
      if (side == 1) wait(coordination, step, random);
      if (random() % 4 == 0) pause_for(random() % 100'000);
      own.counter.store(step, std::memory_order_release);
      (other.sleep.load() == kAsleep ? asleep_ : awake_).fetch_add(1);
      coordination.announce();
      if (side == 0) wait(coordination, step, random);
    }
    missed_ += coordination.missed_wakes();
  }
  static void wait(FutexCoordination& coordination, std::uint64_t step, std::mt19937_64& random) {
    const WaitLimits limits{.spin_ns = random() % 2 == 0 ? 0 : static_cast<std::int64_t>(random() % 5'000),
                            .timeout_ns = kNever};
    ASSERT_EQ(coordination.wait_until(step, Peer(), limits), WaitResult::kReached);
  }

  const bool tells_[2];
  SideWords sides_[2];
  std::atomic<std::uint64_t> missed_{0};
  std::atomic<std::uint64_t> awake_{0};
  std::atomic<std::uint64_t> asleep_{0};
};

// A side that is interrupted between storing its counter and waking its peer counts as a missed wake-up, too.
constexpr std::uint64_t kMostInterrupted = 5;
constexpr std::uint64_t kTurns = kSanitized ? 2'000 : 20'000;

TEST(SleepWordsTest, NoWakeUpIsMissedIfBothSidesTell) {
  TwoSides sides(true, true);
  sides.run(kTurns);
  EXPECT_LE(sides.missed_wakes(), kMostInterrupted);
  EXPECT_GT(sides.found_awake(), 0u);
  EXPECT_GT(sides.found_asleep(), 0u);
}

TEST(SleepWordsTest, NoWakeUpIsMissedIfOneSideIsOfAVersionWithoutTheWords) {
  TwoSides first(true, false);
  first.run(kTurns / 4);
  EXPECT_LE(first.missed_wakes(), kMostInterrupted);
  TwoSides second(false, true);
  second.run(kTurns / 4);
  EXPECT_LE(second.missed_wakes(), kMostInterrupted);
}

/// A side that waits in a thread, and its peer, which notifies it.
class OneSleeper {
 public:
  explicit OneSleeper(const SleepWords& of_announcer) : announcer_(published_, released_, of_announcer) {}

  /// Lets the side fall asleep, and then notifies it by `notify`.
  template <class Notify>
  void wake(const Notify& notify) {
    const std::uint64_t step = published_.load() + 1;
    std::thread sleeper(
        [&] { EXPECT_EQ(sleeper_.wait_until(step, Peer(), {.timeout_ns = kNever}), WaitResult::kReached); });
    while (tells_.load() != kAsleep) std::this_thread::yield();
    for (int i = 0; i < 100; ++i) std::this_thread::yield();  // mostly, it sleeps in the kernel by now
    published_.store(step, std::memory_order_release);
    notify(announcer_);
    sleeper.join();
  }
  std::uint64_t missed_wakes() const { return sleeper_.missed_wakes(); }

 private:
  std::atomic<std::uint64_t> published_{0};
  std::atomic<std::uint64_t> released_{0};
  std::atomic<std::uint32_t> tells_{kAwake};  // shows this test when the side sleeps
  FutexCoordination sleeper_{released_, published_, {.own = &tells_}};
  FutexCoordination announcer_;
};

const auto kAnnounce = [](FutexCoordination& side) { side.announce(); };
const auto kAnnounceState = [](FutexCoordination& side) { side.announce_state(); };

// Shows that the count of the other tests can differ from 0.
TEST(SleepWordsTest, APeerThatTellsAwakeAndSleepsMissesItsWakeUpAndContinuesAfterASlice) {
  const std::atomic<std::uint32_t> lie{kAwake};
  OneSleeper side({.peer = &lie});
  for (int turn = 0; turn < 200 && side.missed_wakes() <= kMostInterrupted; ++turn) side.wake(kAnnounce);
  EXPECT_GT(side.missed_wakes(), kMostInterrupted);
}

TEST(SleepWordsTest, AChangeOfStateWakesEvenAPeerThatTellsAwake) {
  const std::atomic<std::uint32_t> lie{kAwake};
  OneSleeper side({.peer = &lie});
  for (int turn = 0; turn < 50; ++turn) side.wake(kAnnounceState);
  EXPECT_LE(side.missed_wakes(), kMostInterrupted);
}

TEST(SleepWordsTest, ASideThatDoesNotTellIsAlwaysWoken) {
  const std::atomic<std::uint32_t> unknown{kSleepUnknown};
  OneSleeper side({.peer = &unknown});
  for (int turn = 0; turn < 50; ++turn) side.wake(kAnnounce);
  EXPECT_LE(side.missed_wakes(), kMostInterrupted);
}

TEST(SleepWordsTest, AnAnalyzerOfAnotherEpochIsAlwaysWoken) {
  const std::atomic<std::uint32_t> left{kAwake};  // by an analyzer that was killed
  const std::atomic<std::uint32_t> left_in{1};
  const std::atomic<std::uint64_t> epoch{2};
  OneSleeper side({.peer = &left, .peer_epoch = &left_in, .epoch = &epoch});
  for (int turn = 0; turn < 50; ++turn) side.wake(kAnnounce);
  EXPECT_LE(side.missed_wakes(), kMostInterrupted);
}

TEST(SleepWordsTest, AWordCountsOnlyInItsEpoch) {
  const std::atomic<std::uint32_t> word{kAwake};
  const std::atomic<std::uint32_t> told_in{7};
  std::atomic<std::uint64_t> epoch{7};
  const SleepWords words{.peer = &word, .peer_epoch = &told_in, .epoch = &epoch};
  EXPECT_TRUE(words.peer_is_awake());
  epoch.store(8);
  EXPECT_FALSE(words.peer_is_awake());
}

class SleepInHandoffTest : public HandoffFixture {
 protected:
  /// Attaches a producer to an analyzer of which the test is a part: `serve` gets the control memory.
  template <class Serve>
  void with_control(const Serve& serve) {
    Listener listener(socket_path_);
    std::thread producer([&] {
      HandoffWriter writer(options_, description(), x_only(), residuals());
      for (std::uint64_t step = 0; step < kSteps; ++step) {
        pause_for(step % 3 == 0 ? 50'000 : 0);
        publish_one(writer);
      }
      left_.wait(false);
    });
    std::optional<Peer> peer = listener.accept(10'000);
    std::array<std::byte, kMostRequestBytes> request;
    auto received = peer->receive(request, 10'000);
    const SharedMapping control =
        SharedMapping::adopt(std::move(received->fds[1]), sizeof(HandoffControl), PeerAccess::kReadWrite);
    serve(*peer, *reinterpret_cast<HandoffControl*>(control.data()));
    left_.store(true);
    left_.notify_one();
    producer.join();
  }

  static constexpr std::uint64_t kSteps = 200;
  std::atomic<bool> left_{false};
};

// An analyzer of a version before the words: it changes neither of them. Another analyzer was killed before it.
TEST_F(SleepInHandoffTest, AnOldAnalyzerThatTakesOverIsWokenForEachStep) {
  with_control([](Peer& peer, HandoffControl& control) {
    control.analyzer_sleep.store(kAwake);
    control.analyzer_sleep_epoch.store(1);
    control.epoch.store(2);
    control.analyzer_state.store(kAnalyzerServing);
    AttachReply reply;
    reply.epoch = 2;
    ASSERT_TRUE(peer.send(std::as_bytes(std::span(&reply, 1))));
    FutexCoordination coordination(control.released, control.published);
    for (std::uint64_t step = 1; step <= kSteps; ++step) {
      ASSERT_EQ(coordination.wait_until(step, peer, {.timeout_ns = kNever}), WaitResult::kReached);
      control.released.store(step, std::memory_order_release);
      coordination.announce();
    }
    EXPECT_LE(coordination.missed_wakes(), kMostInterrupted);
    EXPECT_NE(control.producer_sleep.load(), kSleepUnknown) << "the producer tells";
  });
}

TEST_F(SleepInHandoffTest, AnAnalyzerTellsInItsOwnEpoch) {
  const Memory memory = valid_memory();
  auto* control = reinterpret_cast<HandoffControl*>(memory.control.data());
  for (std::uint64_t epoch = 1; epoch <= 2; ++epoch) {
    Listener listener(socket_path_);
    std::thread producer([&] {
      Peer peer = Peer::connect(socket_path_, 10);
      peer.send(valid_request().encode(), memory.fds());
      std::array<std::byte, sizeof(AttachReply)> reply;
      peer.receive(reply, 10'000);
    });
    HandoffReader reader = accept_reader(listener);
    control->analyzer_sleep.store(kAsleep);  // as a killed analyzer leaves it
    reader.accept();
    EXPECT_EQ(control->analyzer_sleep.load(), kAwake);
    EXPECT_EQ(control->analyzer_sleep_epoch.load(), epoch);
    EXPECT_EQ(control->epoch.load(), epoch);
    producer.join();
  }
}

/// A cohort of one process.
class OneMember final : public StepSharing {
 public:
  void share(const SharedMapping&, const SharedMapping& memory) override {
    control = reinterpret_cast<HandoffControl*>(memory.data());
  }
  void arrive(const StepDescriptor&) noexcept override {}
  StopFlag ends_wait() const noexcept override { return {}; }
  void beat(std::int64_t) noexcept override {}

  HandoffControl* control = nullptr;
};

TEST_F(SleepInHandoffTest, AProducerOfSeveralProcessesDoesNotTell) {
  OneMember member;
  options_.sharing = &member;
  const Attached ends = attach(options_);
  EXPECT_EQ(member.control->producer_sleep.load(), kSleepUnknown);
}

}  // namespace
}  // namespace ringside
