// SPDX-License-Identifier: BSD-3-Clause
// What each storage requires of the code that keeps iterates on it.
#include "common/ring/storage.hpp"

#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(Storage, OnlyAPlainFileUnderPowerNeedsASync) {
  EXPECT_TRUE(needs_sync(Storage::kFile, Durability::kPower));
  EXPECT_FALSE(needs_sync(Storage::kFile, Durability::kProcess));
  EXPECT_FALSE(needs_sync(Storage::kDax, Durability::kPower));
  EXPECT_FALSE(needs_sync(Storage::kDax, Durability::kProcess));
}

TEST(Storage, PersistsInPlaceExactlyWhereNoPageCacheIsUsed) {
  EXPECT_TRUE(persists_in_place(Storage::kDax));
  EXPECT_FALSE(uses_page_cache(Storage::kDax));
  EXPECT_FALSE(persists_in_place(Storage::kFile));
  EXPECT_TRUE(uses_page_cache(Storage::kFile));
}

}  // namespace
}  // namespace ringside
