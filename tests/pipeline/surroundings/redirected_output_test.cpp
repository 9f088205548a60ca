// SPDX-License-Identifier: BSD-3-Clause
// Outputs that are one of the command's own descriptors (`--output /dev/stdout >> FILE`): existing content remains, all
// bytes arrive, and no message for the user is written between them.
#include <fcntl.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <tuple>
#include <utility>

#include "tests/pipeline/pipeline_fixture.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using namespace testing::names;

class RedirectedOutputTest : public PipelineTest {
 protected:
  void SetUp() override { keep_a_run(); }

  /// Redirects the descriptor to the log, as the shell's `DESCRIPTOR> log` (O_TRUNC) and `DESCRIPTOR>> log` (O_APPEND).
  std::function<void()> redirect(int descriptor, int flags) const {
    return [log = log_, descriptor, flags] { dup2(open(log.c_str(), O_WRONLY | O_CREAT | flags, 0600), descriptor); };
  }

  Finished export_to(const std::string& output, const std::function<void()>& in_child = {}) const {
    return expect_done({"export", pool_, "--output", output}, in_child);
  }

  const std::string log_ = write_file("log", "keep\n");
};

TEST_F(RedirectedOutputTest, AnExportToARedirectedStandardOutputHasItsExactBytes) {
  const Finished done = export_to("/dev/stdout", redirect(STDOUT_FILENO, O_TRUNC));
  EXPECT_TRUE(content_of(log_) == export_last(pool_));
  EXPECT_NE(done.err.find("iteration 5"), std::string::npos) << "the confirmation: " << done.err;
}

TEST_F(RedirectedOutputTest, AnExportIsAppendedWhereItsDescriptorAppends) {
  const std::tuple<std::string, int> outputs[] = {
      {"/dev/stdout", STDOUT_FILENO}, {"-", STDOUT_FILENO}, {log_, STDOUT_FILENO},
      {"/dev/stderr", STDERR_FILENO}, {"/dev/fd/7", 7},     {"/proc/self/fd/7", 7}};
  for (const auto& [output, descriptor] : outputs) {
    write_file("log", "keep\n");
    const Finished done = export_to(output, redirect(descriptor, O_APPEND));
    EXPECT_TRUE(content_of(log_) == "keep\n" + export_last(pool_)) << output;
    expect_has(descriptor == STDOUT_FILENO ? done.err : done.out, {"iteration 5"});
  }
}

TEST_F(RedirectedOutputTest, AnExportContinuesWhereStandardOutputStands) {
  const auto behind_the_text = [log = log_] {
    const int fd = open(log.c_str(), O_WRONLY);
    lseek(fd, 0, SEEK_END);
    dup2(fd, STDOUT_FILENO);
  };
  export_to("/proc/self/fd/1", behind_the_text);
  EXPECT_TRUE(content_of(log_) == "keep\n" + export_last(pool_));
}

TEST_F(RedirectedOutputTest, AnExportGoesThroughAPipe) {
  for (const char* name : {"/dev/stdout", "/dev/fd/1"}) {
    EXPECT_TRUE(export_to(name).out == export_last(pool_)) << name;
  }
  const Finished done = export_to("/dev/stderr");
  EXPECT_TRUE(done.err == export_last(pool_));
  expect_has(done.out, {"iteration 5"});
}

TEST_F(RedirectedOutputTest, WhereBothStreamsAreOneFileItHoldsTheOutputAlone) {
  const auto both = [first = redirect(STDOUT_FILENO, O_APPEND)] {
    first();
    dup2(STDOUT_FILENO, STDERR_FILENO);
  };
  for (const char* name : {"/dev/stdout", "/dev/stderr"}) {
    write_file("log", "keep\n");
    export_to(name, both);
    EXPECT_TRUE(content_of(log_) == "keep\n" + export_last(pool_)) << name;
  }
}

