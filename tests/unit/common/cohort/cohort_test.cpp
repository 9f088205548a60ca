// SPDX-License-Identifier: BSD-3-Clause
// How several processes publish the parts of one step: which member publishes it, what its descriptor contains, and how
// the end of one member affects the others (docs/publish/mpi.md, "Ranks of a node share the buffers").
#include "common/cohort/cohort.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <future>
#include <string>
#include <thread>

#include "common/platform/clock.hpp"
#include "tests/unit/child_process.hpp"
#include "tests/unit/common/cohort/cohort_in_memory.hpp"
#include "tests/unit/failure_line.hpp"
#include "tests/unit/sanitized.hpp"

namespace ringside {
namespace {

using namespace testing;

TEST(CohortTest, TheLastPartPublishesAndNoneBefore) {
  CohortInMemory cohort(3, 2);
  const std::array<std::array<std::size_t, 3>, 4> orders = {{{1, 0, 2}, {2, 1, 0}, {0, 1, 2}, {0, 2, 1}}};
  for (std::uint64_t step = 0; step < orders.size(); ++step) {
    for (const std::size_t member : orders[step]) {
      EXPECT_EQ(cohort.published(), step);
      cohort.publish(member, {.iteration = step + 1});
    }
    EXPECT_EQ(cohort.published(), step + 1);
    EXPECT_EQ(cohort.descriptor(step).iteration, step + 1);
    cohort.release_up_to(step + 1);  // two steps later, the step's buffer is used again
  }
}

TEST(CohortTest, ATeamOfOnePublishesEachStep) {
  CohortInMemory cohort(1, 2);
  for (std::uint64_t step = 0; step < 5; ++step) {
    cohort.publish(0, {.iteration = step + 1});
    EXPECT_EQ(cohort.published(), step + 1);
    cohort.release_up_to(step + 1);
  }
}

TEST(CohortTest, TheTimesOfAStepAreThoseOfTheMemberThatWroteLast) {
  CohortInMemory cohort(3, 2);
  const StepDescriptor first{.step = 0,
                             .iteration = 4,
                             .residual_l1 = 0.5,
                             .residual_linf = 0.25,
                             .generate_ns = 5,
                             .producer_idle_ns = 7,
                             .published_at_ns = 100,
                             .skipped_before = 3};
  cohort.descriptor(0) = first;
  cohort.cohort(0).arrive(first);
  cohort.cohort(2).arrive({.step = 0, .iteration = 4, .generate_ns = 1, .producer_idle_ns = 8, .published_at_ns = 300});
  cohort.cohort(1).arrive({.step = 0, .iteration = 4, .generate_ns = 9, .producer_idle_ns = 2, .published_at_ns = 200});
  StepDescriptor expected = first;
  expected.generate_ns = 1;
  expected.producer_idle_ns = 8;
  expected.published_at_ns = 300;
  EXPECT_EQ(std::memcmp(&cohort.descriptor(0), &expected, sizeof expected), 0) << "the rest is the first member's";
}

TEST(CohortTest, TheTimesOfANodeAddUp) {
  CohortInMemory cohort(2, 2);
  struct Part {
    std::int64_t idle_ns;
    std::int64_t written_at_ns;
  };
  struct Step {
    Part parts[2];
    std::int64_t generate_ns;
    std::int64_t idle_ns;
    std::int64_t written_at_ns;
  };
  const Step steps[] = {{{{4, 300}, {5, 200}}, 77, 4, 300},
                        {{{90, 800}, {20, 1000}}, 680, 20, 1000},   // the rest of the 700 ns since the previous step
                        {{{5000, 1100}, {0, 1099}}, 0, 100, 1100},  // a wait that began in the previous step
                        {{{30, 1100}, {30, 1100}}, 0, 0, 1100}};
  for (std::uint64_t step = 0; step < std::size(steps); ++step) {
    for (const std::size_t member : {1u, 0u}) {
      const auto& [idle_ns, written_at_ns] = steps[step].parts[member];
      cohort.cohort(member).arrive({.step = step,
                                    .iteration = step + 1,
                                    .generate_ns = 77,
                                    .producer_idle_ns = idle_ns,
                                    .published_at_ns = written_at_ns});
    }
    EXPECT_EQ(cohort.descriptor(step).generate_ns, steps[step].generate_ns) << step;
    EXPECT_EQ(cohort.descriptor(step).producer_idle_ns, steps[step].idle_ns) << step;
    EXPECT_EQ(cohort.descriptor(step).published_at_ns, steps[step].written_at_ns) << step;
    cohort.release_up_to(step + 1);
  }
}

TEST(CohortTest, NoMemberWaitsForAnother) {
  constexpr std::uint32_t kBuffers = 4;
  CohortInMemory cohort(2, kBuffers);
  for (std::uint64_t step = 0; step < kBuffers; ++step) cohort.publish(1, {.iteration = step + 1});
  EXPECT_EQ(cohort.published(), 0u);
  for (std::uint64_t step = 0; step < kBuffers; ++step) {
    cohort.publish(0, {.iteration = step + 1});
    EXPECT_EQ(cohort.published(), step + 1);
    cohort.release_up_to(step + 1);
    cohort.publish(1, {.iteration = step + kBuffers + 1});  // into the buffer that was just released
    EXPECT_EQ(cohort.published(), step + 1);
  }
  EXPECT_EQ(cohort.writer(1).idle_ns(), 0) << "every buffer was free at once";
}

TEST(CohortTest, AClaimWaitsUntilItsBufferIsReleased) {
  CohortInMemory cohort(2, 2);
  for (std::uint64_t step = 0; step < 2; ++step) {
    for (const std::size_t member : {0u, 1u}) cohort.publish(member, {.iteration = step + 1});
  }
  std::future<Claim> claim = std::async(std::launch::async, [&] { return cohort.writer(1).claim(); });
  cohort.release_up_to(1);
  const Claim granted = claim.get();
  ASSERT_EQ(granted.status, ClaimStatus::kOk);
  EXPECT_EQ(granted.payload,
            cohort.writer(1).payload().data() + (cohort.buffer(2) - cohort.buffer(0)) + kBufferAlignmentBytes);
}

TEST(CohortTest, TheSlowestMemberPublishesEachStepByItself) {
  CohortInMemory cohort(3, 3);
  for (const std::size_t member : {0u, 1u}) {
    for (std::uint64_t step = 0; step < 3; ++step) cohort.publish(member, {.iteration = step + 1});
  }
  EXPECT_EQ(cohort.published(), 0u);
  for (std::uint64_t step = 0; step < 3; ++step) {
    cohort.publish(2, {.iteration = step + 1});
    EXPECT_EQ(cohort.published(), step + 1);
  }
}

TEST(CohortTest, TheCallersFlagEndsAWait) {
  std::atomic<bool> stop{true};
  CohortInMemory cohort(2, 2, 4096, &stop);
  for (std::uint64_t step = 0; step < 2; ++step)
    cohort.publish(1, {.iteration = step + 1});  // no wait, so the flag is not checked
  const Claim claim = cohort.writer(1).claim();
  EXPECT_EQ(claim.status, ClaimStatus::kStopped);
  EXPECT_EQ(claim.payload, nullptr);
  EXPECT_FALSE(cohort.cohort(0).has_failed()) << "only this member stops";
}

TEST(CohortTest, PublishingWithoutAClaimDoesNothing) {
  CohortInMemory cohort(2, 2);
  cohort.publish(0, {.iteration = 1});
  cohort.writer(1).publish({.iteration = 1});
  EXPECT_EQ(cohort.published(), 0u);
  cohort.publish(1, {.iteration = 1});
  cohort.writer(1).publish({.iteration = 2});
  EXPECT_EQ(cohort.published(), 1u);
  EXPECT_EQ(cohort.writer(1).published(), 1u);
}

TEST(CohortTest, DifferentIterationsFailTheCohort) {
  CohortInMemory cohort(3, 2);
  for (const std::size_t member : {0u, 1u, 2u}) cohort.publish(member, {.iteration = 7});
  cohort.publish(2, {.iteration = 8});
  cohort.publish(1, {.iteration = 9});
  cohort.publish(0, {.iteration = 8});
  EXPECT_EQ(cohort.published(), 1u) << "a step of two iterations is not published";
  for (const std::size_t member : {0u, 1u, 2u}) {
    ASSERT_TRUE(cohort.cohort(member).has_failed());
    const Error error = cohort.cohort(member).failure();
    EXPECT_EQ(error.code(), ExitCode::kUsage);
    EXPECT_STREQ(error.what(),
                 "step 1: rank 1 published iteration 9, but rank 0 published iteration 8; expected the same iteration");
    EXPECT_EQ(cohort.writer(member).claim().status, ClaimStatus::kAnalyzerFailed);
  }
}

TEST(CohortTest, NoStepIsPublishedAfterOneThatFailed) {
  CohortInMemory cohort(2, 3);
  cohort.publish(1, {.iteration = 1});
  cohort.publish(1, {.iteration = 2});
  cohort.publish(1, {.iteration = 3});
  cohort.publish(0, {.iteration = 1});
  ASSERT_EQ(cohort.writer(0).claim().status, ClaimStatus::kOk);
  cohort.publish_claimed(0, {.iteration = 5});
  ASSERT_TRUE(cohort.cohort(0).has_failed());
  // A HandoffWriter grants a free buffer without checking the cohort.
  cohort.cohort(0).arrive({.step = 2, .iteration = 3, .published_at_ns = now_ns()});
  EXPECT_EQ(cohort.published(), 1u);
}

TEST(CohortTest, TheFirstFailureCounts) {
  constexpr std::uint32_t kMembers = 4;
  for (int round = 0; round < 50; ++round) {
    CohortInMemory cohort(kMembers, 2);
    std::vector<std::thread> threads;
    for (std::uint32_t m = 0; m < kMembers; ++m) {
      threads.emplace_back([&cohort, m] { cohort.cohort(m).fail(ExitCode::kPeerLost, formatted("failure {}", m)); });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_TRUE(cohort.cohort(0).has_failed());
    const std::string line = cohort.cohort(0).failure().what();
    EXPECT_EQ(line.size(), 9u) << line;
    cohort.cohort(1).fail(ExitCode::kUsage, "later");
    for (std::uint32_t m = 0; m < kMembers; ++m) {
      EXPECT_EQ(cohort.cohort(m).failure().what(), line);
      EXPECT_EQ(cohort.cohort(m).failure().code(), ExitCode::kPeerLost);
    }
  }
}

TEST(CohortTest, ALongLineEndsWithinItsField) {
  CohortInMemory cohort(2, 2);
  cohort.cohort(1).fail(ExitCode::kSystem, std::string(5000, 'a'));
  EXPECT_EQ(std::string(cohort.cohort(0).failure().what()), std::string(1019, 'a'));
  EXPECT_EQ(cohort.cohort(0).head().global_iteration.load(), 0u);
}

TEST(CohortTest, AFailureOfOneMemberEndsTheWaitOfAnother) {
  CohortInMemory cohort(2, 2);
  for (std::uint64_t step = 0; step < 2; ++step) cohort.publish(1, {.iteration = step + 1});
  std::future<Claim> claim = std::async(std::launch::async, [&] { return cohort.writer(1).claim(); });
  cohort.cohort(0).fail(ExitCode::kPeerLost, "the analyzer is gone");
  EXPECT_EQ(claim.get().status, ClaimStatus::kAnalyzerFailed);
  EXPECT_STREQ(cohort.cohort(1).failure().what(), "the analyzer is gone");
}

TEST(CohortTest, MemoryOfAnotherShapeIsNotMapped) {
  const std::vector<CohortMember> members = members_of({getpid(), getpid()});
  const Cohort cohort(members, 0, 3, nullptr);
  EXPECT_EQ(failure_line([&] { const Cohort other(duplicate(cohort.fd()), members, 1, 2, nullptr); }),
            formatted("the peer's shared memory has {} bytes, expected {}", cohort_memory_bytes(2, 3),
                      cohort_memory_bytes(2, 2)));
}

// --- members that die --------------------------------------------------------------------------------------------

bool do_nothing() {
  return true;
}

std::string line_about(const ChildProcess& idler) {
  return formatted("rank 1 (process {}) is gone; the committed steps are in the pool", idler.pid());
}

TEST(CohortTest, AMemberThatDiesFailsTheCohort) {
  ChildProcess idler(do_nothing);
  CohortInMemory cohort({getpid(), idler.pid(), getpid()}, 2);
  cohort.cohort(0).beat(now_ns());
  EXPECT_FALSE(cohort.cohort(0).has_failed());
  EXPECT_FALSE(cohort.cohort(0).ends_wait().is_set());
  idler.end();
  cohort.cohort(0).beat(now_ns());
  for (const std::size_t member : {0u, 2u}) {
    ASSERT_TRUE(cohort.cohort(member).has_failed());
    EXPECT_EQ(cohort.cohort(member).failure().code(), ExitCode::kPeerLost);
    EXPECT_EQ(cohort.cohort(member).failure().what(), line_about(idler));
  }
  EXPECT_TRUE(cohort.cohort(0).ends_wait().is_set());
}

TEST(CohortTest, TheDeathOfAMemberEndsTheWaitsOfAllOthers) {
  ChildProcess idler(do_nothing);
  CohortInMemory cohort({getpid(), idler.pid(), getpid()}, 2);
  for (const std::size_t member : {0u, 2u}) {
    for (std::uint64_t step = 0; step < 2; ++step) cohort.publish(member, {.iteration = step + 1});
  }
  std::future<Claim> first = std::async(std::launch::async, [&] { return cohort.writer(0).claim(); });
  std::future<Claim> third = std::async(std::launch::async, [&] { return cohort.writer(2).claim(); });
  idler.end();
  EXPECT_EQ(first.get().status, ClaimStatus::kAnalyzerFailed);
  EXPECT_EQ(third.get().status, ClaimStatus::kAnalyzerFailed);
  EXPECT_EQ(cohort.cohort(2).failure().what(), line_about(idler));
}

TEST(CohortTest, ATeamWithAMemberThatIsGoneIsNotMade) {
  ChildProcess idler(do_nothing);
  idler.end();
  EXPECT_EQ(failure_line(
                [&] {
                  const Cohort cohort(members_of({getpid(), idler.pid()}), 0, 2, nullptr);
                },
                ExitCode::kPeerLost),
            formatted("rank 1 (process {}) is gone", idler.pid()));
}

// --- all members at once -----------------------------------------------------------------------------------------

constexpr std::uint64_t kPartWords = 96;

std::uint64_t word_of(std::uint64_t step, std::uint64_t member, std::uint64_t at) {
  return step << 16 | member << 8 | at;
}

class CrowdTest : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(CrowdTest, EachStepArrivesWholeAndOnce) {
  constexpr std::uint64_t kMembers = 4;
  constexpr std::uint64_t kSteps = kSanitized ? 2'000 : 20'000;
  CohortInMemory cohort(kMembers, GetParam(), kMembers * kPartWords * sizeof(std::uint64_t));
  std::vector<std::thread> threads;
  for (std::uint64_t m = 0; m < kMembers; ++m) {
    threads.emplace_back([&cohort, m] {
      for (std::uint64_t step = 0; step < kSteps; ++step) {
        const Claim claim = cohort.writer(m).claim();
        if (!claim) return;
        auto* words = reinterpret_cast<std::uint64_t*>(claim.payload) + m * kPartWords;
        for (std::uint64_t at = 0; at < kPartWords; ++at) words[at] = word_of(step, m, at);
        cohort.publish_claimed(m, {.iteration = step + 1});
      }
    });
  }
  // This thread is the analyzer: it checks each word before it releases the step.
  std::int64_t before_ns = 0;
  std::uint64_t wrong = 0;
  for (std::uint64_t step = 0; step < kSteps; ++step) {
    while (cohort.published() <= step && !cohort.cohort(0).has_failed()) {
      futex_sleep(&cohort.control().published, static_cast<std::uint32_t>(step), 1'000'000'000);
    }
    const StepDescriptor descriptor = cohort.descriptor(step);
    const auto* words = reinterpret_cast<const std::uint64_t*>(cohort.buffer(step));
    wrong += descriptor.step != step || descriptor.iteration != step + 1 || descriptor.published_at_ns < before_ns ||
             descriptor.published_at_ns > now_ns();
    const std::int64_t accounted_ns = descriptor.generate_ns + descriptor.producer_idle_ns;
    wrong += step > 0 && accounted_ns != descriptor.published_at_ns - before_ns;
    before_ns = descriptor.published_at_ns;
    for (std::uint64_t m = 0; m < kMembers; ++m) {
      for (std::uint64_t at = 0; at < kPartWords; ++at) wrong += words[m * kPartWords + at] != word_of(step, m, at);
    }
    cohort.release_up_to(step + 1);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_FALSE(cohort.cohort(0).has_failed());
  EXPECT_EQ(cohort.published(), kSteps);
}

INSTANTIATE_TEST_SUITE_P(Buffers, CrowdTest, ::testing::Values(2u, 3u, 4u),
                         [](const auto& buffers) { return std::to_string(buffers.param); });

}  // namespace
}  // namespace ringside
