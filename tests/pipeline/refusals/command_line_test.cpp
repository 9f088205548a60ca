// SPDX-License-Identifier: BSD-3-Clause
// User errors that are found before a run begins, tested with the real programs: command lines, settings files,
// environments and limits. In every case, the program ends with the expected exit code, writes exactly one line without
// control characters to standard error, and leaves no file behind.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "common/platform/version.hpp"
#include "tests/pipeline/pipeline_fixture.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

using namespace testing::names;

struct Case {
  std::string program;
  Words arguments;
  Words fragments = {};
  int exit_code = 2;
  std::vector<std::pair<std::string, std::string>> environment = {};
};

bool is_free_of_control_characters(const std::string& line) {
  return std::none_of(line.begin(), line.end(),
                      [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; });
}

class CommandLineTest : public ::testing::Test {
 protected:
  void expect_one_clean_line(const Finished& ran, int exit_code, const Words& fragments) const {
    EXPECT_EQ(ran.exit_code, exit_code) << ran.err;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    EXPECT_EQ(ran.err.rfind("ringside", 0), 0u) << ran.err;
    EXPECT_TRUE(ran.err.ends_with('\n') && is_free_of_control_characters(ran.err.substr(0, ran.err.size() - 1)))
        << ran.err;
    expect_lacks(ran.err, {"unexpected failure"});
    EXPECT_LT(ran.err.size(), 6000u) << ran.err;
    expect_has(ran.err, fragments);
  }

  /// Runs the program in the test's folder, with the case's environment. The alarm kills a program that serves although
  /// it should end.
  Finished run_there(const Case& tried, const std::function<void()>& in_child = {}) const {
    return run(tried.program, tried.arguments, [&] {
      for (const char* name : {"XDG_RUNTIME_DIR", "TMPDIR", "RINGSIDE_LOG_LEVEL", "RINGSIDE_ISA", "JOURNAL_STREAM"}) {
        unsetenv(name);
      }
      for (const auto& [name, value] : tried.environment) setenv(name.c_str(), value.c_str(), 1);
      if (chdir(work_.c_str()) != 0) _exit(126);
      alarm(60);
      if (in_child) in_child();
    });
  }

  void expect_refused(const std::vector<Case>& cases) const {
    for (const Case& tried : cases) {
      std::string shown = tried.program;
      for (const std::string& word : tried.arguments) shown.append(" ").append(word, 0, 60);
      for (const auto& [name, value] : tried.environment)
        shown.append(" ").append(name).append("=").append(value, 0, 60);
      SCOPED_TRACE(shown);
      const Finished ran = run_there(tried);
      expect_one_clean_line(ran, tried.exit_code, tried.fragments);
      EXPECT_TRUE(std::filesystem::is_empty(work_)) << "left something behind";
      std::filesystem::remove_all(work_);
      std::filesystem::create_directory(work_);
    }
  }

  std::string settings(const std::string& text) {
    return "--config=" + folder_.write(std::to_string(++files_) + ".toml", text);
  }

  TemporaryFolder folder_;
  const std::string work_ = [this] {
    std::filesystem::create_directory(folder_.file("work"));
    return folder_.file("work");
  }();
  int files_ = 0;
};

const std::string kLong(5000, 'a');
const Words kRun = {"run", "--matrix=grid:9", "--quiet", "--iterations=2", "--overwrite"};

