// SPDX-License-Identifier: BSD-3-Clause
// The parts of a pool that are shown while its owner runs: slots and their readers, and the newest step as an image. If
// the pool is truncated, replaced or missing, the process that shows it must not end.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "analyzer/pool/ring_pool.hpp"
#include "analyzer/ring/ring_writer.hpp"
#include "cli/pool_view/field_images.hpp"
#include "cli/pool_view/watched_pool.hpp"
#include "common/files/watched_mapping.hpp"
#include "common/json/json.hpp"
#include "tests/unit/analyzer/ring/several_variables.hpp"
#include "tests/unit/expect_text.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

constexpr std::uint32_t kSlots = 4;

class PoolLookTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { catch_bus_errors(false); }

  /// Makes a pool with u f64[rows,columns], whose entries are `value` in the steps that `commit` commits, and with
  /// `more` variables of the same kind: u1, u2 ...
  void begin(std::uint64_t rows, std::uint64_t columns, int more = 0) {
    std::vector<Variable> variables = {{.name = "u", .dtype = DType::kF64, .shape = {rows, columns}}};
    for (int i = 1; i <= more; ++i) {
      variables.push_back({.name = "u" + std::to_string(i), .dtype = DType::kF64, .shape = {rows, columns}});
    }
    const Schema schema = Schema::of(variables);
    const Catalogue catalogue = catalogue_of(schema, {});
    pool_.emplace(RingPool::create(path_, RingShape::of(schema, catalogue), kSlots));
    writer_ = std::make_unique<RingWriter>(pool_->ring(), pool_->persistence(), pool_->storage(), Durability::kProcess);
    writer_->respect(pool_->leases());
    writer_->begin_run(run_with(schema), catalogue);
    payload_.assign(schema.payload_bytes() / sizeof(double), 0);
  }
  /// reduced: whether the analyzer has finished the step and no longer needs the step's slot.
  void commit(std::uint64_t k, double value, bool reduced = true) {
    std::fill(payload_.begin(), payload_.end(), value);
    payload_[0] = 0;
    ASSERT_EQ(writer_->begin(), CommitStatus::kOk);
    writer_->copy(reinterpret_cast<const std::byte*>(payload_.data()), step_of(k));
    ASSERT_EQ(writer_->commit(), CommitStatus::kOk);
    if (reduced) writer_->end_lease();
  }

  /// The answer as JSON. If no place was free, the answer has the key `refused`.
  static Json ask(FieldImages& images, const FieldQuery& query, std::uint64_t known_commit = 0) {
    const std::optional<std::string> answer = images.answer(query, known_commit);
    return Json::parse(answer ? *answer : R"({"variables":[],"image":null,"why":"","refused":true})");
  }
  static bool is_refused(const Json& answer) { return answer.contains("refused"); }

  /// Asks repeatedly until the answer is as expected.
  template <class Condition>
  static Json ask_until(FieldImages& images, const FieldQuery& query, const Condition& is_expected) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    for (;;) {
      Json answer = ask(images, query);
      if (is_expected(answer) || std::chrono::steady_clock::now() > give_up) return answer;
      std::this_thread::yield();
    }
  }
  static bool has_image(const Json& answer) { return !answer["image"].is_null(); }
  static bool has_why(const Json& answer) { return answer["why"] != ""; }

  const testing::TemporaryFolder folder_;
  const std::string path_ = folder_.file("x.pool");
  std::optional<RingPool> pool_;
  std::unique_ptr<RingWriter> writer_;
  std::vector<double> payload_;
};

TEST_F(PoolLookTest, SlotsAreNamedByTheirIterateAndTheirReaders) {
  begin(3, 5);
  commit(1, 1);
  commit(2, 2);
  WatchedPool watched;
  const RingReader* const reader = watched.at(path_);
  ASSERT_NE(reader, nullptr) << watched.why();
  RingSlots slots = slots_of(*reader);
  EXPECT_EQ(slots.count, kSlots);
  EXPECT_EQ(slots.used, 2u);
  ASSERT_EQ(slots.slots.size(), kSlots);
  EXPECT_EQ(slots.slots[0].iteration, 1u);
  EXPECT_EQ(slots.slots[1].iteration, 2u);
  EXPECT_EQ(slots.slots[2].state, SlotState::kEmpty);
  for (const RingSlot& slot : slots.slots) EXPECT_EQ(slot.use, SlotUse::kFree);

  const RingReader other = RingReader::open(path_);
  HeldStep held;
  ASSERT_EQ(other.hold(2, held), HoldOutcome::kHeld);
  slots = slots_of(*reader);
  EXPECT_EQ(slots.slots[0].use, SlotUse::kFree);
  EXPECT_EQ(slots.slots[1].use, SlotUse::kHeld);
  held.release();
  EXPECT_EQ(slots_of(*reader).slots[1].use, SlotUse::kFree);
}

