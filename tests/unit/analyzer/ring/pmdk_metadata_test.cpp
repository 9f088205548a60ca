// SPDX-License-Identifier: BSD-3-Clause
// An owner never gives libpmemobj a file that could crash libpmemobj: libpmemobj's own bytes in a pool are constant,
// and a hash covers all bytes on which libpmemobj relies. Readers are not affected. In these tests, libpmemobj runs in
// child processes, because a test process that was killed could report nothing.
#include "common/ring/pmdk_metadata.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "analyzer/pool/ring_pool.hpp"
#include "common/platform/error.hpp"
#include "common/platform/unique_fd.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "tests/unit/analyzer/pool/offered_run.hpp"
#include "tests/unit/child_process.hpp"
#include "tests/unit/failure_line.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

constexpr std::uint64_t kPmdkRows = 1000;
constexpr std::uint32_t kSlots = 3;

/// A writable mapping of a file, with which tests read and damage the file.
class Bytes {
 public:
  explicit Bytes(const std::string& path) {
    const UniqueFd fd(open(path.c_str(), O_RDWR | O_CLOEXEC));
    bytes_ = std::filesystem::file_size(path);
    void* mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    base_ = static_cast<std::byte*>(mapped);
  }
  ~Bytes() { munmap(base_, bytes_); }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  std::span<std::byte> file() const { return {base_, bytes_}; }
  std::byte& operator[](std::uint64_t offset) const { return base_[offset]; }
  void set_word(std::uint64_t offset, std::uint64_t value) const { std::memcpy(base_ + offset, &value, sizeof(value)); }

 private:
  std::uint64_t bytes_ = 0;
  std::byte* base_ = nullptr;
};

/// Runs `action` in a child process, and returns the child's exit code: that of the Error, or 0 without an Error. A
/// child that hangs is killed.
int status_of_child(const std::function<void()>& action) {
  return testing::status_of_child([&] {
    alarm(60);
    action();
    return 0;
  });
}

class PmdkMetadataTest : public ::testing::Test {
 protected:
  PmdkMetadataTest() { make_pool(path_, kSlots, run_of(kPmdkRows), 4); }

  std::uint64_t ring_begin() const { return RingReader::open(path_).ring().geometry().superblock_offset[0]; }
  bool is_intact() const { return RingReader::open(path_).ring().pmdk_metadata_intact(); }

  /// Damages the pool, opens it in a child process, and restores it. The child must not crash, and must refuse the pool
  /// unless the damage is harmless.
  void expect_survivable(const Bytes& pool, const std::vector<std::byte>& good, const std::function<void()>& damage,
                         const std::string& what) const {
    damage();
    const int status = status_of_child([&] { RingPool::open(path_); });
    ASSERT_TRUE(WIFEXITED(status)) << what << " killed its owner: signal " << WTERMSIG(status);
    const auto code = static_cast<ExitCode>(WEXITSTATUS(status));
    EXPECT_TRUE(code == ExitCode::kDone || code == ExitCode::kDamaged) << what << ": exit code " << WEXITSTATUS(status);
    std::memcpy(pool.file().data(), good.data(), good.size());
  }

  testing::TemporaryFolder folder_;
  std::string path_ = folder_.file("x.pool");
};

TEST_F(PmdkMetadataTest, NothingThatHappensToAPoolChangesIt) {
  EXPECT_TRUE(is_intact()) << "after its creation and four commits";
  { const RingPool pool = RingPool::open(path_); }
  EXPECT_TRUE(is_intact()) << "after another owner";
  {
    const RingPool pool = RingPool::open(path_);
    EXPECT_TRUE(is_intact()) << "under an owner";
  }
  status_of_child([&] {
    const RingPool pool = RingPool::open(path_);
    raise(SIGKILL);
  });
  EXPECT_TRUE(is_intact()) << "after an owner that was killed";
  { const RingPool pool = RingPool::open(path_); }
  EXPECT_TRUE(is_intact()) << "after the owner that came next";
}

TEST_F(PmdkMetadataTest, NothingChangesTheMetadataOnPersistentMemory) {
  setenv("PMEM_IS_PMEM_FORCE", "1", 1);
  setenv("RINGSIDE_ALLOW_FORCED_PMEM", "1", 1);
  const std::string path = folder_.file("dax.pool");
  { const RingPool pool = RingPool::create(path, RingShape::x_only(kPmdkRows), kSlots); }
  status_of_child([&] {
    const RingPool pool = RingPool::open(path);
    raise(SIGKILL);
  });
  { const RingPool pool = RingPool::open(path); }
  EXPECT_TRUE(RingReader::open(path).ring().pmdk_metadata_intact());
  unsetenv("PMEM_IS_PMEM_FORCE");
  unsetenv("RINGSIDE_ALLOW_FORCED_PMEM");
}

TEST_F(PmdkMetadataTest, EveryConstantByteIsCovered) {
  const Bytes pool(path_);
  const std::uint64_t end = ring_begin();
  const auto changes = [](std::uint64_t offset) {  // from libpmemobj's own code: shutdown state, run_id, runtime
    return (offset >= 4032 && offset < 4088) || (offset >= 6152 && offset < 6160) || (offset >= 6688 && offset < 8192);
  };
  std::mt19937_64 random(1);
  for (std::uint64_t trial = 0; trial < 400; ++trial) {
    const std::uint64_t offset = trial % 2 == 0 ? random() % 8192 : random() % end;
    pool[offset] ^= std::byte{1};
    EXPECT_EQ(is_intact(), changes(offset)) << "byte " << offset;
    pool[offset] ^= std::byte{1};
  }
}

