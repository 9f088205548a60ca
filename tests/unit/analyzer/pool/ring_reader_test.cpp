// SPDX-License-Identifier: BSD-3-Clause
#include "common/pool_reader/ring_reader.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "analyzer/pool/ring_pool.hpp"
#include "analyzer/ring/ring_writer.hpp"
#include "common/platform/error.hpp"
#include "tests/unit/analyzer/ring/ring_in_memory.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

constexpr std::uint64_t kReadRows = 50'000;  // six chunks and a part of a seventh one

/// A ring in memory with three commits in four slots.
class RingReaderTest : public ::testing::Test {
 protected:
  std::uint64_t payload_offset() const { return ring_.memory.geometry().slots[newest_.slot].payload_offset; }
  std::uint64_t table_offset() const {
    return ring_.memory.geometry().slots[newest_.slot].meta_offset + ring_.memory.geometry().chunk_hashes_offset();
  }
  ReadResult read() { return read_payload(ring_.memory.ring(), newest_.slot, newest_.header, out_.data()); }
  PayloadCheck check() const { return check_payload(ring_.memory.ring(), newest_.slot, newest_.header); }

  XOnlyRing ring_{kReadRows, 4, 3};
  const KeptSlot newest_ = ring_.newest_kept();
  std::vector<double> out_ = std::vector<double>(kReadRows);
};

TEST_F(RingReaderTest, ReadsWhatWasCommitted) {
  const ReadResult result = read();
  EXPECT_EQ(result.status, ReadStatus::kOk);
  EXPECT_EQ(out_, iterate(3, kReadRows));
  const StepWithScalars expected = step_of(3);
  EXPECT_EQ(std::memcmp(&result.step, &expected, sizeof expected), 0);
}

TEST_F(RingReaderTest, EveryFlippedBitOfThePayloadIsLocatedToItsChunk) {
  std::vector<std::uint64_t> bytes = {0, kReadRows * 8 - 1};  // including the first and the last byte
  for (std::uint64_t chunk = 0; chunk < ring_.memory.geometry().chunk_count(); ++chunk) {
    bytes.push_back(chunk * kChunkBytes + 1234);
  }
  for (const std::uint64_t byte : bytes) {
    ring_.memory.flip_bit(payload_offset() + byte, 6);
    EXPECT_EQ(read().status, ReadStatus::kDamaged);
    EXPECT_EQ(read().damaged_chunk, byte / kChunkBytes);
    EXPECT_EQ(check().damaged_chunks, std::vector<std::uint64_t>{byte / kChunkBytes});
    EXPECT_TRUE(check().table_intact);
    ring_.memory.flip_bit(payload_offset() + byte, 6);
  }
  EXPECT_TRUE(check().intact());
}

TEST_F(RingReaderTest, ADamagedTableOfHashesIsNoticed) {
  ring_.memory.flip_bit(table_offset() + 8 * 4);
  EXPECT_EQ(read().status, ReadStatus::kDamaged);
  EXPECT_FALSE(check().table_intact);
  EXPECT_EQ(check().damaged_chunks, std::vector<std::uint64_t>{4});
}

TEST_F(RingReaderTest, AnotherPayloadWithItsOwnTableIsNotTakenForThisOne) {
  // A state that a power cut may leave on a plain file: an old header with a complete, newer payload.
  const SlotHeader old = *ring_.memory.ring().header(newest_.slot);
  ring_.commit_to(7);
  *ring_.memory.ring().header(newest_.slot) = old;
  EXPECT_EQ(read().status, ReadStatus::kDamaged);
  EXPECT_FALSE(check().intact());
}

TEST_F(RingReaderTest, AHalfOverwrittenPayloadUnderItsOldHeaderIsDamaged) {
  const std::vector<double> newer = iterate(7, kReadRows);
  std::memcpy(ring_.memory.at(payload_offset()), newer.data(), kReadRows * 4);
  EXPECT_EQ(read().status, ReadStatus::kDamaged);
  EXPECT_EQ(check().damaged_chunks.front(), 0u);
}

