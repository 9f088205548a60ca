// SPDX-License-Identifier: BSD-3-Clause
// Other users cannot read any file that Ringside makes (summaries and exports: users outside of its group), whatever the
// umask is; and wiping leaves nothing.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "common/platform/unique_fd.hpp"
#include "tests/pipeline/pipeline_fixture.hpp"

namespace ringside {
namespace {

using namespace testing::names;

class PrivacyTest : public PipelineTest {
 protected:
  static void without_umask() { umask(0); }

  /// The modes of all files, sockets and folders below this test's folder, by their paths in that folder.
  std::map<std::string, mode_t> modes() const {
    std::map<std::string, mode_t> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
      struct stat status {};
      EXPECT_EQ(lstat(entry.path().c_str(), &status), 0);
      found[std::filesystem::relative(entry.path(), folder_.path()).string()] = status.st_mode & 07777;
    }
    return found;
  }
};

TEST_F(PrivacyTest, NothingCanBeReadByOthersWhateverTheUmask) {
  const std::string matrix = write_file("g.txt", "0 1\n1 2\n2 0\n2 1\n");
  ASSERT_EQ(chmod(matrix.c_str(), 0600), 0);
  Service analyzer({"--socket", socket_, "--pool", pool_}, without_umask);
  Process producer("ringside-producer",
                   {"--matrix=" + matrix, "--cache", "--socket=" + socket_, "--coordination=messages", kEndless},
                   without_umask);
  ASSERT_TRUE(analyzer.wait_for_err("event=attached"));
  const std::map<std::string, mode_t> while_running = modes();
  EXPECT_GE(while_running.size(), 6u) << "matrix, its cache, socket, lock, socket of the messages, pool";
  for (const auto& [path, mode] : while_running) EXPECT_EQ(mode & 0177, 0u) << path << " " << std::oct << mode;
  producer.stop(SIGINT);
  analyzer.stop(SIGTERM);

  std::filesystem::remove(pool_);
  expect_done(run_arguments(matrix, {"--iterations=5"}), without_umask);
  for (const char* format : {"npy", "csv", "mtx"}) {
    const Words arguments = {"export", pool_, "--format", format, "--output", folder_.file(std::string("x.") + format)};
    expect_done(arguments, without_umask);
  }
  const std::map<std::string, mode_t> afterwards = modes();
  EXPECT_EQ(afterwards.at("test.pool"), 0600u);
  EXPECT_EQ(afterwards.at("summary.json"), 0640u);
  EXPECT_EQ(afterwards.at("x.npy"), 0640u);
  for (const auto& [path, mode] : afterwards) EXPECT_EQ(mode & 0137, 0u) << path << " " << std::oct << mode;
}

TEST_F(PrivacyTest, TheFolderOfARunsSocketIsClosed) {
  const std::string runtime = folder_.file("r");
  std::filesystem::create_directory(runtime);
  chmod(runtime.c_str(), 0700);
  Process running("ringside", run_arguments("grid:20", {kEndless, "--quiet"}), [&] {
    without_umask();
    setenv("XDG_RUNTIME_DIR", runtime.c_str(), 1);
  });
  while (!std::filesystem::exists(pool_)) ASSERT_TRUE(running.running());
  const std::map<std::string, mode_t> while_running = modes();
  EXPECT_GE(while_running.size(), 4u) << "r, its folder, socket and lock; the pool";
  for (const auto& [path, mode] : while_running) EXPECT_EQ(mode & 0077, 0u) << path << " " << std::oct << mode;
  expect_exit(130, running.stop(SIGINT));
  EXPECT_TRUE(std::filesystem::is_empty(runtime));
}

TEST_F(PrivacyTest, ASummaryIsCompleteOrNotThere) {
  write_file("summary.json", "what was there before");
  ASSERT_EQ(run_it("grid:20", {"--iterations=5"}).exit_code, 0);
  EXPECT_EQ(summary()["iterations"], 5);
  EXPECT_EQ(modes().size(), 4u) << "nothing beside pool, its two logs and summary";
}

TEST_F(PrivacyTest, WipingAsksAndNeedsTheOptionYesWithoutATerminal) {
  ASSERT_EQ(run_it("grid:20", {"--iterations=5"}).exit_code, 0);
  const Finished refused = run("ringside", {"wipe", pool_}, [] { close(STDIN_FILENO); });
  EXPECT_EQ(refused.exit_code, 2);
  expect_one_line(refused.err, {pool_, "--yes"});
  expect_intact();
  expect_has(expect_done({"wipe", pool_, "--yes"}).out, {"bytes overwritten with zeros, synced, and deleted"});
  EXPECT_FALSE(std::filesystem::exists(pool_));
  expect_one_line(run("ringside", {"wipe", pool_, "--yes"}).err, {pool_, "No such file"});
}

TEST_F(PrivacyTest, OnATerminalOnlyYesIsYes) {
  ASSERT_EQ(run_it("grid:20", {"--iterations=5"}).exit_code, 0);
  const auto wipe_answering = [&](const std::string& answer) {
    const UniqueFd terminal(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    EXPECT_TRUE(grantpt(terminal.get()) == 0 && unlockpt(terminal.get()) == 0);
    const UniqueFd keyboard(open(ptsname(terminal.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
    EXPECT_EQ(write(terminal.get(), answer.data(), answer.size()), static_cast<ssize_t>(answer.size()));
    return run("ringside", {"wipe", pool_}, [&] { dup2(keyboard.get(), STDIN_FILENO); });
  };
  for (const char* answer : {"no\n", "\n", "y\n", "yes please\n"}) {
    expect_has(expect_exit(2, wipe_answering(answer)).err, {"5 iterates, the newest of iteration 5", "expected yes"});
    expect_intact();
  }
  EXPECT_EQ(wipe_answering("yes\n").exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(pool_));
}

TEST_F(PrivacyTest, APoolInUseIsNotWiped) {
  Process running("ringside", run_arguments("grid:20", {kEndless, "--quiet"}));
  const auto in_use = [&] { return run("ringside", {"info", pool_}).exit_code == 0; };
  while (!in_use()) ASSERT_TRUE(running.running());
  expect_refusal(3, run("ringside", {"wipe", pool_, "--yes"}), {pool_, "in use"});
  expect_exit(130, running.stop(SIGINT));
  expect_intact();
}

TEST_F(PrivacyTest, AFileThatIsNotAPoolIsNotWiped) {
  const std::string letter = write_file("letter", "somebody's\n");
  expect_refusal(2, run("ringside", {"wipe", letter, "--yes"}), {letter, "not a Ringside pool"});
  EXPECT_EQ(std::filesystem::file_size(letter), 11u);
}

}  // namespace
}  // namespace ringside