TEST_F(CommandLineTest, FlagsAreTrueOrFalseInEveryProgram) {
  const Words solve = {"run", "--matrix=grid:9"};
  std::vector<Case> cases;
  for (const std::string value : {"", "7", "1.5", "yes", "99999999999999999999"}) {
    cases.push_back({"ringside", joined(solve, {"--overwrite=" + value}), {"--overwrite", "expected true or false"}});
    cases.push_back({"ringside-analyzer", {"--once=" + value}, {"--once"}});
    cases.push_back({"ringside-producer", {"--matrix=grid:9", "--shared-core=" + value}, {"--shared-core"}});
    cases.push_back({"ringside", {"wipe", "p", "--yes=" + value}, {"--yes"}});
    cases.push_back({"ringside", {"tail", "--json=" + value}, {"--json"}});
    cases.push_back({"ringside", {"doctor", "--json=" + value}, {"--json"}});
  }
  for (const std::string value : {"\"\"", "7", "1.5", "[true]", "\"true\"", "on"}) {
    const std::string overwrite = settings("overwrite = " + value);
    cases.push_back({"ringside", joined(solve, {overwrite}), {"overwrite", "line 1"}});
    cases.push_back({"ringside-analyzer", {settings("once = " + value)}, {"once", "line 1"}});
    cases.push_back({"ringside-producer", {"--matrix=grid:9", overwrite}, {"overwrite", "line 1"}});
  }
  expect_refused(cases);
}

std::vector<Words> every_command_line() {
  std::vector<Words> commands = {{"ringside"}, {"ringside-analyzer"}, {"ringside-producer"}};
  std::istringstream names(run("ringside", {"--help-as=subcommands"}).out);
  for (std::string name; names >> name;) commands.push_back({"ringside", name});
  return commands;
}

TEST_F(CommandLineTest, EveryProgramAndSubcommandPrintsItsVersion) {
  const std::string version = run("ringside", {"--version"}).out;
  EXPECT_EQ(version, std::string(ringside::version()) + "\n");
  ASSERT_GT(every_command_line().size(), 15u);
  for (const Words& command : every_command_line()) {
    for (const char* flag : {"-V", "--version"}) {
      Words arguments(command.begin() + 1, command.end());
      arguments.push_back(flag);
      const Finished ran = run(command.front(), arguments);
      EXPECT_EQ(ran.exit_code, 0) << command.back() << ": " << ran.err;
      EXPECT_EQ(ran.out, version) << command.back();
    }
  }
}

TEST_F(CommandLineTest, HelpOfASubcommandHasTwoForms) {
  for (const Words& command : every_command_line()) {
    if (command.size() < 2) continue;
    const Finished ran = expect_done({"help", command.back()});
    expect_has(ran.out, {"Usage: ringside " + command.back()});
    EXPECT_EQ(ran.err, "");
    const Finished long_form = expect_done({command.back(), "--help"});
    EXPECT_EQ(long_form.err, "");
    EXPECT_EQ(ran.out, long_form.out);
  }
  const Finished top = expect_done({"--help"});
  EXPECT_EQ(top.err, "");
  EXPECT_EQ(expect_done({"help"}).out, top.out);
  expect_refused({{"ringside", {"help", "fly"}, {"SUBCOMMAND: found 'fly', expected run|tail|"}}});
}

TEST_F(CommandLineTest, NumbersAreDecimalInEveryProgram) {
  std::vector<Case> cases;
  for (const char* option : {"--iterations", "--every", "--buffers", "--slots", "--passes", "--peer-timeout",
                             "--tolerance", "--damping", "--journal-size", "--producer-cores", "--analyzer-cores"}) {
    for (const char* number : {"0x10", "1_0", "99999999999999999999999", "+1", "1 "}) {
      const bool is_tolerance = std::string(option) == "--tolerance" && number[0] == '9';  // valid for a tolerance
      if (!is_tolerance)
        cases.push_back(
            {"ringside", {"run", "--matrix=grid:9", std::string(option) + "=" + number}, {option, "found '"}});
    }
  }
  cases.push_back({"ringside", {"run", "--matrix=grid:0x9"}, {"grid:0x9", "1 to 65535"}});
  cases.push_back({"ringside", {"run", "--matrix=rmat:4:4:99999999999999999999"}, {"18446744073709551615"}});
  cases.push_back({"ringside", {"tail", "--since=0x10"}, {"--since", "0x10", "18446744073709551615"}});
  cases.push_back({"ringside", {"tail", "--since=99999999d"}, {"--since", "36500d"}});
  cases.push_back({"ringside", {"serve", "--listen=127.0.0.1:0x50"}, {"--listen", "0 to 65535"}});
  cases.push_back({"ringside", {"serve", "--listen=127.0.0.1:65536"}, {"--listen", "0 to 65535"}});
  cases.push_back({"ringside-analyzer", {"--report-fd=0x3"}, {"--report-fd", "from 0 to 2147483647"}});
  cases.push_back({"ringside-analyzer", {"--cores=0-65536"}, {"--cores", "from 0 to 65535"}});
  cases.push_back({"ringside-analyzer", {settings("slots = 0x10\n")}, {"--slots", "0x10", "3 to 1024", "line 1"}});
  cases.push_back({"ringside-analyzer", {settings("slots = 1_0\n")}, {"--slots", "1_0", "3 to 1024", "line 1"}});
  expect_refused(cases);
}