TEST_F(RedirectedOutputTest, ADescriptorThatIsNotOpenIsRefused) {
  expect_refusal(3, run("ringside", {"run", "--matrix=grid:9", "--mode=dram", "--summary=/dev/fd/77"}),
                 {"--summary: cannot write '/dev/fd/77'"});
}

TEST_F(RedirectedOutputTest, ASummaryToStandardOutputIsAloneThere) {
  const Words arguments = {"run", "--matrix=grid:9", "--mode=dram", "--summary=/dev/stdout"};
  const Finished piped = expect_done(arguments);
  EXPECT_EQ(Json::parse(piped.out).at("mode"), "dram");
  EXPECT_NE(piped.err.find("ringside run: done"), std::string::npos) << "the account: " << piped.err;
  expect_done(arguments, redirect(STDOUT_FILENO, O_APPEND));
  const std::string text = content_of(log_);
  ASSERT_EQ(text.rfind("keep\n{", 0), 0u) << text;
  EXPECT_EQ(Json::parse(text.substr(5)).at("mode"), "dram");
}

TEST_F(RedirectedOutputTest, AReportToStandardOutputIsAloneThere) {
  const Finished done = expect_done({"report", pool_, "-o", "/dev/stdout"}, redirect(STDOUT_FILENO, O_APPEND));
  const std::string text = content_of(log_);
  EXPECT_EQ(text.rfind("keep\n<!", 0), 0u) << text.substr(0, 40);
  EXPECT_EQ(text.substr(text.size() - 8), "</html>\n");
  expect_has(done.err, {"wrote"});
}

TEST_F(RedirectedOutputTest, ADashIsStandardOutputAndNothingElseIsPrintedThere) {
  const auto there = [folder = folder_.path()] {
    if (chdir(folder.c_str()) != 0) _exit(126);
  };
  const Finished exported_one = expect_done({"export", pool_, "-o", "-"}, there);
  EXPECT_TRUE(exported_one.out == export_last(pool_));
  EXPECT_EQ(exported_one.err.rfind("standard output: iteration 5", 0), 0u) << exported_one.err;

  const Finished reported = expect_done({"report", pool_, "-o-"}, there);
  EXPECT_TRUE(reported.out.starts_with("<!") && reported.out.ends_with("</html>\n")) << reported.out.substr(0, 40);
  EXPECT_EQ(reported.err, "ringside report: wrote standard output\n");

  const Finished ran = expect_done({"run", "--matrix=grid:9", "--mode=dram", "--summary", "-"}, there);
  EXPECT_EQ(Json::parse(ran.out).at("mode"), "dram");
  expect_has(ran.err, {"ringside run: done"});

  EXPECT_FALSE(fs::exists(folder_.file("-")));
}

TEST_F(RedirectedOutputTest, APoolThatStandardOutputAppendsToIsRefused) {
  const std::string before = content_of(pool_);
  const auto to_pool = [pool = pool_] { dup2(open(pool.c_str(), O_WRONLY | O_APPEND), STDOUT_FILENO); };
  for (const auto& [output, named] : {std::pair{"/dev/stdout", "/dev/stdout"}, {"-", "/proc/self/fd/1"}}) {
    expect_refusal(2, run("ringside", {"export", pool_, "--output", output}, to_pool),
                   {std::string("--output: '") + named + "'", "POOL"});
    EXPECT_TRUE(content_of(pool_) == before);
  }
}

TEST_F(RedirectedOutputTest, ADescriptorWithoutRoomIsNamedByItsOption) {
  const Finished failed =
      run("ringside", {"export", pool_, "--output", "/dev/fd/7"}, [] { dup2(open("/dev/full", O_WRONLY), 7); });
  EXPECT_EQ(failed.exit_code, 3);
  expect_one_line(failed.err, {"--output: cannot write '/dev/fd/7': No space left on device"});
}

}  // namespace
}  // namespace ringside
