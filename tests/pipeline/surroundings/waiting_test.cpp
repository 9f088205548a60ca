// SPDX-License-Identifier: BSD-3-Clause
// No command waits for a file that another user has put, or that is by mistake, where the command reads or writes. Most
// of these files are named pipes: an ordinary open of a pipe waits for the other end.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/pipeline/pipeline_fixture.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using namespace testing::names;

class WaitingTest : public PipelineTest {
 protected:
  void SetUp() override { ASSERT_EQ(mkfifo(pipe_.c_str(), 0600), 0); }

  /// The alarm kills a command that waits, long before the test's time limit.
  Finished run_unless_it_waits(const std::string& program, const Words& arguments) const {
    const Finished ended = run(program, arguments, [this] {
      setenv("TMPDIR", shared_.c_str(), 1);
      unsetenv("XDG_RUNTIME_DIR");
      alarm(100);
    });
    EXPECT_EQ(ended.death_signal, 0) << program << " " << arguments.front() << " waited";
    return ended;
  }

  const std::string pipe_ = folder_.file("pipe");
  const std::string shared_ = [this] {
    fs::create_directory(folder_.file("tmp"));
    return folder_.file("tmp");
  }();
};

TEST_F(WaitingTest, ARunIgnoresForeignFilesUnderItsFoldersName) {
  ASSERT_EQ(mkfifo((shared_ + "/ringside-abcdef").c_str(), 0666), 0);
  fs::create_symlink(pipe_, shared_ + "/ringside-ghijkl");
  std::ofstream(shared_ + "/ringside-mnopqr") << "text";
  fs::create_directory(shared_ + "/ringside-stuvwx");
  ASSERT_EQ(mkfifo((shared_ + "/ringside-stuvwx/analyzer.socket.lock").c_str(), 0666), 0);
  expect_exit(0, run_unless_it_waits("ringside", run_arguments("grid:20", {"--iterations=5"})));
  EXPECT_TRUE(fs::exists(shared_ + "/ringside-abcdef"));
}

TEST_F(WaitingTest, APipeInAFilesPlaceIsRefusedByEachCommand) {
  const std::string matrix = folder_.write("edges.txt", "0 1\n1 0\n");
  const std::vector<Words> commands = {
      {"report", pipe_, "-o", folder_.file("x.html")},
      {"run", "--matrix", "grid:20", "--config", pipe_},
      {"info", pipe_},
      {"verify", pipe_},
      {"replay", pipe_},
      {"export", pipe_, "--output", folder_.file("x.npy")},
      {"wipe", pipe_, "--yes"},
      {"cache", pipe_},
      {"serve", "--token-file", pipe_, "--listen", "127.0.0.1:0"},
      {"run", "--mode=dram", "--matrix", pipe_},
      {"run", "--mode=dram", "--solver=jacobi", "--matrix", matrix, "--rhs", pipe_},
      {"run", "--matrix", matrix, "--pool", pipe_},
  };
  for (const Words& arguments : commands) {
    SCOPED_TRACE(arguments.front());
    expect_refusal(2, run_unless_it_waits("ringside", arguments), {pipe_});
  }
}

TEST_F(WaitingTest, APipeThatNoProcessReadsIsRefusedAsAnOutput) {
  const Finished refused = expect_exit(
      3, run_unless_it_waits("ringside", {"run", "--mode=dram", "--matrix=grid:9", "--quiet", "--summary", pipe_}));
  expect_one_line(refused.err, {"--summary: cannot write '" + pipe_ + "': no process reads it"});
}

TEST_F(WaitingTest, APipeInAJournalsPlaceIsRefused) {
  ASSERT_EQ(run_it("grid:20", {"--iterations=5"}).exit_code, 0);
  fs::remove(pool_ + ".journal-0");
  fs::rename(pipe_, pool_ + ".journal-0");
  EXPECT_EQ(run_unless_it_waits("ringside", {"tail", "--pool", pool_}).exit_code, 2);
}

TEST_F(WaitingTest, APipeInTheLockFilesPlaceIsRefused) {
  fs::rename(pipe_, socket_ + ".lock");
  expect_has(expect_exit(3, run_unless_it_waits("ringside-analyzer", {"--pool", pool_, "--socket", socket_})).err,
             {"cannot open the lock file '" + socket_ + ".lock': found a named pipe"});
}

TEST_F(WaitingTest, APipeInThePlaceOfTheListOfClientsIsRefused) {
  const std::string keys = folder_.file("keys");
  expect_done({"keygen", keys});
  fs::remove(keys + "/clients.allowed");
  fs::rename(pipe_, keys + "/clients.allowed");
  expect_refusal(3, run_unless_it_waits("ringside", {"keygen", keys, "--client", "desk"}),
                 {keys + "/clients.allowed", "found a named pipe"});
}

}  // namespace
}  // namespace ringside
