// SPDX-License-Identifier: BSD-3-Clause
// Damage on the medium: bits of a pool that a real run made are flipped one at a time, in every part that the format
// uses. verify and replay find each flipped bit, report where it is, and lose only the damaged slot. Most of these
// tests run in this process, on a private mapping of the pool; for a few flips, the real commands are run.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <omp.h>
#include <sys/mman.h>

#include <cstring>
#include <random>

#include "analyzer/pool/ring_replay.hpp"
#include "common/platform/error.hpp"
#include "common/platform/unique_fd.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "common/ring/ring_check.hpp"
#include "tests/pipeline/pipeline_fixture.hpp"

namespace ringside {
namespace {

using namespace testing::names;

/// The part of a slot that may be damaged.
enum class Damage { kHeader, kPayload, kReductions };

class MediaDamageTest : public PipelineTest {
 protected:
  void SetUp() override {
    // Commits 5, 6 and 7 are kept. Flipping one bit never changes one of these numbers to 0, which would mean an empty
    // slot, not damage.
    expect_exit(0, run_it("grid:60", {"--iterations=7", "--slots=3"}));
    const UniqueFd fd(open(pool_.c_str(), O_RDONLY | O_CLOEXEC));
    bytes_ = std::filesystem::file_size(pool_);
    void* mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd.get(), 0);
    ASSERT_NE(mapped, MAP_FAILED);
    base_ = static_cast<std::byte*>(mapped);
    shape_ = view().geometry();
    for (const KeptSlot& kept : recover(view()).kept) {
      ASSERT_NE(kept.header.commit_seq & (kept.header.commit_seq - 1), 0u);
      const auto* x = view().values<double>(kept.slot);
      payloads_.emplace(kept.slot, std::vector<double>(x, x + shape_.entries()));
    }
    ASSERT_EQ(payloads_.size(), 3u);
    omp_set_num_threads(1);  // the iterates are small, so that threads would only wait for each other
    seed_ = std::random_device{}();
    if (const char* given = std::getenv("RINGSIDE_TEST_SEED")) seed_ = std::stoul(given);
    random_.seed(seed_);
    RecordProperty("seed", std::to_string(seed_));
  }
  void TearDown() override {
    if (base_ != nullptr) munmap(base_, bytes_);
    if (HasFailure()) std::printf("the same again: RINGSIDE_TEST_SEED=%lu\n", seed_);
  }

  RingView view() const { return RingView::parse({base_, bytes_}, "x.pool"); }
  void flip(std::uint64_t offset, std::uint64_t bit) const { base_[offset] ^= std::byte{1} << (bit % 8); }
  std::uint64_t any_bit() { return random_() % 8; }
  std::uint64_t meta(std::uint32_t slot) const { return shape_.slots[slot].meta_offset; }

  /// Flips one bit, calls `expect`, and flips the bit back.
  template <class Expect>
  void with_flipped(std::uint64_t offset, std::uint64_t bit, const Expect& expect) const {
    SCOPED_TRACE("byte " + std::to_string(offset) + ", bit " + std::to_string(bit));
    flip(offset, bit);
    expect();
    flip(offset, bit);
  }

