// SPDX-License-Identifier: BSD-3-Clause
// Compares the crash models with lists that were written by hand: the images that each model allows after a few stores.
// The lists were written from the sources that docs/inside/crash_testing.md names, not from the code.
#include "tests/crash/images/crash_images.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace ringside::crash {
namespace {

using Image = std::vector<std::uint64_t>;
using Images = std::set<Image>;

constexpr std::uint64_t kLine = kLineBytes;
constexpr std::uint64_t kSector = 512;

/// A pool of four sectors, initially zero, and a crash model of this pool.
class ModelledPool {
 public:
  explicit ModelledPool(Model model) : images_(model, pool_) {}

  ModelledPool& store(std::uint64_t offset, std::uint64_t value) {
    return apply({.kind = EventKind::kStore, .offset = offset, .value = value});
  }
  ModelledPool& copy(std::uint64_t offset, std::vector<std::uint64_t> words, std::uint8_t thread = 0) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      apply({.kind = EventKind::kCopyWord,
             .thread = thread,
             .ends_copy = i + 1 == words.size(),
             .offset = offset + 8 * i,
             .value = words[i]});
    }
    return *this;
  }
  ModelledPool& flush(std::uint64_t offset, std::uint64_t bytes = 8, std::uint8_t thread = 0) {
    return apply({.kind = EventKind::kFlush, .thread = thread, .offset = offset, .value = bytes});
  }
  ModelledPool& drain(std::uint8_t thread = 0) { return apply({.kind = EventKind::kDrain, .thread = thread}); }
  ModelledPool& event(EventKind kind) { return apply({.kind = kind}); }

  /// For each image of this moment: the words at `offsets`.
  Images images(const std::vector<std::uint64_t>& offsets) {
    event(EventKind::kFinished);  // an acknowledgement: every image is judged again
    Images seen;
    images_.for_each({100'000, 0, 0}, Random(1), [&] { seen.insert(words(offsets)); });
    return seen;
  }
  Image words(const std::vector<std::uint64_t>& offsets) const {
    Image image;
    for (const std::uint64_t offset : offsets) image.push_back(*pool_.word(offset));
    return image;
  }
  CrashImages& model() { return images_; }
  PoolBytes& pool() { return pool_; }

 private:
  ModelledPool& apply(const Event& event) {
    images_.apply(event);
    return *this;
  }

  PoolBytes pool_{4 * kSector};
  CrashImages images_;
};

TEST(ModelsTest, TheImagesAreThoseThatWereWrittenByHand) {
  const auto expect = [](const char* what, ModelledPool& pool, const std::vector<std::uint64_t>& offsets,
                         const Images& images) { EXPECT_EQ(pool.images(offsets), images) << what; };
  constexpr Model kDax = Model::kDax;
  expect("a line holds a prefix of its stores", ModelledPool(kDax).store(0, 1).store(8, 2).store(0, 3), {0, 8},
         {{0, 0}, {1, 0}, {1, 2}, {3, 2}});
  expect("lines are independent of each other", ModelledPool(kDax).store(0, 1).store(kLine, 2), {0, kLine},
         {{0, 0}, {1, 0}, {0, 2}, {1, 2}});
  expect("a flush alone makes nothing certain", ModelledPool(kDax).store(0, 1).flush(0), {0}, {{0}, {1}});
  expect("a drain alone makes nothing certain", ModelledPool(kDax).store(0, 1).drain(), {0}, {{0}, {1}});
  expect("a flush and a drain make stores certain", ModelledPool(kDax).store(0, 1).flush(0).drain(), {0}, {{1}});
  expect("a flush takes only the stores before it", ModelledPool(kDax).store(0, 1).flush(0).store(0, 2).drain(), {0},
         {{1}, {2}});
  expect("a flush takes the whole line and every line of its range",
         ModelledPool(kDax).store(0, 1).store(56, 2).store(kLine, 3).flush(8, kLine).drain(), {0, 56, kLine},
         {{1, 2, 3}});
  expect("a thread's drain does not wait for others' flushes", ModelledPool(kDax).store(0, 1).flush(0, 8, 1).drain(0),
         {0}, {{0}, {1}});
  expect("a thread's drain waits for its own flushes", ModelledPool(kDax).store(0, 1).flush(0, 8, 1).drain(1), {0},
         {{1}});
  expect("words copied past the cache arrive in any order", ModelledPool(kDax).copy(0, {1, 2}), {0, 8},
         {{0, 0}, {1, 0}, {0, 2}, {1, 2}});
  expect("a copy needs the drain of its thread", ModelledPool(kDax).copy(0, {1}, 1).flush(0).drain(0), {0}, {{0}, {1}});
  expect("a copy needs no flush", ModelledPool(kDax).copy(0, {1}, 1).drain(1), {0}, {{1}});
  expect("a sync has no effect on DAX",
         ModelledPool(kDax).store(0, 1).event(EventKind::kSyncBegin).event(EventKind::kSyncEnd), {0}, {{0}, {1}});
  expect("a sector in the page cache holds any of its versions and is independent of others",
         ModelledPool(Model::kPageCache).store(0, 1).store(8, 2).store(kSector, 3), {0, 8, kSector},
         {{0, 0, 0}, {1, 0, 0}, {1, 2, 0}, {0, 0, 3}, {1, 0, 3}, {1, 2, 3}});
  expect("flush and drain have no effect on the page cache",
         ModelledPool(Model::kPageCache).store(0, 1).flush(0).drain(), {0}, {{0}, {1}});
  expect("every word of a torn sector is on its own", ModelledPool(Model::kTornPageCache).store(0, 1).store(8, 2),
         {0, 8}, {{0, 0}, {1, 0}, {0, 2}, {1, 2}});
  expect("after the death of a process, all stores are there",
         ModelledPool(Model::kProcessDeath).store(0, 1).copy(8, {2}), {0, 8}, {{1, 2}});
}

TEST(DaxModelTest, ADeadThreadWaitsForNothingAndItsStoresAreStillInTheCache) {
  ModelledPool pool(Model::kDax);
  pool.store(0, 1).flush(0).event(EventKind::kKilled).drain();
  EXPECT_EQ(pool.images({0}), (Images{{0}, {1}}));
  EXPECT_EQ(pool.flush(0).drain().images({0}), (Images{{1}})) << "another owner can flush them";
}

TEST(PageCacheModelTest, ASyncTakesWhatWasStoredBeforeItBegan) {
  ModelledPool pool(Model::kPageCache);
  pool.store(0, 1).event(EventKind::kSyncBegin).store(0, 2);
  EXPECT_EQ(pool.images({0}), (Images{{0}, {1}, {2}})) << "it has not returned";
  EXPECT_EQ(pool.event(EventKind::kSyncEnd).images({0}), (Images{{1}, {2}}));
}

TEST(PageCacheModelTest, ASyncThatWasCalledByADeadOwnerIsNothing) {
  ModelledPool pool(Model::kPageCache);
  pool.store(0, 1).event(EventKind::kSyncBegin).event(EventKind::kKilled).event(EventKind::kSyncEnd);
  EXPECT_EQ(pool.images({0}), (Images{{0}, {1}}));
}

TEST(CrashImagesTest, AfterAStoreOnlyImagesThatHoldItAreMade) {
  ModelledPool pool(Model::kDax);
  pool.store(0, 1).store(kLine, 2);
  ASSERT_TRUE(pool.model().adds_images());
  Images seen;
  pool.model().for_each({}, Random(1), [&] { seen.insert(pool.words({0, kLine})); });
  EXPECT_EQ(seen, (Images{{0, 2}, {1, 2}}));
}

TEST(CrashImagesTest, FencesAddNoImages) {
  ModelledPool pool(Model::kDax);
  pool.store(0, 1);
  EXPECT_FALSE(pool.flush(0).model().adds_images());
  EXPECT_FALSE(pool.drain().model().adds_images());
}

TEST(CrashImagesTest, EveryImageIsTakenOutAgain) {
  ModelledPool pool(Model::kDax);
  pool.store(0, 1).store(kLine, 2).flush(0).drain();
  pool.images({0});
  EXPECT_EQ(pool.words({0, kLine}), (Image{1, 0})) << "what is certain";
}

TEST(CrashImagesTest, AboveTheBudgetAllNoneOneMissingAndOneOnlyAreAmongThem) {
  constexpr std::uint64_t kLines = 20;
  ModelledPool pool(Model::kDax);
  std::vector<std::uint64_t> offsets;
  for (std::uint64_t line = 0; line < kLines; ++line) {
    pool.store(line * kLine, 1);
    offsets.push_back(line * kLine);
  }
  pool.event(EventKind::kFinished);
  std::vector<Image> seen;
  pool.model().for_each({256, 32, 8}, Random(1), [&] { seen.push_back(pool.words(offsets)); });
  EXPECT_EQ(seen.size(), 2 + 2 * kLines + 8);
  const Images distinct(seen.begin(), seen.end());
  EXPECT_TRUE(distinct.contains(Image(kLines, 0)));
  EXPECT_TRUE(distinct.contains(Image(kLines, 1)));
  for (std::uint64_t line = 0; line < kLines; ++line) {
    Image one_only(kLines, 0);
    Image one_missing(kLines, 1);
    one_only[line] = 1;
    one_missing[line] = 0;
    EXPECT_TRUE(distinct.contains(one_only)) << line;
    EXPECT_TRUE(distinct.contains(one_missing)) << line;
  }
}

}  // namespace
}  // namespace ringside::crash
