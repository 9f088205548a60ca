// SPDX-License-Identifier: BSD-3-Clause
#include "memory/probe/cache_spec.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace ringside::probe {
namespace {

TEST(CacheSpec, TextNamesTheLevelsAndTheMemory) {
  const CacheSpec spec = parse_cache_spec("size=48K,ways=12/size=1M,ways=16,replacement=random;memory=120,noise=0.1");
  ASSERT_EQ(spec.levels.size(), 2U);
  EXPECT_EQ(spec.levels[0].size_bytes, 48U << 10);
  EXPECT_EQ(spec.levels[0].sets(), 64U);
  EXPECT_EQ(spec.levels[1].replacement, Replacement::kRandom);
  EXPECT_EQ(spec.memory_read_ns, 120);
  EXPECT_EQ(to_string(parse_cache_spec(to_string(spec))), to_string(spec));
}

TEST(CacheSpec, RefusesWhatNoCacheIsMadeOf) {
  for (const char* text : {"size=33K", "line=48", "ways=0", "replacement=mru", "colour=red", "size", "size=4K;noise=x",
                           "ways=12,size=48K,replacement=plru", "size=4K;;"}) {
    EXPECT_THROW(parse_cache_spec(text), std::invalid_argument) << text;
  }
}

TEST(CacheSpec, SizesArePrintedInTheirUnit) {
  EXPECT_EQ(size_text(64), "64 B");
  EXPECT_EQ(size_text(48 << 10), "48 KiB");
  EXPECT_EQ(size_text(3 << 19), "1.50 MiB");
}

}  // namespace
}  // namespace ringside::probe
