// SPDX-License-Identifier: BSD-3-Clause
// Shared by the tests of whole runs: a folder with a pool and a summary.
#pragma once

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "common/json/json.hpp"
#include "common/platform/error.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "tests/pipeline/expectations.hpp"
#include "tests/pipeline/process.hpp"
#include "tests/unit/sanitized.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside::testing {

/// A run with this option ends only when it is stopped.
inline const std::string kEndless = "--iterations=1000000000000";

/// A `ringside run` that has reported an iteration.
class IteratingRun : public Process {
 public:
  explicit IteratingRun(const Words& arguments) : Process("ringside", arguments) {
    if (!wait_for_err("iteration ")) throw std::runtime_error("the run ended without an iteration");
  }
};

/// A `ringside-analyzer` that runs as a service: it listens, and logs what happens.
class Service : public Process {
 public:
  explicit Service(Words arguments, const std::function<void()>& in_child = {})
      : Process("ringside-analyzer", with_log(std::move(arguments)), in_child) {
    if (!wait_for_err("event=listening")) throw std::runtime_error("the analyzer does not listen: " + finish().err);
  }

 private:
  static Words with_log(Words arguments) {
    arguments.emplace_back("--log-level=info");
    return arguments;
  }
};

class PipelineTest : public ::testing::Test {
 protected:
  /// The arguments of `ringside run` on grid:SIDE with this test's pool and summary, and `more`.
  Words run_arguments(const std::string& matrix, const Words& more = {}) const {
    Words arguments = {"run", "--matrix=" + matrix, "--pool=" + pool_, "--summary=" + summary_};
    if (coordination_ != "locks") arguments.push_back(coordination());  // "locks" is the default: also test the default
    return joined(arguments, more);
  }

  /// Runs `ringside run` with these arguments to its end.
  Finished run_it(const std::string& matrix, const Words& more = {}, const std::function<void()>& in_child = {}) const {
    return run("ringside", run_arguments(matrix, more), in_child);
  }

  /// The producer's option, in tests that must pass with each kind of coordination.
  std::string coordination() const { return "--coordination=" + coordination_; }

  Json summary() const { return read_json(summary_); }

  static Json read_json(const std::string& path) {
    std::ifstream file(path);
    Json found = Json::try_parse(file);
    EXPECT_TRUE(found.is_object()) << path;
    return found;
  }

  /// Expects that each of these keys has this value.
  static void expect_values(const Json& found, const Json& expected, const char* file = __builtin_FILE(),
                            int line = __builtin_LINE()) {
    for (const auto& [key, value] : expected.items()) {
      if (found[key] != value) ADD_FAILURE_AT(file, line) << key << ": " << found[key] << ", expected " << value;
    }
  }

  /// The output of `ringside info` for the pool.
  Json pool_info() const { return Json::parse(run("ringside", {"info", pool_, "--json"}).out); }

  /// The JSON objects of an output that has one object per line.
  static std::vector<Json> json_lines(const std::string& out) {
    std::vector<Json> objects;
    std::istringstream lines(out);
    for (std::string line; std::getline(lines, line);) objects.push_back(Json::parse(line));
    return objects;
  }

  /// Expects that every slot of the pool is intact.
  void expect_intact() const {
    EXPECT_TRUE(Json::parse(expect_done({"verify", pool_, "--json"}).out).at("intact").get<bool>());
  }