TEST_F(CommandLineTest, EveryInvalidCommandLineIsRefusedInTheSameForm) {
  expect_refused({
      {"ringside", {}, {"found no subcommand", "run, tail"}},
      {"ringside", {"fl\x1b[31my\n"}, {R"('fl\x1b[31my\n')", "run, tail"}},
      {"ringside", {"run"}, {"--matrix: found none"}},
      {"ringside", {"run", "--matrix"}, {"--matrix: found no value"}},
      {"ringside", {"run", "--matrix", "--overwrite"}, {"--matrix: found no value before '--overwrite'"}},
      {"ringside", {"run", "--matrix=a", "--matrix=b"}, {"--matrix: found 'a' and 'b'", "once"}},
      {"ringside", {"run", "--matrix=a", "b"}, {"found 'b', expected options only"}},
      {"ringside",
       {"run", "--matrix=a",
        "--sp\x1b"
        "eed"},
       {R"(found '--sp\x1beed')"}},
      {"ringside", {"run", "--matrix=a", "-q"}, {"found '-q'"}},
      {"ringside", {"run", "--matrix=a", "--solver=\x1b[2J"}, {R"(--solver: found '\x1b[2J', expected pagerank|)"}},
      {"ringside", {"run", "--matrix=grid:9", "--on-non-finite=halt"}, {"--on-non-finite: found 'halt'"}},
      {"ringside", {"run", "--matrix=grid:9", "--trigger=x.l2 > 1: frieze"}, {"'frieze'"}},
      {"ringside", {"info"}, {"POOL: found none, expected FILE"}},
      {"ringside", {"info", ""}, {"POOL: found an empty value"}},
      {"ringside", {"info", "a", "b"}, {"found 'b', expected one argument (POOL)"}},
      {"ringside", {"export", "p"}, {"--output: found none"}},
      {"ringside",
       {"export", "p", "--output=x", "--format=xlsx"},
       {"--format: found 'xlsx', expected npy|npz|csv|mtx"}},
      {"ringside", {"cache", "grid:3", "--solver=gauss"}, {"--solver: found 'gauss', expected pagerank|"}},
      {"ringside", {"report", "-o"}, {"--output: found no value"}},
      {"ringside", {"compare"}, {"RUN: found none, expected POOL"}},
      {"ringside",
       {"compare", "a.pool"},
       {"RUN: found only a.pool, expected at least 2 (POOL|POOL@RUN_ID|SUMMARY.json)"}},
      {"ringside-analyzer", {"--slots"}, {"--slots: found no value, expected K"}},
      {"ringside-analyzer", {"x"}, {"found 'x', expected options only"}},
      {"ringside-producer", {}, {"--matrix: found none"}},
      {"ringside-producer", {"--matrix=grid:9", "--damping=abc"}, {"--damping: found 'abc', expected a number"}},
  });
}

TEST_F(CommandLineTest, AnOptionWithoutEffectIsNotIgnored) {
  expect_refused({
      {"ringside",
       {"run", "--matrix=grid:9", "--solver=jacobi", "--damping=.9", "--mode=dram"},
       {"--damping: found with --solver jacobi"}},
      {"ringside-producer", {"--matrix=grid:9", "--passes=3"}, {"--passes: found with --mode pipeline"}},
      {"ringside-producer", {"--matrix=grid:9", "--reduce=transfer"}, {"--reduce: found with --mode pipeline"}},
  });
}

