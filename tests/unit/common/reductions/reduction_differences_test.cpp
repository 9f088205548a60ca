// SPDX-License-Identifier: BSD-3-Clause
#include "common/reductions/reduction_differences.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <set>

namespace ringside {
namespace {

TEST(ReductionDifferencesTest, TheSameBitsDifferNowhere) {
  Reductions reductions;
  reductions.sum = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(differences(reductions, reductions).empty());
}

TEST(ReductionDifferencesTest, AFlippedBitInAnyWordIsOneDifferenceUnderANameOfItsOwn) {
  const Reductions recorded{};
  std::set<std::string> names;
  for (std::size_t byte = 0; byte < sizeof(Reductions); byte += 8) {
    Reductions recomputed = recorded;
    std::uint64_t word = 0;
    std::memcpy(&word, reinterpret_cast<const std::byte*>(&recorded) + byte, sizeof word);
    word ^= 1;
    std::memcpy(reinterpret_cast<std::byte*>(&recomputed) + byte, &word, sizeof word);
    const std::vector<FieldDifference> found = differences(recorded, recomputed);
    ASSERT_EQ(found.size(), 1u) << "byte " << byte;
    EXPECT_TRUE(names.insert(found[0].field).second) << found[0].field;
  }
  EXPECT_TRUE(names.contains("change_linf") && names.contains("top[15].value") && names.contains("histogram[255]"));
}

TEST(ReductionDifferencesTest, ValuesReadBackAsTheSameNumber) {
  Reductions recorded;
  Reductions recomputed;
  recorded.l1 = 0.1;
  recomputed.l1 = std::nextafter(0.1, 1.0);
  const std::vector<FieldDifference> found = differences(recorded, recomputed);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].field, "l1");
  EXPECT_EQ(std::stod(found[0].recorded), recorded.l1);
  EXPECT_EQ(std::stod(found[0].recomputed), recomputed.l1);
}

TEST(ReductionDifferencesTest, NaNsWithOtherBitsShowThem) {
  Reductions recorded;
  Reductions recomputed;
  recorded.max = std::numeric_limits<double>::quiet_NaN();
  std::uint64_t bits = 0;
  std::memcpy(&bits, &recorded.max, sizeof bits);
  bits |= 1;
  std::memcpy(&recomputed.max, &bits, sizeof bits);
  const std::vector<FieldDifference> found = differences(recorded, recomputed);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].recorded, found[0].recomputed);
}

}  // namespace
}  // namespace ringside
