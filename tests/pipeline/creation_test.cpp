// SPDX-License-Identifier: BSD-3-Clause
// Readers and runs that open a pool while the pool is made, as real processes. No reader and no run may report the
// creation as damage or as an interrupted creation.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <map>

#include "analyzer/pool/ring_pool.hpp"
#include "tests/pipeline/pipeline_fixture.hpp"

namespace ringside {
namespace {

using namespace testing::names;

class CreationTest : public PipelineTest {
 protected:
  /// Starts a process that makes `pools` pools one after another, at the same path, and then ends. The process removes
  /// most of them at once, but every tenth pool only when `found_complete` has grown.
  pid_t make_pools(int pools, const std::atomic<int>& found_complete) const {
    const pid_t maker = fork();
    if (maker != 0) return maker;
    try {
      for (int made = 0; made < pools; ++made) {
        { const RingPool pool = RingPool::create(pool_, RingShape::x_only(1000), 3); }
        const int before = found_complete;
        while (made % 10 == 0 && found_complete == before) usleep(100);
        unlink(pool_.c_str());
      }
    } catch (const Error& error) {
      fmt::print(stderr, "{}\n", error.what());
      _exit(1);
    }
    _exit(0);
  }

  static bool has_ended(pid_t process, int& status) { return waitpid(process, &status, WNOHANG) == process; }
};

TEST_F(CreationTest, ReadersOfPoolsThatAreBeingMadeNeverFindThemDamaged) {
  void* shared = mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto& found_complete = *new (shared) std::atomic<int>(0);
  const pid_t maker = make_pools(testing::kSanitized ? 100 : 300, found_complete);
  ASSERT_GT(maker, 0);
  const std::array<Words, 4> commands = {
      {{"info", pool_}, {"verify", pool_}, {"replay", pool_}, {"export", pool_, "--output", folder_.file("x.npy")}}};
  std::map<std::string, int> looks;
  int status = 0;
  for (std::size_t turn = 0; !has_ended(maker, status); ++turn) {
    for (int look = 0; look < 100; ++look) {
      try {
        const RingReader reader = RingReader::open(pool_, std::chrono::milliseconds(0));
        EXPECT_TRUE(reader.ring().superblock_intact(0) && reader.ring().superblock_intact(1));
        EXPECT_TRUE(reader.ring().pmdk_metadata_intact());
        ++found_complete;
      } catch (const Error& error) {
        const std::string text = error.what();
        const bool missing = text.find("No such file") != std::string::npos;
        EXPECT_TRUE(missing || error.code() == ExitCode::kSystem) << text;
        ++looks[missing ? "missing" : "being made"];
      }
    }
    const Finished read = run("ringside", commands[turn % commands.size()]);
    const bool nothing_there = read.exit_code == 2 && (read.err.find("No such file") != std::string::npos ||
                                                       read.err.find("holds no iterates") != std::string::npos);
    EXPECT_TRUE(read.exit_code == 0 || read.exit_code == 3 || nothing_there) << read.exit_code << " " << read.err;
  }
  EXPECT_EQ(status, 0);
  EXPECT_GT(looks["being made"], 0);
  EXPECT_GE(found_complete, testing::kSanitized ? 10 : 30);
  munmap(shared, sizeof(std::atomic<int>));
}

TEST_F(CreationTest, TheSecondOfTwoRunsOnANewPoolReportsThatItIsInUse) {
  for (int pair = 0; pair < 10; ++pair) {
    const Words arguments = {"run", "--matrix=grid:20", "--pool=" + pool_, "--quiet", kEndless};
    Process one("ringside", arguments);
    Process other("ringside", arguments);
    while (one.running() && other.running()) usleep(1000);
    Process& loser = one.running() ? other : one;
    Process& winner = one.running() ? one : other;
    expect_refusal(3, loser.finish(), {pool_, "in use by process"});
    expect_exit(130, winner.stop(SIGINT));
    expect_intact();
    std::filesystem::remove(pool_);
    for (const char* log : {".journal-0", ".journal-1"}) std::filesystem::remove(pool_ + log);
  }
}

}  // namespace
}  // namespace ringside