TEST_F(RingReaderTest, ASlotThatTookAnotherCommitIsReportedAsOverwritten) {
  ring_.commit_to(7);
  EXPECT_EQ(read().status, ReadStatus::kOverwritten);
  EXPECT_TRUE(check().overwritten);
}

TEST_F(RingReaderTest, ASlotThatIsBeingOverwrittenIsReportedAsSuch) {
  ring_.commit_to(6);
  ring_.writer.begin();
  EXPECT_EQ(read().status, ReadStatus::kOverwritten);
}

TEST(RingReaderOpenTest, WorksWithAndWithoutAnOwner) {
  const testing::TemporaryFolder folder;
  const auto path = folder.file("x");
  {
    const RingPool pool = RingPool::create(path, RingShape::x_only(kReadRows), 3);
    RingWriter writer(pool.ring(), pool.persistence(), pool.storage(), Durability::kProcess);
    begin_x_only(writer, run_of(kReadRows));
    const RingReader reader = RingReader::open(path);
    EXPECT_TRUE(reader.recover().kept.empty());
    commit_iterate(writer, 1, kReadRows);
    EXPECT_EQ(reader.recover().newest_seq(), 1u);  // the reader sees the commit at once
    EXPECT_EQ(reader.storage(), pool.storage());
  }
  const RingReader reader = RingReader::open(path);
  const Recovery recovery = reader.recover();
  ASSERT_EQ(recovery.kept.size(), 1u);
  std::vector<double> out(kReadRows);
  EXPECT_EQ(reader.read(recovery.kept[0], out.data()).status, ReadStatus::kOk);
  EXPECT_EQ(out, iterate(1, kReadRows));
  EXPECT_TRUE(reader.verify(recovery.kept[0]).intact());
  EXPECT_EQ(text_of(reader.ring().run({7, 8})->solver), "pagerank");
}

TEST(RingReaderOpenTest, RefusesWhatIsNotAPool) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder.file("text")) << "hello\n";
  std::ofstream(folder.file("empty")).flush();
  ASSERT_EQ(mkfifo(folder.file("fifo").c_str(), 0600), 0);
  for (const char* name : {"missing", "text", "empty", "fifo", "."}) {
    try {
      RingReader::open(folder.file(name));
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kUsage) << error.what();
    }
  }
}

TEST(RingReaderOpenTest, ARunningWriterNeverMakesItReturnATornIterate) {
  const testing::TemporaryFolder folder;
  const RingPool pool = RingPool::create(folder.file("x"), RingShape::x_only(kReadRows), 3);
  RingWriter writer(pool.ring(), pool.persistence(), pool.storage(), Durability::kPower);
  begin_x_only(writer, run_of(kReadRows));
  for (std::uint64_t k = 1; k <= 3; ++k) commit_iterate(writer, k, kReadRows);

  std::atomic<bool> enough{false};
  std::atomic<bool> reading{false};
  int read = 0;
  int overwritten = 0;
  std::thread other([&] {
    const RingReader reader = RingReader::open(folder.file("x"));
    std::vector<double> out(kReadRows);
    do {
      for (const KeptSlot& kept : reader.recover().kept) {
        const ReadResult result = reader.read(kept, out.data());
        EXPECT_NE(result.status, ReadStatus::kDamaged);
        if (result.status == ReadStatus::kOk) {
          EXPECT_EQ(out, iterate(kept.header.iteration, kReadRows));
        }
        ++(result.status == ReadStatus::kOk ? read : overwritten);
      }
      reading = true;
    } while (!enough);
  });
  while (!reading) std::this_thread::yield();
  for (std::uint64_t k = 4; k <= 400; ++k) commit_iterate(writer, k, kReadRows);
  enough = true;
  other.join();
  EXPECT_GT(read, 0);
  EXPECT_EQ(writer.finish(), 0);
}

}  // namespace
}  // namespace ringside