TEST_F(PmdkMetadataTest, NoFlippedBitKillsAnOwner) {
  const Bytes pool(path_);
  const std::vector<std::byte> good(pool.file().begin(), pool.file().begin() + static_cast<long>(ring_begin()));
  std::mt19937_64 random(2);
  for (int trial = 0; trial < 300; ++trial) {
    // Half of the flips are in the first two pages, where nearly every byte matters.
    const std::uint64_t offset = random() % (trial % 2 == 0 ? 8192 : good.size());
    const auto bit = static_cast<int>(random() % 8);
    const auto flip = [&] { pool[offset] ^= std::byte{1} << bit; };
    ASSERT_NO_FATAL_FAILURE(expect_survivable(pool, good, flip, fmt::format("bit {} of byte {}", bit, offset)));
  }
}

TEST_F(PmdkMetadataTest, NoWordKillsAnOwner) {
  const Bytes pool(path_);
  const std::vector<std::byte> good(pool.file().begin(), pool.file().begin() + static_cast<long>(ring_begin()));
  // First, the words whose damage has killed the process: the heap's size, a lane's log that is replayed over other
  // bytes, a chunk of size 0. After these, the words that no hash covers: every word of the shutdown state and of the
  // runtime area, and run_id.
  std::vector<std::uint64_t> offsets = {6176, 6160, 8192, 8464, 9224, 3155080, 3154008};
  for (std::uint64_t offset = 4032; offset < 4088; offset += 8) offsets.push_back(offset);
  for (std::uint64_t offset = 6688; offset < 8192; offset += 56) offsets.push_back(offset);
  offsets.push_back(6152);
  for (const std::uint64_t offset : offsets) {
    for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}, std::uint64_t{1} << 40}) {
      const auto what = fmt::format("word {} at byte {}", value, offset);
      ASSERT_NO_FATAL_FAILURE(expect_survivable(
          pool, good, [&] { pool.set_word(offset, value); }, what));
    }
  }
}

TEST_F(PmdkMetadataTest, ADamagedPoolIsRefusedInOneLineAndStillRead) {
  const Bytes pool(path_);
  pool[6176] ^= std::byte{1};  // the heap's size: libpmemobj would access memory behind the mapping
  EXPECT_THROW(RingPool::open(path_), UnownablePoolError);
  const std::string line = failure_line([&] { RingPool::open(path_); }, ExitCode::kDamaged);
  for (const char* part : {path_.c_str(), "libpmemobj", "export", "--overwrite"}) {
    EXPECT_NE(line.find(part), std::string::npos) << line;
  }
  const RingReader reader = RingReader::open(path_);
  std::vector<double> x(kPmdkRows);
  ASSERT_EQ(kept_iterations(reader.ring()), (Iterations{2, 3, 4}));
  for (const KeptSlot& kept : reader.recover().kept) {
    ASSERT_EQ(reader.read(kept, x.data()).status, ReadStatus::kOk);
    EXPECT_EQ(x, iterate(kept.header.iteration, kPmdkRows));
  }
}

TEST(PmdkMetadataHashTest, HasItsGoldenValue) {  // a separate script computed it from docs/formats/ring_format.md
  std::vector<std::byte> file(16384);
  for (std::size_t i = 0; i < file.size(); ++i) file[i] = static_cast<std::byte>((i * i) >> 8 & 0xff);
  const std::uint64_t heap_offset = 8192;
  std::memcpy(file.data() + 5136, &heap_offset, sizeof(heap_offset));
  EXPECT_EQ(pmdk_metadata_hash(file, 12288), 0x61d0a16e550418a1u);
}

TEST(PmdkMetadataHashTest, CoversTheHeadersOfLaterZonesAndNotTheirChunks) {
  // 33 GiB of address space; only touched pages take memory.
  constexpr std::uint64_t kBytes = std::uint64_t{33} << 30;
  constexpr std::uint64_t kHeap = 3153920;
  constexpr std::uint64_t kZone = (512 << 10) + (std::uint64_t{65528} << 18);
  void* mapped = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) GTEST_SKIP() << "no 33 GiB of address space here";
  const std::span<std::byte> file(static_cast<std::byte*>(mapped), kBytes);
  std::memcpy(file.data() + 5136, &kHeap, sizeof(kHeap));
  const auto hash = [&] { return pmdk_metadata_hash(file, 4 << 20); };
  const std::uint64_t before = hash();
  for (const std::uint64_t zone : {1u, 2u}) {
    const std::uint64_t begin = kHeap + 1024 + zone * kZone;
    for (const auto& [offset, covered] : {std::pair<std::uint64_t, bool>{begin - 1, false},
                                          {begin, true},
                                          {begin + (512 << 10) - 1, true},
                                          {begin + (512 << 10), false}}) {
      file[offset] = std::byte{1};
      EXPECT_EQ(hash() != before, covered) << "zone " << zone << ", byte " << offset;
      file[offset] = std::byte{0};
    }
  }
  munmap(mapped, kBytes);
}

TEST(PmdkMetadataHashTest, ReadsNothingOutsideTheFile) {
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{4090}, std::size_t{5140}, std::size_t{5144}, std::size_t{9000}}) {
    std::vector<std::byte> file(bytes, std::byte{0xff});  // exact size: AddressSanitizer detects any access behind it
    pmdk_metadata_hash(file, 4096);
    pmdk_metadata_hash(file, ~std::uint64_t{0});
  }
}

}  // namespace
}  // namespace ringside
