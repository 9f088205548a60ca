// SPDX-License-Identifier: BSD-3-Clause
#include "common/program/report.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>

#include "common/json/json.hpp"
#include "common/platform/unique_fd.hpp"
#include "common/program/stop_signal.hpp"

namespace ringside {
namespace {

class ReportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
    read_end_.reset(ends[0]);
    write_end_.reset(ends[1]);
  }

  /// Waits for the next line and returns it without its end; empty at the end of the pipe.
  std::string next_line() {
    std::string line;
    for (char c = 0; read(read_end_.get(), &c, 1) == 1 && c != '\n';) line.push_back(c);
    return line;
  }

  UniqueFd read_end_;
  UniqueFd write_end_;
};

TEST_F(ReportTest, LinesOfProgressComeUntilItIsStoppedThenTheFinalOne) {
  std::atomic<int> described{0};
  Report report(write_end_.get());
  report.write({{"event", "loaded"}});
  report.start([&] { return Json{{"event", "progress"}, {"n", ++described}}; });
  EXPECT_EQ(Json::parse(next_line())["event"], "loaded");
  EXPECT_EQ(Json::parse(next_line())["n"], 1);
  EXPECT_EQ(Json::parse(next_line())["n"], 2);
  report.stop();
  const int last = described;
  report.write({{"event", "final"}});
  write_end_.reset();
  for (int n = 3; n <= last; ++n) EXPECT_EQ(Json::parse(next_line())["n"], n);
  EXPECT_EQ(Json::parse(next_line())["event"], "final");
  EXPECT_EQ(next_line(), "");
  EXPECT_EQ(described, last) << "stop returns when nobody describes any more";
}

TEST_F(ReportTest, StoppingTwiceOrWithoutAStartIsFine) {
  Report report(write_end_.get());
  report.stop();
  report.start([] { return Json::object(); });
  report.stop();
  report.stop();
}

TEST_F(ReportTest, ALineLongerThanThePipeComesWhole) {
  const std::string long_text(200'000, 'x');
  std::jthread writer([&] { Report(write_end_.get()).write({{"text", long_text}}); });
  EXPECT_EQ(Json::parse(next_line())["text"], long_text);
}

TEST_F(ReportTest, BytesThatAreNotUtf8AreReplacedInALine) {
  Report(write_end_.get()).write({{"matrix", "caf\xe9.txt"}});
  EXPECT_EQ(Json::parse(next_line())["matrix"], "caf\xef\xbf\xbd.txt");
}

TEST_F(ReportTest, AClosedPipeIsIgnored) {
  const auto pipe_before = signal(SIGPIPE, SIG_DFL);
  const auto size_before = signal(SIGXFSZ, SIG_DFL);
  ignore_write_signals();  // both programs call this first; without it, the write would kill this process
  read_end_.reset();
  Report report(write_end_.get());
  EXPECT_NO_THROW(report.write({{"event", "final"}}));
  report.start([] { return Json::object(); });
  report.stop();
  signal(SIGPIPE, pipe_before);
  signal(SIGXFSZ, size_before);
}

TEST_F(ReportTest, WithoutADescriptorNothingIsDescribed) {
  Report report(-1);
  report.start([]() -> Json {
    ADD_FAILURE();
    return {};
  });
  report.write({{"event", "final"}});
  report.stop();
}

}  // namespace
}  // namespace ringside