TEST_F(CommandLineTest, ASettingsFileIsReadOrRefusedWithAReason) {
  const auto analyzer = [](const std::string& config, const Words& fragments) {
    return Case{"ringside-analyzer", {config}, fragments};
  };
  expect_refused({
      analyzer("--config=" + folder_.file("missing\x1b.toml"), {"--config", R"(missing\x1b.toml)", "No such file"}),
      analyzer("--config=" + kLong, {"--config", "File name too long"}),
      analyzer(settings(std::string("socket = \"a\0b\"\n", 15)), {"line 1", "control character 0x00"}),
      analyzer(settings("slots = 8\nslot\x1b = 8\n"), {"line 2", "control character 0x1b"}),
      analyzer(settings("slots = 8\nslot = 8\n"), {"line 2", "unknown key 'slot'"}),
      analyzer(settings("slots = 8\nslots = 9\n"), {"line 2", "'slots' again"}),
      analyzer(settings("[analyzer]\nslots = 8\n"), {"line 2", "not a quoted text in the table [analyzer]"}),
      analyzer(settings("[slots]\na = \"8\"\n"), {"--slots: found a table", "line 1"}),
      analyzer(settings("[trigger]\na = \"8\"\n"), {"--trigger: '8': found no action", "line 1"}),
      analyzer(settings("\xef\xbb\xbfslots = 2\n"), {"--slots: found '2'", "line 1"}),
      analyzer(settings("pool = \"" + std::string(200'000, 'a') + "\"\n"), {"--pool", "(200000 bytes)", "line 1"}),
      {"ringside",
       {"run", settings("matrix = \"" + std::string(200'000, 'a') + "\"\n")},
       {"--matrix", "(200000 bytes)"}},
  });
}

TEST_F(CommandLineTest, AFolderForTheSocketsIsFoundWhereTheNamedOneAllowsNone) {
  const std::string too_long = folder_.path() + "/" + std::string(60, 't');
  ASSERT_EQ(mkdir(too_long.c_str(), 0700), 0);
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"/nonexistent", "'/nonexistent' (No such file or directory)"},
      {too_long, "(its path has more than "},
      {"/no\x1b[31m\nthing", R"('/no\x1b[31m\nthing')"},
  };
  int number = 0;
  for (const auto& [named, found] : cases) {
    const std::string pool = "--pool=" + folder_.path() + "/" + std::to_string(number++);
    const Finished ran =
        run_there({"ringside", {"run", "--matrix=grid:9", "--quiet", "--iterations=2", "--durability=process", pool}},
                  [named = named] {
                    unsetenv("XDG_RUNTIME_DIR");
                    setenv("TMPDIR", named.c_str(), 1);
                  });
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    expect_has(ran.err,
               {"ringside: warning: TMPDIR: the folder for the sockets cannot be in", found, "; it is in /tmp\n"});
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  }
}

TEST_F(CommandLineTest, AnInvalidEnvironmentVariableIsNamed) {
  const Words solve = {"run", "--matrix=grid:9", "--quiet", "--iterations=2"};
  expect_refused({
      {"ringside", solve, {"RINGSIDE_ISA: found 'avx9'", "plain, avx2 or avx512"}, 2, {{"RINGSIDE_ISA", "avx9"}}},
      {"ringside", solve, {"--log-level: found 'loud'", "RINGSIDE_LOG_LEVEL"}, 2, {{"RINGSIDE_LOG_LEVEL", "loud"}}},
      {"ringside-producer", {"--matrix=grid:9"}, {"--log-level: found 'x\\x1b'"}, 2, {{"RINGSIDE_LOG_LEVEL", "x\x1b"}}},
  });
}

TEST_F(CommandLineTest, ARuntimeFolderThatIsRelativeOrMissingIsPassedOver) {
  for (const char* folder : {"relative", "/nonexistent", ""}) {
    EXPECT_EQ(expect_exit(0, run_there({"ringside", kRun, {}, 0, {{"XDG_RUNTIME_DIR", folder}}})).err, "");
  }
}

TEST_F(CommandLineTest, InvalidVariablesOfAServiceManagerAreIgnored) {
  for (const std::string& socket : {std::string("nonsense"), kLong, std::string("@"), std::string("/dev/null")}) {
    const Finished ran = expect_exit(
        0,
        run_there(
            {"ringside", kRun, {}, 0, {{"NOTIFY_SOCKET", socket}, {"WATCHDOG_USEC", "0x10"}, {"WATCHDOG_PID", "-1"}}}));
    EXPECT_EQ(ran.err, "");
  }
}

TEST_F(CommandLineTest, NoPathControlsTheTerminal) {
  const std::string path = "a\x1b[31mb\nc\x7f\xc2\x9b";
  const std::string shown = R"(a\x1b[31mb\nc\x7f\xc2\x9b)";
  std::vector<Case> cases;
  for (const char* command : {"info", "verify", "replay", "report"}) {
    cases.push_back({"ringside", {command, path}, {shown}});
  }
  cases.push_back({"ringside", {"wipe", "--yes", path}, {shown}});
  cases.push_back({"ringside", {"export", path, "--output=x"}, {shown}});
  cases.push_back({"ringside", {"cache", path}, {shown}});
  cases.push_back({"ringside", {"tail", "--pool", path}, {shown}});
  cases.push_back({"ringside", {"tail", "--once", "--socket", path}, {shown}, 4});
  cases.push_back({"ringside", {"run", "--mode=dram", "--matrix=" + path}, {shown}});
  cases.push_back({"ringside", {"run", "--matrix=grid:9", "--pool=" + path + "/p"}, {shown}, 3});
  cases.push_back({"ringside", {"run", "--matrix=grid:9", "--summary=" + path + "/s"}, {shown}, 3});
  cases.push_back({"ringside-producer", {"--matrix=" + path}, {shown}});
  expect_refused(cases);
}

TEST_F(CommandLineTest, WhatIsPrintedOfAPathDoesNotSteerTheTerminalEither) {
  const std::string pool = "a\x1b[31mb\nc.pool";
  const std::string shown = R"(a\x1b[31mb\nc.pool)";
  const auto is_clean = [&](const Words& arguments) {
    const Finished ran = run_there({"ringside", arguments});
    EXPECT_EQ(ran.exit_code, 0) << arguments.front() << ": " << ran.err;
    EXPECT_NE((ran.out + ran.err).find(shown), std::string::npos) << ran.out << ran.err;
    EXPECT_EQ((ran.out + ran.err).find('\x1b'), std::string::npos) << arguments.front() << ": " << ran.out << ran.err;
  };
  is_clean({"run", "--matrix=grid:9", "--iterations=9", "--pool=" + pool});
  for (const char* command : {"info", "verify", "replay"}) is_clean({command, pool});
  is_clean({"export", pool, "--output=x\x1b.npy"});
  is_clean({"report", pool, "-o", pool + ".html"});
  is_clean({"wipe", "--yes", pool});
}

TEST_F(CommandLineTest, AnAnalyzersLogIsOneLineAnEvent) {
  Service analyzer({"--socket=" + folder_.file("s"), "--pool=" + folder_.file("a\x1b[31mb\nc.pool")});
  const Finished ended = expect_exit(0, analyzer.stop(SIGTERM));
  expect_has(ended.err, {R"(a\x1b[31mb\nc.pool)"});
  EXPECT_EQ(ended.err.find('\x1b'), std::string::npos) << ended.err;
}

TEST_F(CommandLineTest, ADeletedWorkingFolderIsReportedAsAnExpectedFailure) {
  const std::string gone = folder_.file("gone");
  for (const Case& tried : {Case{"ringside", {"run", "--matrix=grid:9", "--quiet"}, {"ringside.pool"}, 3},
                            Case{"ringside-analyzer", {"--socket=" + folder_.file("s"), "--pool=p"}, {"p"}, 3},
                            Case{"ringside", {"cache", "grid:9"}, {"grid-9"}, 3}}) {
    std::filesystem::create_directory(gone);
    const Finished ran = run_there(tried, [&] {
      if (chdir(gone.c_str()) != 0 || rmdir(gone.c_str()) != 0) _exit(126);
    });
    expect_one_clean_line(ran, tried.exit_code, tried.fragments);
  }
}

TEST_F(CommandLineTest, ASmallLimitIsNamedBeforeALibraryDiesOfIt) {
  const Words solve = {"run", "--matrix=grid:300", "--quiet", "--iterations=2", "--durability=process"};
  for (const rlim_t kib : std::vector<rlim_t>{128, 255}) {
    expect_one_clean_line(run_there({"ringside", solve}, limiting(RLIMIT_STACK, kib << 10)), 3, {"ulimit -s"});
  }
# ifndef __SANITIZE_ADDRESS__  // AddressSanitizer needs more than any of these limits
  for (const rlim_t mib : std::vector<rlim_t>{5, 20, 30, 40}) {
    expect_one_clean_line(run_there({"ringside", solve}, limiting(RLIMIT_DATA, mib << 20)), 3, {});
    std::filesystem::remove_all(work_);
    std::filesystem::create_directory(work_);
  }
#endif
  expect_one_clean_line(run_there({"ringside", solve}, limiting(RLIMIT_FSIZE, 4096)), 3, {"ulimit -f"});
}

TEST_F(CommandLineTest, AUsersLimitOfProcessesIsNamed) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to become a user without other processes";
  constexpr uid_t kNobodys = 2'013'265;  // no process of this machine belongs to this user
  ASSERT_EQ(chmod(folder_.path().c_str(), 0755), 0);
  ASSERT_EQ(chown(work_.c_str(), kNobodys, kNobodys), 0);
  for (const rlim_t processes : std::vector<rlim_t>{1, 2, 3, 4, 5}) {
    const Finished ran = run_there(
        {"ringside", {"run", "--matrix=grid:300", "--quiet", "--iterations=2", "--durability=process"}}, [processes] {
          const rlimit limit{processes, processes};
          setenv("ASAN_OPTIONS", "detect_leaks=0:detect_odr_violation=0",
                 1);  // the search for leaks runs in a separate process
          if (setrlimit(RLIMIT_NPROC, &limit) != 0 || setuid(kNobodys) != 0) _exit(125);
        });
    expect_one_clean_line(ran, 3, {"Resource temporarily unavailable"});
  }
}

TEST_F(CommandLineTest, ALimitOnTheSizeOfFilesIsSaidOnce) {
  constexpr rlim_t kBytes = 2'048'000;  // less than one iterate, but more than the libraries need
  const Case tried{"ringside", {"run", "--matrix=grid:1000", "--quiet"}};
  expect_one_clean_line(run_there(tried, limiting(RLIMIT_FSIZE, kBytes)), 3, {"(ulimit -f)"});
}

TEST_F(CommandLineTest, ArgumentsThatAreTooLongTogetherAreReportedAsTooLong) {
  // The kernel allows a quarter of the stack limit, here 256 KiB, for arguments and environment: enough for this
  // environment or for the options in the file, but not for both.
  const std::string value(16000, 'a');
  const std::string config = settings("matrix = \"" + value + "\"\nrhs = \"" + value +
                                      "\"\ncache = true\ncache-dir = \"" + value + "\"\nmode = \"dram\"\n");
  const std::string filler(110'000, 'x');
  const Case tried{"ringside", {"run", config}, {}, 3, {{"FILLER_1", filler}, {"FILLER_2", filler}}};
  expect_one_clean_line(run_there(tried, limiting(RLIMIT_STACK, 1 << 20)), 3,
                        {"ringside-producer", "Argument list too long"});
}

}  // namespace
}  // namespace ringside
