// SPDX-License-Identifier: BSD-3-Clause
// What the library does when it starts an analyzer itself, except for the start: it splits options into words, and
// binds the threads of this process to cores. tests/python/own_analyzer_test.py and tests/examples test the rest.
#include "library/own_analyzer.hpp"

#include <gtest/gtest.h>
#include <omp.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/platform/error.hpp"
#include "library/bound_threads.hpp"
#include "tests/unit/allowed_cpus.hpp"

namespace ringside::library {
namespace {

using Words = std::vector<std::string>;

TEST(WordsTest, AreThoseOfAShell) {
  EXPECT_EQ(words_of("", "o"), Words());
  EXPECT_EQ(words_of(" --slots  16\t--quiet\n", "o"), (Words{"--slots", "16", "--quiet"}));
  EXPECT_EQ(words_of("--pool='a b' --trigger \"x.max > 3: stop\"", "o"), (Words{"--pool=a b", "--trigger", "x.max > 3: stop"}));
  EXPECT_EQ(words_of("a\\ b '' \"it's\" 'a\\b'", "o"), (Words{"a b", "", "it's", "a\\b"}));
}

TEST(WordsTest, AQuoteThatDoesNotEndIsRefused) {
  for (const char* text : {"'a", "a\"b", "--x='"}) EXPECT_THROW(words_of(text, "o"), Error) << text;
}

void bind(pid_t thread, int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  ASSERT_EQ(sched_setaffinity(thread, sizeof set, &set), 0);
}

/// A thread that lives as long as this object.
class Sleeper {
 public:
  Sleeper() : thread_([this] {
      id_ = static_cast<pid_t>(syscall(SYS_gettid));
      id_.notify_one();
      end_.wait(false);
    }) {
    id_.wait(0);
  }
  ~Sleeper() {
    end_ = true;
    end_.notify_one();
    thread_.join();
  }
  pid_t id() const { return id_; }

 private:
  std::atomic<pid_t> id_ = 0;
  std::atomic<bool> end_ = false;
  std::thread thread_;
};

TEST(BoundThreadsTest, ThreadsRunOnTheCoresAndHaveTheirOwnAgainAfterwards) {
  const std::vector<int> all = allowed_cpus();
  if (all.size() < 2) GTEST_SKIP() << "one core";
  const Sleeper free, on_first, on_last;
  bind(on_first.id(), all.front());
  bind(on_last.id(), all.back());
  EXPECT_EQ(cores_of_process(), all);
  std::optional<Sleeper> later;
  {
    const BoundThreads bound({all.front()});
    for (const pid_t thread : {getpid(), free.id(), on_first.id(), on_last.id()}) {
      EXPECT_EQ(allowed_cpus(thread), std::vector{all.front()});
    }
    later.emplace();
    EXPECT_EQ(allowed_cpus(later->id()), std::vector{all.front()});
  }
  EXPECT_EQ(allowed_cpus(getpid()), all);
  EXPECT_EQ(allowed_cpus(free.id()), all);
  EXPECT_EQ(allowed_cpus(on_first.id()), std::vector{all.front()});
  EXPECT_EQ(allowed_cpus(on_last.id()), std::vector{all.back()});
  EXPECT_EQ(allowed_cpus(later->id()), all);
}

TEST(BoundThreadsTest, SeveralMayEndInAnyOrder) {
  const std::vector<int> all = allowed_cpus();
  if (all.size() < 2) GTEST_SKIP() << "one core";
  auto first = std::make_unique<BoundThreads>(std::vector{all.front()});
  const auto second = std::make_unique<BoundThreads>(std::vector{all.front()});
  first.reset();
  EXPECT_EQ(allowed_cpus(), std::vector{all.front()});
  first = std::make_unique<BoundThreads>(std::vector{all.back()});  // no core is in both: the newer one decides
  EXPECT_EQ(allowed_cpus(), std::vector{all.back()});
  first.reset();
  EXPECT_EQ(allowed_cpus(), std::vector{all.front()});
}

TEST(BoundThreadsTest, WithoutCoresNothingChanges) {
  const std::vector<int> all = allowed_cpus();
  const BoundThreads bound({});
  EXPECT_EQ(allowed_cpus(), all);
}

TEST(BoundThreadsTest, OpenMpsNextTeamHasAThreadForEachCore) {
  const std::vector<int> all = allowed_cpus();
  if (all.size() < 2) GTEST_SKIP() << "one core";
  unsetenv("OMP_NUM_THREADS");
  omp_set_num_threads(static_cast<int>(all.size()));
  {
    const BoundThreads bound({all.front()});
    EXPECT_EQ(omp_get_max_threads(), 1);
  }
  EXPECT_EQ(omp_get_max_threads(), static_cast<int>(all.size()));
}

}  // namespace
}  // namespace ringside::library