  /// Expects that verify and replay find this damage in this slot, and that the other slots are unchanged.
  void expect_damage(std::uint32_t slot, Damage damage, const PayloadCheck& expected = {}) const {
    const RingView ring = view();
    EXPECT_TRUE(check_twins(ring).intact());
    const Recovery recovery = recover(ring);
    EXPECT_EQ(recovery.damaged,
              damage == Damage::kHeader ? std::vector<std::uint32_t>{slot} : std::vector<std::uint32_t>{});
    ASSERT_EQ(recovery.kept.size() + recovery.damaged.size(), 3u);
    RingReplay replay(ring);
    std::vector<double> out(shape_.entries());
    for (const KeptSlot& kept : recovery.kept) {
      const SlotCheck check = check_slot(ring, kept);
      const ReplayedIterate iterate = replay.replay(kept);
      EXPECT_EQ(check.damaged(), kept.slot == slot);
      if (kept.slot != slot) {
        EXPECT_EQ(iterate.verdict, ReplayVerdict::kEqual);
        expect_exported(ring, kept, out);
      } else if (damage == Damage::kReductions) {
        EXPECT_TRUE(check.results_damaged() && check.payload.intact());
        EXPECT_EQ(iterate.verdict, ReplayVerdict::kReductionsDamaged);
        expect_exported(ring, kept, out);
      } else {
        EXPECT_EQ(check.payload.damaged_chunks, expected.damaged_chunks);
        EXPECT_EQ(check.payload.table_intact, expected.table_intact);
        EXPECT_EQ(iterate.verdict, ReplayVerdict::kDamaged);
        EXPECT_EQ(iterate.payload.damaged_chunks, expected.damaged_chunks);
        EXPECT_EQ(read_payload(ring, kept.slot, kept.header, out.data()).status, ReadStatus::kDamaged);
      }
    }
  }

  /// Expects that `export` would write the values that the solver computed.
  void expect_exported(const RingView& ring, const KeptSlot& kept, std::vector<double>& out) const {
    ASSERT_EQ(read_payload(ring, kept.slot, kept.header, out.data()).status, ReadStatus::kOk);
    EXPECT_EQ(std::memcmp(out.data(), payloads_.at(kept.slot).data(), shape_.payload_bytes()), 0);
  }

  /// Expects that no slot is damaged, and that the replay is complete.
  void expect_iterates_unharmed() const {
    const RingView ring = view();
    const Recovery recovery = recover(ring);
    ASSERT_EQ(recovery.kept.size(), 3u);
    RingReplay replay(ring);
    for (const KeptSlot& kept : recovery.kept) {
      EXPECT_FALSE(check_slot(ring, kept).damaged());
      EXPECT_EQ(replay.replay(kept).verdict, ReplayVerdict::kEqual);
    }
  }

  Json verify_json(int code) const {
    return Json::parse(expect_exit(code, run("ringside", {"verify", pool_, "--json"})).out);
  }

