// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>

#include "common/platform/error.hpp"
#include "node/benches/openmp_groups.hpp"
#include "tests/unit/allowed_cpus.hpp"

namespace ringside {
namespace {

TEST(OpenMpGroups, AGroupHasAThreadOnEachOfItsCores) {
  const std::vector<int> cpus = allowed_cpus();
  std::vector<int> ran_on(cpus.size(), -1);
  std::atomic<std::size_t> begun{0};
  run_openmp_groups({{cpus, [&](Team& team) -> GroupWork {
                        EXPECT_EQ(team.threads(), static_cast<int>(cpus.size()));
                        return [&] {
                          team.share(cpus.size(), [&](std::uint64_t piece, int) noexcept {
                            ran_on[piece] = sched_getcpu();
                            ++begun;  // No thread takes over a second piece before each has begun one.
                            spin_until([&] { return begun.load() == cpus.size(); });
                          });
                        };
                      }}});
  EXPECT_EQ(ran_on, cpus);
}

TEST(OpenMpGroups, GroupsWorkAtTheSameTime) {
  const int cpu = allowed_cpus().front();
  std::atomic<int> there{0};
  const auto meet = [&](Team&) -> GroupWork {
    return [&] {
      ++there;
      spin_until([&] { return there.load() == 2; });  // otherwise this wait never ends
    };
  };
  run_openmp_groups({{{cpu}, meet}, {{cpu}, meet}});
  EXPECT_EQ(there.load(), 2);
}

TEST(OpenMpGroups, NoGroupWorksIfASetUpFails) {
  const int cpu = allowed_cpus().front();
  std::atomic<bool> worked{false};
  const OpenMpGroup good{{cpu}, [&](Team&) -> GroupWork { return [&] { worked.store(true); }; }};
  const OpenMpGroup bad{{cpu}, [](Team&) -> GroupWork { throw system_error("no room"); }};
  EXPECT_THROW(run_openmp_groups({good, bad}), Error);
  EXPECT_FALSE(worked.load());
}

TEST(OpenMpGroups, ACoreThatDoesNotExistIsRefused) {
  EXPECT_THROW(run_openmp_groups({{{1'000'000}, [](Team&) -> GroupWork { return [] {}; }}}), Error);
}

TEST(OpenMpGroups, TheCallingThreadStaysOnItsCores) {
  const std::vector<int> before = allowed_cpus();
  run_openmp_groups({{{before.front()}, [](Team&) -> GroupWork { return [] {}; }}});
  EXPECT_EQ(allowed_cpus(), before);
}

}  // namespace
}  // namespace ringside
