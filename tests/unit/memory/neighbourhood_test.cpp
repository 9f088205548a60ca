// SPDX-License-Identifier: BSD-3-Clause
// A granule that belongs to no stream is read with its neighbourhood if that saves faults, and alone otherwise. The
// tests use the counts of faults and bytes, and no clock.
#include <gtest/gtest.h>

#include <cstdint>

#include "tests/unit/memory/arena.hpp"
#include "tests/unit/memory/pages.hpp"

namespace ringside::testing {
namespace {

constexpr size_t kNeighbours = 4;

struct Cost {
  uint64_t faults, pages;
};

class Neighbourhood : public ::testing::TestWithParam<const char*> {
 protected:
  /// Touches random neighbourhoods, and in each of them the pages from the last to the first, so that there is no
  /// stream.
  Cost touch_neighbourhoods(const Pages& data, size_t visits) {
    return cost_of([&] {
      for (size_t visit = 0; visit < visits; ++visit) {
        const size_t first = next() % (data.count() / kNeighbours) * kNeighbours;
        for (size_t page = kNeighbours; page-- > 0;) EXPECT_EQ(data[first + page], 5);
      }
    });
  }
  Cost touch_pages(const Pages& data, size_t visits) {
    return cost_of([&] {
      for (size_t visit = 0; visit < visits; ++visit) EXPECT_EQ(data[next() % data.count()], 5);
    });
  }
  /// Touches random pages. At every third visit, also touches a second page of the neighbourhood.
  Cost touch_pages_and_some_neighbours(const Pages& data, size_t visits) {
    return cost_of([&] {
      for (size_t visit = 0; visit < visits; ++visit) {
        const size_t page = next() % data.count();
        EXPECT_EQ(data[page], 5);
        if (visit % 3 == 0) {
          EXPECT_EQ(data[page ^ (kNeighbours / 2)], 5);
        }
      }
    });
  }

 private:
  size_t next() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<size_t>(state_ >> 33);
  }
  template <class Touch>
  static Cost cost_of(Touch touch) {
    const struct ringside_memory_stats before = stats_now();
    touch();
    const struct ringside_memory_stats after = stats_now();
    return {after.faults_far - before.faults_far, (after.read_bytes - before.read_bytes) / kPageBytes};
  }
  uint64_t state_ = 1;
};

TEST_P(Neighbourhood, ComesInWhereOneFaultSavesAnother) {
  START_ARENA(arena, small_options(GetParam()));
  const Pages data(4096);  // four times the DRAM
  data.store(5);
  touch_neighbourhoods(data, 2048);
  const Cost cost = touch_neighbourhoods(data, 2048);
  EXPECT_LE(cost.faults * 2, cost.pages);
}

TEST_P(Neighbourhood, StaysOutWhereNobodyTouchesIt) {
  START_ARENA(arena, small_options(GetParam()));
  const Pages data(4096);
  data.store(5);
  const Cost cost = touch_pages(data, 8192);
  EXPECT_GE(cost.faults, 4096U);
  EXPECT_LE(cost.pages * 10, cost.faults * 11);
}

TEST_P(Neighbourhood, StaysOutWhereItSavesLessThanItCosts) {
  START_ARENA(arena, small_options(GetParam()));
  const Pages data(4096);
  data.store(5);
  const Cost cost = touch_pages_and_some_neighbours(data, 8192);
  EXPECT_GE(cost.faults, 4096U);
  EXPECT_LE(cost.pages * 4, cost.faults * 5);
}

TEST_P(Neighbourhood, StaysOutAgainOnceNobodyTouchesIt) {
  START_ARENA(arena, small_options(GetParam()));
  const Pages data(4096);
  data.store(5);
  touch_neighbourhoods(data, 4096);
  touch_pages(data, 20'000);
  const Cost cost = touch_pages(data, 4096);
  EXPECT_GE(cost.faults, 2048U);
  EXPECT_LE(cost.pages * 10, cost.faults * 11);
}

TEST_P(Neighbourhood, StaysOutOfMemoryThatIsSaidToBeRandom) {
  START_ARENA(arena, small_options(GetParam()));
  const Pages data(4096);
  data.advise(RINGSIDE_MEMORY_RANDOM);
  data.store(5);
  touch_neighbourhoods(data, 2048);
  const Cost cost = touch_neighbourhoods(data, 2048);
  EXPECT_EQ(cost.pages, cost.faults);
}

INSTANTIATE_TEST_SUITE_P(Far, Neighbourhood, ::testing::Values("/dev/shm", "/var/tmp"),
                         [](const auto& instance) { return instance.index == 0 ? "Mapped" : "OnADisk"; });

}  // namespace
}  // namespace ringside::testing
