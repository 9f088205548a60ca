// SPDX-License-Identifier: BSD-3-Clause
#include "node/scale/collection.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <span>

#include "analyzer/whole_run/part_store.hpp"
#include "common/reductions/whole/step_parts.hpp"
#include "common/threads/openmp_team.hpp"

namespace ringside {
namespace {

/// The expected values come from an analyzer's store.
TEST(CollectionTest, AStoreHasRoomForAsManyStepsAsThatOfAnAnalyzer) {
  OpenMpTeam team;
  for (const std::uint64_t entries : {1024ull, 1'000'000ull, 5'000'000ull, 30'000'000ull, 400'000'000ull}) {
    const Schema schema = Schema::of({{.name = "x", .dtype = DType::kF64, .shape = {entries}}});
    const std::optional<PartPlace> whole = PartPlace{0};
    const StepParts parts(schema, std::span(&whole, 1), team);
    EXPECT_EQ(store_steps(static_cast<double>(8 * entries)), PartStore(parts.words()).capacity()) << entries;
  }
}

}  // namespace
}  // namespace ringside