  std::byte* base_ = nullptr;
  std::uint64_t bytes_ = 0;
  RingGeometry shape_{RingShape::x_only(1)};
  std::map<std::uint32_t, std::vector<double>> payloads_;
  std::mt19937_64 random_;
  unsigned long seed_ = 0;
};

TEST_F(MediaDamageTest, EveryBitOfAHeaderCostsItsSlotOnly) {
  for (std::uint32_t slot = 0; slot < 3; ++slot) {
    for (std::uint64_t bit = 0; bit < 8 * sizeof(SlotHeader); ++bit) {
      with_flipped(meta(slot) + bit / 8, bit % 8, [&] { expect_damage(slot, Damage::kHeader); });
    }
  }
}

TEST_F(MediaDamageTest, EveryBitOfAStepDescriptorIsFound) {
  for (std::uint32_t slot = 0; slot < 3; ++slot) {
    for (std::uint64_t bit = 0; bit < 8 * sizeof(StepDescriptor); ++bit) {
      with_flipped(meta(slot) + kStepOffset + bit / 8, bit % 8, [&] {
        expect_damage(slot, Damage::kPayload, {.table_intact = false, .damaged_chunks = {}, .overwritten = false});
      });
    }
  }
}

TEST_F(MediaDamageTest, EveryByteOfStoredResultsIsFoundAndTheIterateIsNotLost) {
  for (std::uint32_t slot = 0; slot < 3; ++slot) {
    for (std::uint64_t byte = 0; byte < sizeof(ResultsHead) + kXOnlyWords * sizeof(std::uint64_t); ++byte) {
      with_flipped(meta(slot) + shape_.results_offset() + byte, any_bit(),
                   [&] { expect_damage(slot, Damage::kReductions); });
    }
  }
}

TEST_F(MediaDamageTest, EveryBitOfAChunkHashIsLocatedToItsChunk) {
  for (std::uint32_t slot = 0; slot < 3; ++slot) {
    for (std::uint64_t bit = 0; bit < 64 * shape_.chunk_count(); ++bit) {
      with_flipped(meta(slot) + shape_.chunk_hashes_offset() + bit / 8, bit % 8, [&] {
        expect_damage(slot, Damage::kPayload,
                      {.table_intact = false, .damaged_chunks = {bit / 64}, .overwritten = false});
      });
    }
  }
}

TEST_F(MediaDamageTest, BitsOfAPayloadAreLocatedToTheirChunk) {
  constexpr int kFlips = 500;
  for (std::uint32_t slot = 0; slot < 3; ++slot) {
    for (int i = 0; i < kFlips; ++i) {
      // Flips a bit in the first byte, then in the last byte, and then in random bytes.
      const std::uint64_t byte = i == 0 ? 0 : i == 1 ? shape_.payload_bytes() - 1 : random_() % shape_.payload_bytes();
      with_flipped(shape_.slots[slot].payload_offset + byte, any_bit(), [&] {
        expect_damage(slot, Damage::kPayload,
                      {.table_intact = true, .damaged_chunks = {byte / shape_.chunk_bytes}, .overwritten = false});
      });
    }
  }
}

TEST_F(MediaDamageTest, EveryBitOfASuperblockIsFoundAndItsTwinServes) {
  std::vector<std::uint64_t> used;
  for (std::uint64_t byte = 0; byte < shape_.superblock_bytes(); ++byte) used.push_back(byte);
  for (std::uint64_t byte = 0; byte < 8; ++byte) used.push_back(shape_.formatted_word_offset() + byte);
  for (int copy : {0, 1}) {
    for (const std::uint64_t byte : used) {
      for (std::uint64_t bit = 0; bit < 8; ++bit) {
        with_flipped(shape_.superblock_offset[copy] + byte, bit, [&] {
          const TwinsCheck twins = check_twins(view());
          EXPECT_FALSE(twins.superblock_intact[copy]);
          EXPECT_TRUE(twins.superblock_intact[1 - copy] && twins.run_entries.empty());
        });
      }
      with_flipped(shape_.superblock_offset[copy] + byte, any_bit(), [&] { expect_iterates_unharmed(); });
    }
  }
}

TEST_F(MediaDamageTest, WithoutAnySuperblockThePoolIsDamagedNotUnfinished) {
  for (std::uint64_t byte = 0; byte < shape_.superblock_bytes(); ++byte) {
    with_flipped(shape_.superblock_offset[0] + byte, any_bit(), [&] {
      with_flipped(shape_.superblock_offset[1] + random_() % shape_.superblock_bytes(), any_bit(), [&] {
        try {
          view();
          ADD_FAILURE() << "found a ring";
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ExitCode::kDamaged) << error.what();
          expect_has(std::string(error.what()), {"both superblocks"});
        }
      });
    });
  }
}

TEST_F(MediaDamageTest, EveryBitOfARunTableEntryIsFoundAndItsTwinServes) {
  const RunReading pristine = view().runs().at(0);
  for (int copy : {0, 1}) {
    const std::uint64_t entry = shape_.run_table_offset[copy] + pristine.index * shape_.run_entry_bytes();
    // The head, the used descriptions, and the tail. The bytes between the last two have no meaning.
    std::vector<std::uint64_t> used;
    const std::uint64_t tail = shape_.run_tail_offset();
    const std::uint64_t described = sizeof(RunEntryHead) + pristine.catalogue.size() * sizeof(ResultDescription);
    for (std::uint64_t bit = 0; bit < 8 * described; ++bit) used.push_back(bit);
    for (std::uint64_t bit = 8 * tail; bit < 8 * shape_.run_entry_bytes(); ++bit) used.push_back(bit);
    for (const std::uint64_t bit : used) {
      with_flipped(entry + bit / 8, bit % 8, [&] {
        const RingView ring = view();
        const TwinsCheck twins = check_twins(ring);
        ASSERT_EQ(twins.run_entries.size(), 1u);
        EXPECT_EQ(twins.run_entries[0].index, pristine.index);
        EXPECT_TRUE(twins.run_entries[0].copy_damaged[copy]);
        const std::optional<RunDescription> found = ring.run(pristine.run.run_id);
        ASSERT_TRUE(found.has_value());
        EXPECT_EQ(std::memcmp(&*found, &pristine.run, sizeof pristine.run), 0);
      });
    }
    with_flipped(entry + 100, any_bit(), [&] { expect_iterates_unharmed(); });
  }
}