  /// Standard error without the progress that `run` prints on a slow machine, and without the log of a journal that the
  /// analyzer gave up because its disk failed.
  static std::string without_progress(const std::string& err) {
    std::istringstream lines(err);
    std::string kept;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("loading the matrix, ") || line.starts_with("iteration ") ||
          line.find("event=journal_given_up") != std::string::npos) {
        continue;
      }
      kept += line;
      if (!lines.eof()) kept += '\n';  // no newline is added to a last line without one
    }
    return kept;
  }

  /// Expects one line that begins like all errors of Ringside and contains each of `fragments`.
  static void expect_one_line(const std::string& printed, const Words& fragments) {
    const std::string err = without_progress(printed);
    EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
    EXPECT_EQ(err.rfind("ringside", 0), 0u) << err;
    expect_has(err, fragments);
  }

  /// Expects this exit code, and one line that contains each of `fragments`.
  static void expect_refusal(int code, const Finished& ran, const Words& fragments, const char* file = __builtin_FILE(),
                             int line = __builtin_LINE()) {
    expect_one_line(expect_exit(code, ran, file, line).err, fragments);
  }

  /// The pids of `parent`'s children whose program has this name.
  static std::vector<pid_t> children_of(pid_t parent, const std::string& name) {
    std::vector<pid_t> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string pid = entry.path().filename();
      if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
      std::ifstream file(entry.path() / "stat");
      std::string stat;
      std::getline(file, stat);
      const std::size_t open = stat.find('(');
      const std::size_t close = stat.rfind(')');
      if (close == std::string::npos) continue;
      const std::string comm = stat.substr(open + 1, close - open - 1);
      const pid_t its_parent = std::stoi(stat.substr(close + 4));
      // The kernel keeps 15 characters of a name.
      if (its_parent == parent && comm == name.substr(0, 15)) found.push_back(std::stoi(pid));
    }
    return found;
  }

  /// Waits until `parent` has a child of this name other than `former`. Throws std::runtime_error if no such child is
  /// started.
  static pid_t wait_for_child(pid_t parent, const std::string& name, pid_t former = 0) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < give_up) {
      for (const pid_t child : children_of(parent, name)) {
        if (child != former) return child;
      }
    }
    throw std::runtime_error("no child named " + name);
  }

  /// Waits until the pool's newest commit is the `count`-th or a later one. Returns false if no new commit is made for
  /// a long time.
  bool wait_for_commits(std::uint64_t count) const { return wait_for_commits(count, pool_); }
  static bool wait_for_commits(std::uint64_t count, const std::string& pool) {
    constexpr int kLooksWithoutProgress = 6000;  // more than a minute, because a loaded machine can be slow
    std::uint64_t newest = 0;
    for (int looks = 0; looks < kLooksWithoutProgress; ++looks) {
      try {
        const std::uint64_t found = RingReader::open(pool).recover().newest_seq();
        if (found >= count) return true;
        if (found > newest) looks = 0;
        newest = found;
      } catch (const Error&) {  // the pool is not complete yet
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  /// Kills three analyzers of a run, each after it has committed at least a hundred steps. Then waits until the fourth
  /// analyzer has also committed a hundred steps.
  void kill_three_analyzers(pid_t ringside) const {
    pid_t analyzer = 0;
    for (std::uint64_t kills = 0; kills < 3; ++kills) {
      analyzer = wait_for_child(ringside, "ringside-analyzer", analyzer);
      ASSERT_TRUE(wait_for_commits(100 * (kills + 1)));
      kill(analyzer, SIGKILL);
    }
    ASSERT_TRUE(wait_for_commits(RingReader::open(pool_).recover().newest_seq() + 100));
  }

  void flip_in_file(std::uint64_t offset, std::uint64_t bit) const {
    std::fstream file(pool_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    const int byte = file.get();
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(static_cast<char>(byte ^ (1 << bit)));
  }

  /// Flips a bit in the payload of a kept iterate.
  void damage_payload_of(std::uint64_t iteration) const {
    const RingReader reader = RingReader::open(pool_);
    for (const KeptSlot& kept : reader.recover().kept) {
      if (kept.header.iteration != iteration) continue;
      flip_in_file(reader.ring().geometry().slots[kept.slot].payload_offset + 100, 4);
    }
  }

  /// The doubles of the newest iterate, or of the iterate that `more` selects.
  std::vector<double> exported(const Words& more = {}) const {
    const std::string file = folder_.file("exported.npy");
    expect_done(joined({"export", pool_, "--output", file}, more));
    return read_npy(file);
  }

  /// The file that an export of the newest iterate makes. name: "last.npy" for x, "last.npz" for all variables.
  std::string export_last(const std::string& pool, const std::string& name = "last.npy") const {
    const std::string output = folder_.file(name);
    expect_done({"export", pool, "--output", output});
    return content_of(output);
  }

  /// Makes a pool and a journal of a finished run.
  void keep_a_run(const std::string& iterations = "--iterations=5") const {
    expect_done({"run", "--matrix=grid:20", "--pool=" + pool_, "--quiet", iterations});
  }

  std::string write_file(const std::string& name, const std::string& text) const { return folder_.write(name, text); }

  TemporaryFolder folder_;
  std::string pool_ = folder_.file("test.pool");
  std::string summary_ = folder_.file("summary.json");
  std::string socket_ = folder_.file("s");  // the socket of a service
  std::string coordination_ = "locks";
};

/// After each of these tests, no process may be left.
class NoOrphansTest : public PipelineTest {
 protected:
  // Orphans of `ringside run` become children of this process, which can then check whether any are left.
  void SetUp() override { ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0); }

  void TearDown() override {
    if (HasFatalFailure()) return;  // an endless process may be left
    errno = 0;
    EXPECT_EQ(waitpid(-1, nullptr, 0), -1) << "a process was left behind";
    EXPECT_EQ(errno, ECHILD);
  }
};

/// For the tests of `Suite` that must pass with both kinds of coordination: use TEST_P, and INSTANTIATE_TEST_SUITE_P
/// with kBothCoordinations.
template <class Suite>
class Either : public Suite, public ::testing::WithParamInterface<std::string> {
 protected:
  Either() { this->coordination_ = GetParam(); }
};
inline const auto kBothCoordinations = ::testing::Values("locks", "messages");
inline std::string name_of_coordination(const ::testing::TestParamInfo<std::string>& info) {
  return info.param;
}

/// The names that tests of runs use without a namespace.
namespace names {
using testing::IteratingRun;
using testing::kEndless;
using testing::NoOrphansTest;
using testing::PipelineTest;
using testing::Service;
}  // namespace names

}  // namespace ringside::testing
