// SPDX-License-Identifier: BSD-3-Clause
// Sizes of DRAM, points of scaling, and the command line of Memory Mode.
#include "node/applications/app_settings.hpp"

#include <gtest/gtest.h>

#include "tests/unit/failure_line.hpp"

namespace ringside {
namespace {

const App& listed_app(const char* name) {
  return *chosen_apps({name}).front();
}

TEST(DramSize, IsBytesOrAPercentage) {
  EXPECT_EQ(dram_size_of("64M").bytes, std::uint64_t{64} << 20);
  EXPECT_EQ(dram_size_of("25%").bytes, 0U);
  EXPECT_DOUBLE_EQ(dram_size_of("25%").percent, 25);
  EXPECT_DOUBLE_EQ(dram_size_of("12.5%").percent, 12.5);
}

TEST(DramSize, OtherTextsAreRefusedWithBothForms) {
  for (const char* text : {"", "%", "0%", "1001%", "-5%", "1K", "64MB", "quarter"}) {
    EXPECT_EQ(
        failure_line([&] { (void)dram_size_of(text); }),
        std::string("--dram: found '") + text + "', expected sizes from 4M to 65536G or percentages from 1% to 1000%");
  }
}

TEST(DramSize, ALimitIsWholePagesAndNeverBelowTheLeast) {
  EXPECT_EQ(dram_limit(dram_size_of("25%"), std::uint64_t{400} << 20), std::uint64_t{100} << 20);
  EXPECT_EQ(dram_limit(dram_size_of("33.3%"), 100'000'001) % 4096, 0U);
  EXPECT_GE(dram_limit(dram_size_of("33.3%"), 100'000'001), 33'300'000U);
  EXPECT_EQ(dram_limit(dram_size_of("1%"), 4096), std::uint64_t{4} << 20);
  EXPECT_EQ(dram_limit(dram_size_of("8M"), 1), std::uint64_t{8} << 20);
}

TEST(AppConfigurations, AllDramComesFirstThenFarOnlyThenEachSize) {
  const auto all = configurations_of(dram_sizes_of({"25%", "64M"}));
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(to_string(all[0]), "all DRAM");
  EXPECT_EQ(to_string(all[1]), "far only");
  EXPECT_EQ(to_string(all[2]), "DRAM 25 %");
  EXPECT_EQ(to_string(all[3]), "DRAM 64 MiB");
}

TEST(AppPoints, OneNumberOfWorkersIsOnePoint) {
  const auto points = points_of(listed_app("pagerank"), {4}, 1000);
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(points[0].workers, 4);
  EXPECT_EQ(points[0].bytes, 1000U);
  EXPECT_FALSE(points[0].weak);
}

TEST(AppPoints, WeakScalingKeepsTheBytesOfAWorkerAndEndsWithTheStrongPoint) {
  const auto points = points_of(listed_app("pagerank"), {1, 2, 4}, 4000);
  ASSERT_EQ(points.size(), 5U);  // with 4 threads, both scalings are the same run
  EXPECT_EQ(points[2].bytes, 4000U);
  EXPECT_TRUE(points[3].weak);
  EXPECT_EQ(points[3].workers, 1);
  EXPECT_EQ(points[3].bytes, 1000U);
  EXPECT_EQ(points[4].bytes, 2000U);
}

TEST(AppPoints, WeakScalingHasItsLastPointWhereTheCommandLineDiffers) {
  const auto points = points_of(listed_app("vpic"), {1, 2}, 1000);
  ASSERT_EQ(points.size(), 4U);
  EXPECT_TRUE(points[3].weak);
  EXPECT_EQ(points[3].workers, 2);
}

TEST(AppPoints, AProgramWithoutThreadsHasOnePointAndOneThatWantsCubesHasCubes) {
  const auto one = points_of(listed_app("python"), {1, 2}, 1000);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].workers, 1);
  const auto cubes = points_of(listed_app("lulesh"), {2, 8}, 1'000'000);
  ASSERT_EQ(cubes.size(), 1U);
  EXPECT_EQ(cubes[0].workers, 8);
  EXPECT_TRUE(points_of(listed_app("lulesh"), {2, 4}, 1000).empty());
}

TEST(CachedRun, ItsWordsAreTheOptionsOfRingsideMemoryRun) {
  EXPECT_EQ(words_of({"/bin/ringside-memory", "/far", 4096, "/account"}),
            (std::vector<std::string>{"/bin/ringside-memory", "run", "--dram=4096", "--far=/far", "--noreserve",
                                      "--json", "--account=/account", "--"}));
}

}  // namespace
}  // namespace ringside
