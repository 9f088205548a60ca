// SPDX-License-Identifier: BSD-3-Clause
// Whole programs with hostile peers or very few descriptors: the user gets a documented exit code and one line.
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "common/platform/unique_fd.hpp"
#include "tests/pipeline/pipeline_fixture.hpp"

namespace ringside {
namespace {

using namespace testing::names;
namespace fs = std::filesystem;

class HostileTest : public PipelineTest {
 protected:
  /// Runs `ringside run` from a folder in which the other two programs are these shell scripts.
  Finished run_among(const std::string& analyzer, const std::string& producer) const {
    const fs::path bin = folder_.file("bin");
    fs::create_directory(bin);
    fs::copy_file(fs::path(RINGSIDE_BIN_DIR) / "ringside", bin / "ringside", fs::copy_options::overwrite_existing);
    write_script(bin / "ringside-analyzer", analyzer);
    write_script(bin / "ringside-producer", producer);
    const fs::path program = fs::relative(bin / "ringside", RINGSIDE_BIN_DIR);
    return run(program.string(), run_arguments("grid:10", {"--peer-timeout=1", "--on-analyzer-loss=stop", "--quiet"}));
  }

  /// A script that reports that it is ready, and then runs `end`.
  static std::string ready_then(const std::string& end) {
    return "for a; do case $a in --report-fd=*) fd=${a#*=};; esac; done\n"
           "eval \"echo '{\\\"event\\\":\\\"ready\\\"}' >&$fd\"\n" +
           end;
  }
  /// A script that reports that it is ready, and exits with 0 on SIGTERM; it gets this signal when its producer has
  /// ended.
  static std::string ready_until_stopped() { return "trap 'exit 0' TERM\n" + ready_then("while :; do :; done"); }

  UniqueFd connect_silently(const std::string& socket) const {
    UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    std::copy(socket.begin(), socket.end(), to.sun_path);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0) << errno_text(errno);
    return fd;
  }

 private:
  static void write_script(const fs::path& path, const std::string& text) {
    std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
    fs::permissions(path, fs::perms::owner_all);
  }
};

TEST_F(HostileTest, AnUndocumentedExitCodeIsNotPassedOn) {
  for (const char* number : {"1", "77", "127", "255"}) {
    const std::string ends = std::string("exit ") + number;
    const std::string said = std::string("ended with exit code ") + number;
    expect_refusal(4, run_among(ends, "exit 0"), {"the analyzer " + said});
    expect_refusal(4, run_among("trap '' TERM\n" + ready_then(ends), "exit 0"), {"the analyzer " + said});
    expect_refusal(4, run_among(ready_until_stopped(), ends), {"the producer " + said});
  }
}

TEST_F(HostileTest, ADeathBySignalIsALostPeer) {
  for (const char* signal : {"ABRT", "SEGV", "KILL"}) {
    const std::string dies = std::string("ulimit -c 0; kill -") + signal + " $$";
    expect_has(expect_exit(4, run_among(ready_then(dies), "exit 0")).err, {"the analyzer was killed by signal"});
    EXPECT_EQ(run_among(ready_until_stopped(), dies).exit_code, 4) << signal;
  }
}

TEST_F(HostileTest, TheDocumentedExitCodesArePassedOn) {
  for (const int number : {2, 3, 5}) {
    const std::string ends = "exit " + std::to_string(number);
    EXPECT_EQ(run_among(ends, "exit 0").exit_code, number);
    EXPECT_EQ(run_among(ready_until_stopped(), ends).exit_code, number);
  }
}

TEST_F(HostileTest, WithTooFewDescriptorsEveryProgramSaysSoBeforeItBegins) {
  const auto few = limiting(RLIMIT_NOFILE, 10);
  const std::vector<std::pair<std::string, Words>> programs = {
      {"ringside-analyzer", {"--socket=" + socket_, "--pool=" + pool_}},
      {"ringside-producer", {"--matrix=grid:10", "--socket=" + socket_}},
      {"ringside", run_arguments("grid:10")},
      {"ringside", {"serve", "--socket=" + socket_, "--listen=127.0.0.1:0"}},
      {"ringside", {"tail", "--socket=" + socket_}},
      {"ringside", {"stop", "--socket=" + socket_}}};
  for (const auto& [program, arguments] : programs) {
    const Finished ended = run(program, arguments, few);
    EXPECT_EQ(ended.exit_code, static_cast<int>(ExitCode::kSystem)) << program << " " << arguments.front() << ended.err;
    EXPECT_EQ(ended.death_signal, 0) << program << " " << arguments.front();
    expect_one_line(ended.err, {"descriptors", "ulimit -n"});
  }
  EXPECT_FALSE(fs::exists(pool_));
}

TEST_F(HostileTest, ASoftLimitThatIsTooSmallIsRaised) {
  const Finished ended = run("ringside", run_arguments("grid:10", {"--quiet"}), [] {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = 10;
    setrlimit(RLIMIT_NOFILE, &limit);
  });
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

TEST_F(HostileTest, AProducerRunsWhile200ConnectionsToItsAnalyzerSayNothing) {
  Service analyzer({"--socket", socket_, "--pool", pool_, "--once"});
  std::vector<UniqueFd> half_open;
  for (int i = 0; i < 200; ++i) half_open.push_back(connect_silently(socket_));
  expect_exit(0, run("publish_from_your_solver", {socket_}));
  expect_has(expect_exit(0, analyzer.finish()).err, {"event=turned_away peers="});
}

}  // namespace
}  // namespace ringside