TEST_F(PoolLookTest, TheNewestStepIsDrawnAndAnotherOneReplacesIt) {
  begin(300, 400);
  commit(1, 7);
  FieldImages images;
  images.watch(path_, "");
  const Json first = ask_until(images, {}, has_image);
  ASSERT_TRUE(has_image(first)) << first;
  EXPECT_EQ(first["variables"][0]["name"], "u");
  EXPECT_EQ(first["image"]["iteration"], 1);
  EXPECT_EQ(first["image"]["image_rows"], 256);
  EXPECT_EQ(first["image"]["max"], 7);
  EXPECT_TRUE(ask(images, {}, 1)["image"].is_null()) << "the client has it";
  commit(2, 8);
  const Json second = ask_until(images, {}, [](const Json& answer) { return answer["image"]["iteration"] == 2; });
  EXPECT_EQ(second["image"]["max"], 8);
  EXPECT_EQ(ask_until(images, {.variable = "v"}, has_why)["why"], "no such variable");
}

TEST_F(PoolLookTest, WhileTheNewestStepIsReducedTheOneBeforeIsDrawn) {
  begin(30, 40);
  commit(1, 7);
  commit(2, 8, false);
  const RingReader reader = RingReader::open(path_);
  EXPECT_EQ(slots_of(reader).slots[1].use, SlotUse::kWritten);
  const DrawnField drawn = draw_newest(reader, grids_in(reader).front(), CellShows::kExtreme);
  ASSERT_TRUE(drawn.image) << drawn.why;
  EXPECT_EQ(drawn.iteration, 1u);
  EXPECT_EQ(drawn.image->max, 7);
}

TEST_F(PoolLookTest, ALargeFieldIsDrawnOnlyWhenThatIsAskedFor) {
  begin(2000, 2001);
  commit(1, 7);
  FieldImages images;
  images.watch(path_, "");
  const Json asked = ask_until(images, {}, [](const Json& answer) { return !answer["variables"].empty(); });
  ASSERT_EQ(asked["variables"].size(), 1u);
  EXPECT_EQ(asked["variables"][0]["large"], true);
  EXPECT_TRUE(asked["image"].is_null());
  const Json drawn = ask_until(images, {.variable = "u", .large = true}, has_image);
  EXPECT_EQ(drawn["image"]["iteration"], 1);
  EXPECT_LE(drawn["image"]["cells"].get<std::string>().size(), 87'384u);
}

TEST_F(PoolLookTest, ADamagedStepIsNamedAndNotDrawn) {
  begin(30, 40);
  commit(1, 7);
  const RingReader reader = RingReader::open(path_);
  const KeptSlot newest = *reader.find(kNewestCommit);
  pool_->ring().writable_payload(newest.slot)[100] ^= std::byte{1};
  const DrawnField drawn = draw_newest(reader, grids_in(reader).front(), CellShows::kExtreme);
  EXPECT_FALSE(drawn.image);
  expect_has(drawn.why, {"damaged"});
}

TEST_F(PoolLookTest, AMissingPoolIsNamed) {
  FieldImages images;
  images.watch("", "elsewhere");
  EXPECT_EQ(ask_until(images, {}, has_why)["why"], "elsewhere");
  images.watch(path_, "");
  const Json answer = ask_until(images, {}, [](const Json& a) { return a["why"] != "elsewhere" && a["why"] != ""; });
  expect_has(answer["why"].get<std::string>(), {path_});
}

TEST_F(PoolLookTest, APoolThatIsTruncatedOrReplacedWhileItIsWatchedEndsNobody) {
  begin(300, 400);
  commit(1, 7);
  pool_.reset();
  writer_.reset();
  const std::string copy = folder_.file("copy.pool");
  std::filesystem::copy_file(path_, copy);
  WatchedPool watched;
  const RingReader* reader = watched.at(copy);
  ASSERT_NE(reader, nullptr);
  const FieldGrid grid = grids_in(*reader).front();
  ASSERT_EQ(truncate(copy.c_str(), 4096), 0);
  EXPECT_FALSE(draw_newest(*reader, grid, CellShows::kExtreme).image) << "what is left is not what was committed";
  EXPECT_EQ(watched.at(copy), nullptr);
  EXPECT_NE(watched.why(), "");
  std::filesystem::remove(copy);
  EXPECT_EQ(watched.at(copy), nullptr);
  std::filesystem::copy_file(path_, copy);
  reader = watched.at(copy);
  ASSERT_NE(reader, nullptr) << watched.why();
  EXPECT_TRUE(draw_newest(*reader, grid, CellShows::kExtreme).image);
}

/// Returns one more kind of image than FieldImages can keep. The kinds need eight variables in addition to u.
std::vector<FieldQuery> kinds() {
  std::vector<FieldQuery> all;
  for (std::size_t i = 0; i <= FieldImages::kMostQueries; ++i) {
    all.push_back({.variable = i < 2 ? "u" : "u" + std::to_string(i / 2),
                   .shows = i % 2 == 0 ? CellShows::kExtreme : CellShows::kMean});
  }
  return all;
}
constexpr int kMoreVariables = FieldImages::kMostQueries / 2;

TEST_F(PoolLookTest, ViewersOfManyKindsAreAllServed) {
  begin(3, 4, kMoreVariables);
  commit(1, 7);
  FieldImages images(std::chrono::hours(1));
  images.watch(path_, "");
  std::vector<FieldQuery> waiting = kinds();
  waiting.pop_back();
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!waiting.empty() && std::chrono::steady_clock::now() < give_up) {
    std::erase_if(waiting, [&](const FieldQuery& query) {
      const Json answer = ask(images, query);
      EXPECT_FALSE(is_refused(answer));
      return has_image(answer);
    });
  }
  EXPECT_EQ(waiting.size(), 0u) << "kinds that got no image";
}