TEST_F(MediaDamageTest, TheCommandsNameTheSlotAndTheChunkAndExportTheRest) {
  const KeptSlot middle = recover(view()).kept[1];
  flip_in_file(shape_.slots[middle.slot].payload_offset + shape_.chunk_bytes + 17, 3);
  const Json verified = verify_json(5);
  EXPECT_FALSE(verified["intact"].get<bool>());
  EXPECT_EQ(verified["damaged_slots"], 1);
  EXPECT_EQ(verified["slots"][1]["verdict"], "damaged");
  EXPECT_EQ(verified["slots"][1]["damaged_chunks"], Json::array({1}));

  const Finished replayed = expect_exit(5, run("ringside", {"replay", pool_}));
  expect_has(replayed.out, {"DAMAGED: slot " + std::to_string(middle.slot) + ": 1 of 2 chunks",
                            "3 iterates: 2 equal to what was recorded, 1 DAMAGED"});
  for (const int k : {5, 7}) {
    const Words arguments = {"export", pool_, "--iteration", std::to_string(k), "--output", folder_.file("x.npy")};
    EXPECT_EQ(run("ringside", arguments).exit_code, 0) << k;
  }
  EXPECT_EQ(run("ringside", {"export", pool_, "--iteration=6", "--output", folder_.file("y.npy")}).exit_code, 5);
  EXPECT_FALSE(std::filesystem::exists(folder_.file("y.npy")));
}

TEST_F(MediaDamageTest, TheCommandsNameADamagedHeader) {
  flip_in_file(meta(2) + 5, 1);
  EXPECT_EQ(verify_json(5)["slots"].back(), Json::parse(R"({"slot": 2, "verdict": "damaged header"})"));
  const Finished replayed = expect_exit(5, run("ringside", {"replay", pool_, "--json"}));
  const std::size_t last_line = replayed.out.rfind('\n', replayed.out.size() - 2) + 1;
  EXPECT_EQ(Json::parse(replayed.out.substr(last_line))["damaged_headers"], Json::array({2}));
}

TEST_F(MediaDamageTest, AnAnalyzerMendsWhatIsKeptTwice) {
  const auto before = run("ringside", {"info", pool_}).out;
  flip_in_file(shape_.superblock_offset[1] + 30, 2);
  flip_in_file(shape_.run_table_offset[0] + 600, 2);
  const Json verified = verify_json(5);
  EXPECT_FALSE(verified["superblocks_intact"].get<bool>());
  EXPECT_EQ(verified["damaged_run_records"], Json::parse(R"([{"record": 0, "copies": [0]}])"));
  EXPECT_EQ(verified["damaged_slots"], 0);
  EXPECT_EQ(run("ringside", {"replay", pool_}).exit_code, 5) << "damage is not passed over in silence";
  EXPECT_EQ(run("ringside", {"info", pool_}).out, before) << "the twins serve";

  Service analyzer({"--socket", socket_, "--pool", pool_});
  expect_exit(0, analyzer.stop(SIGTERM));
  expect_intact();
}

TEST_F(MediaDamageTest, WithoutAnySuperblockTheCommandsSaySoInOneLine) {
  for (const std::uint64_t offset : shape_.superblock_offset) flip_in_file(offset, 0);
  for (const char* command : {"verify", "replay", "info"}) {
    expect_refusal(5, run("ringside", {command, pool_}), {pool_, "both superblocks"});
  }
}

}  // namespace
}  // namespace ringside
