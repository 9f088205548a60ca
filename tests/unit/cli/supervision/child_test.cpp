// SPDX-License-Identifier: BSD-3-Clause
// Programs of the user as child processes: their process group, their orphans, and what is known about them.
#include "cli/supervision/child.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>

#include <csignal>

#include "cli/supervision/attached_process.hpp"
#include "tests/unit/allowed_cpus.hpp"
#include "tests/unit/failure_line.hpp"

namespace ringside {
namespace {

UserProgram shell(const std::string& script) {
  return {.words = {"sh", "-c", script}, .environment = {{"RINGSIDE_TEST", "x y"}}, .cpus = allowed_cpus()};
}

void wait_for_end(Child& child) {
  pollfd ended{child.pidfd(), POLLIN, 0};
  poll(&ended, 1, -1);
  child.reap();
}

TEST(ChildTest, AUsersProgramEndsWithItsStatusOrItsSignal) {
  Child exited(shell("test \"$RINGSIDE_TEST\" = 'x y' && exit 7"));
  wait_for_end(exited);
  EXPECT_FALSE(exited.running());
  EXPECT_EQ(exited.exit_code(), 7);
  EXPECT_EQ(exited.death_signal(), 0);
  Child killed(shell("kill -TERM $$"));
  wait_for_end(killed);
  EXPECT_EQ(killed.exit_code(), -1);
  EXPECT_EQ(killed.death_signal(), SIGTERM);
}

TEST(ChildTest, AUsersProgramThatCannotBeExecutedIsABadInput) {
  const UserProgram none{.words = {"/no/such\nprogram"}, .environment = {}, .cpus = allowed_cpus()};
  EXPECT_EQ(failure_line([&] { const Child child(none); }),
            "/no/such\\nprogram: cannot be started: No such file or directory; expected a program in PATH or a path");
}

TEST(ChildTest, AUsersProgramWithoutStreamsReadsAndPrintsNothing) {
  UserProgram program = shell("test /proc/$$/fd/0 -ef /dev/null && test /proc/$$/fd/1 -ef /dev/null");
  program.without_streams = true;
  Child child(program);
  wait_for_end(child);
  EXPECT_EQ(child.exit_code(), 0);
}

TEST(ChildTest, OneThatWritesWithoutEndDoesNotKeepItsReader) {
  Child flooding(Interpreter{.words = {"sh", "-c", "exec yes >&2"}, .environment = {}});
  std::size_t lines = 0;
  while (lines == 0) flooding.read_stderr([&](const std::string&) { ++lines; });  // does not wait for its end
  flooding.signal(SIGKILL);
  wait_for_end(flooding);
  EXPECT_EQ(flooding.death_signal(), SIGKILL);
}

TEST(ChildTest, ASignalReachesTheGroupAlsoAfterTheProgramHasEnded) {
  adopt_orphans();
  Child child(shell("tail -f /dev/null & exit 0"));
  wait_for_end(child);
  const std::vector<pid_t> left = orphans({child.pid()});
  ASSERT_EQ(left.size(), 1u);
  const AttachedProcess orphan(left.front());
  EXPECT_TRUE(orphan.alive());
  EXPECT_TRUE(orphan.is_in_group(child.pid()));
  EXPECT_EQ(orphan.cores(), allowed_cpus());
  child.signal(SIGTERM);
  int status = 0;
  ASSERT_EQ(waitpid(left.front(), &status, 0), left.front());
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
  EXPECT_FALSE(orphan.alive());
  EXPECT_TRUE(orphans({child.pid()}).empty());
}

TEST(ChildTest, AProcessThatIsGoneIsNotAliveAndHasNoCores) {
  const AttachedProcess nobody;
  EXPECT_FALSE(nobody.alive());
  EXPECT_TRUE(nobody.cores().empty());
  nobody.signal(SIGKILL);  // must not reach any process
}

}  // namespace
}  // namespace ringside