TEST_F(PoolLookTest, OneKindTooManyIsRefusedAndTakesNoOtherOnesPlace) {
  begin(3, 4, kMoreVariables);
  commit(1, 7);
  FieldImages images(std::chrono::hours(1));
  images.watch(path_, "");
  const std::vector<FieldQuery> all = kinds();
  for (std::size_t i = 0; i < FieldImages::kMostQueries; ++i) EXPECT_FALSE(is_refused(ask(images, all[i]))) << i;
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(is_refused(ask(images, all.back())));
  for (std::size_t i = 0; i < FieldImages::kMostQueries; ++i) {
    EXPECT_TRUE(has_image(ask_until(images, all[i], has_image))) << i;
    EXPECT_TRUE(is_refused(ask(images, all.back())));
  }
}

TEST_F(PoolLookTest, AKindThatNobodyAsksForAnyMoreLeavesItsPlace) {
  begin(3, 4, kMoreVariables);
  commit(1, 7);
  FieldImages images(std::chrono::milliseconds(50));
  images.watch(path_, "");
  const std::vector<FieldQuery> all = kinds();
  for (const FieldQuery& query : all) ask(images, query);
  EXPECT_TRUE(has_image(ask_until(images, all.back(), has_image)));
}

TEST_F(PoolLookTest, NamesThatDoNotExistTakeNoPlaceFromThoseThatDo) {
  begin(3, 4);
  commit(1, 7);
  FieldImages images(std::chrono::hours(1));
  images.watch(path_, "");
  for (int i = 0; i < 100; ++i) images.answer({.variable = "v" + std::to_string(i)}, 0);
  EXPECT_TRUE(has_image(ask_until(images, {}, has_image)));
}

TEST(FieldImagesTest, ItRestsInProportionToItsWorkButNeverForLong) {
  using namespace std::chrono_literals;
  EXPECT_EQ(FieldImages::rest_after(0ns), 0ns);
  EXPECT_EQ(FieldImages::rest_after(3ms), 60ms);
  EXPECT_EQ(FieldImages::rest_after(1h), FieldImages::kLongestRest);
}

/// Runs `draw` in a forked child, which has no leases, as on a file system without leases.
template <class Draw>
bool holds_without_leases(const Draw& draw) {
  const pid_t child = fork();
  if (child == 0) _exit(draw() ? 0 : 1);
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_F(PoolLookTest, WithoutLeasesTheImageIsTheSame) {
  begin(301, 403, 1);  // several chunks, none of which ends at the end of a row
  std::iota(payload_.begin(), payload_.end(), 0.0);
  ASSERT_EQ(writer_->begin(), CommitStatus::kOk);
  writer_->copy(reinterpret_cast<const std::byte*>(payload_.data()), step_of(1));
  ASSERT_EQ(writer_->commit(), CommitStatus::kOk);
  writer_->end_lease();
  const RingReader reader = RingReader::open(path_);
  for (const FieldGrid& grid : grids_in(reader)) {
    for (const CellShows shows : {CellShows::kExtreme, CellShows::kMean}) {
      const DrawnField drawn = draw_newest(reader, grid, shows);
      ASSERT_TRUE(drawn.image) << drawn.why;
      EXPECT_TRUE(holds_without_leases([&] {
        HeldStep step;
        if (reader.hold(kNewestCommit, step) != HoldOutcome::kNoLeases) return false;
        const DrawnField other = draw_newest(reader, grid, shows);
        return other.image && other.image->cells == drawn.image->cells && other.image->max == drawn.image->max &&
               other.image->min == drawn.image->min && other.iteration == 1;
      })) << grid.name;
    }
  }
}

TEST_F(PoolLookTest, WithoutLeasesADamagedStepIsNamedAndNotDrawn) {
  begin(301, 403);
  commit(1, 7);
  const RingReader reader = RingReader::open(path_);
  const FieldGrid grid = grids_in(reader).front();
  const KeptSlot newest = *reader.find(kNewestCommit);
  pool_->ring().writable_payload(newest.slot)[900'000] ^= std::byte{1};
  EXPECT_TRUE(holds_without_leases([&] {
    const DrawnField drawn = draw_newest(reader, grid, CellShows::kExtreme);
    return !drawn.image && drawn.why.find("damaged") != std::string::npos;
  }));
}

}  // namespace
}  // namespace ringside
