// SPDX-License-Identifier: BSD-3-Clause
// One program that is run to its end: where its output is stored, how it ended, and the effect of a stop.
#include "node/applications/child_process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "common/platform/error.hpp"
#include "node/applications/work_folder.hpp"
#include "tests/unit/failure_line.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

ChildCommand shell(const std::string& script) {
  ChildCommand command;
  command.words = {"/bin/sh", "-c", script};
  return command;
}

TEST(ChildProcess, OutputMessagesFolderAndEnvironmentAreAsGiven) {
  const testing::TemporaryFolder folder;
  ChildCommand command = shell("pwd; echo $RINGSIDE_WORD >&2");
  command.folder = folder.path();
  command.output = folder.file("out");
  command.messages = folder.file("err");
  command.environment = {"RINGSIDE_WORD=given"};
  const ChildEnd end = HeldSignals().run(command);
  EXPECT_TRUE(end.done());
  EXPECT_EQ(std::filesystem::path(testing::content_of(command.output)).filename(),
            std::filesystem::path(folder.path() + "\n").filename());
  EXPECT_EQ(testing::content_of(command.messages), "given\n");
  EXPECT_GT(end.wall_s, 0);
  EXPECT_GT(end.peak_resident_bytes, 0U);
}

TEST(ChildProcess, EachWayToEndIsNamed) {
  const HeldSignals signals;
  EXPECT_EQ(how_it_ended(signals.run(shell("exit 3"))), "it ended with exit code 3");
  EXPECT_EQ(how_it_ended(signals.run(shell("kill -9 $$"))), "signal 9 ended it");
  EXPECT_FALSE(signals.run(shell("exit 3")).done());
}

TEST(ChildProcess, AProgramThatHangsIsStoppedWithAllThatItStarted) {
  const testing::TemporaryFolder folder;
  const std::string pipe = folder.file("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const UniqueFd reader(open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ASSERT_TRUE(reader.valid());
  ChildCommand command = shell("sleep 1000 & wait");
  command.output = pipe;
  command.group = true;
  command.limit_s = 0.2;
  const ChildEnd end = HeldSignals().run(command);
  EXPECT_TRUE(end.timed_out);
  EXPECT_FALSE(end.done());
  EXPECT_EQ(how_it_ended(end).rfind("it was stopped after ", 0), 0U);
  // The pipe ends once the last process that could write to it has ended.
  ASSERT_EQ(fcntl(reader.get(), F_SETFL, 0), 0);
  char byte = 0;
  EXPECT_EQ(read(reader.get(), &byte, 1), 0);
}

TEST(ChildProcess, ASignalThatAsksToStopEndsTheProgramFirst) {
  const HeldSignals signals;
  ChildCommand command = shell("kill -TERM $PPID; exec sleep 1000");
  command.group = true;
  EXPECT_NE(failure_line([&] { (void)signals.run(command); }, ExitCode::kInterrupted), "");
}

TEST(ChildProcess, AProgramThatIsNotThereIsAnError) {
  ChildCommand command;
  command.words = {"/no/such/program"};
  EXPECT_THROW((void)HeldSignals().run(command), Error);
}

TEST(WorkFolderOfAnExperiment, IsRemovedWithItsFiles) {
  const testing::TemporaryFolder folder;
  {
    const WorkFolder work(folder.path());
    std::filesystem::create_directory(work.file("run"));
    EXPECT_FALSE(std::filesystem::is_empty(folder.path()));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  EXPECT_THROW(WorkFolder(folder.file("none")), Error);
}

}  // namespace
}  // namespace ringside
