// SPDX-License-Identifier: BSD-3-Clause
// What happens when memory runs out: a claim of the publishing side reports this, and the user's solver survives. If
// not all threads can be started, those that were started are joined. This program's operator new fails when a test
// demands it.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <csignal>
#include <cstdlib>
#include <new>
#include <optional>
#include <thread>

#include "common/platform/limits.hpp"
#include "common/program/service_manager.hpp"
#include "tests/unit/common/handoff/handoff_fixture.hpp"

namespace {

thread_local int allocations_left = -1;  // below 0: no limit
thread_local bool has_failed = false;

void* allocate(std::size_t bytes) {
  if (allocations_left == 0) {
    has_failed = true;
    throw std::bad_alloc();
  }
  if (allocations_left > 0) --allocations_left;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}

/// Makes every allocation in this thread fail, from the allocation with this number on (0: from the first one on).
class NoMemory {
 public:
  explicit NoMemory(int from) {
    has_failed = false;
    allocations_left = from;
  }
  ~NoMemory() { allocations_left = -1; }
  NoMemory(const NoMemory&) = delete;
  NoMemory& operator=(const NoMemory&) = delete;
};

}  // namespace

#include "tests/unit/replaced_new.hpp"  // must follow the function that it calls

namespace ringside {
namespace {

using namespace testing;

class NoMemoryTest : public HandoffFixture {
 protected:
  /// Attaches and fills all buffers; then the analyzer closes the connection.
  HandoffWriter& stranded(const HandoffOptions& o) {
    ends_ = Attached();  // ends the previous listener at the same socket first
    ends_ = attach_full(o);
    ends_.reader.reset();
    return *ends_.writer;
  }

  Attached ends_;
};

TEST_F(NoMemoryTest, AClaimThatCannotAttachToASuccessorFailsAndALaterOneSucceeds) {
  for (int from = 0;; ++from) {
    ASSERT_LT(from, 1000) << "the allocations have no end";
    options_.peer_timeout_s = 30;
    HandoffWriter& writer = stranded(options_);
    // Serves every producer, and takes its two steps, so that a buffer becomes free.
    std::atomic<bool> done{false};
    std::thread successor([&] {
      while (!done.load()) {
        std::optional<Peer> peer = ends_.listener->accept(10);
        if (!peer) continue;
        try {
          HandoffReader reader(std::move(*peer), socket_path_, 10'000);
          reader.accept();
          PublishedStep step;
          while (reader.next(step, kMaySpin, &done) == NextStatus::kStep) reader.release();
        } catch (const Error&) {  // a request that was begun and then abandoned
        }
      }
    });
    ClaimStatus status{};
    {
      const NoMemory none(from);
      status = writer.claim().status;
    }
    const bool failed = has_failed;
    if (failed) {
      EXPECT_EQ(status, ClaimStatus::kAnalyzerFailed) << from;
      const Error failure = writer.failure(status);
      EXPECT_EQ(failure.code(), ExitCode::kSystem);
      EXPECT_NE(std::string(failure.what()).find("out of memory"), std::string::npos) << failure.what();
      status = writer.claim().status;
    }
    EXPECT_EQ(status, ClaimStatus::kOk) << from;
    done.store(true);
    successor.join();
    if (!failed) {
      EXPECT_GT(from, 0) << "no allocation was made to fail";
      return;
    }
  }
}

TEST_F(NoMemoryTest, ASolverThatContinuesWithoutItsAnalyzerIsNotEndedEither) {
  options_.on_analyzer_loss = OnAnalyzerLoss::kContinue;
  HandoffWriter& writer = stranded(options_);
  const NoMemory none(0);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(writer.claim());
}

TEST_F(NoMemoryTest, AFarewellIsTakenInWithoutMemory) {
  ends_ = attach_full(options_);
  ends_.reader->farewell(ExitCode::kSystem, "the disk failed");
  {
    const NoMemory none(0);
    EXPECT_EQ(ends_.writer->claim().status, ClaimStatus::kAnalyzerFailed);
  }
  EXPECT_EQ(ends_.writer->failure(ClaimStatus::kAnalyzerFailed).code(), ExitCode::kSystem);
}

TEST_F(NoMemoryTest, TheWatchdogIsFedWithoutMemory) {
  const std::string path = folder_.file("notify");
  const UniqueFd manager(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(path.begin(), path.end(), address.sun_path);
  ASSERT_EQ(bind(manager.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  setenv("NOTIFY_SOCKET", path.c_str(), 1);
  setenv("WATCHDOG_USEC", "1000000", 1);
  ServiceManager service;
  service.describe("a text that is longer than what a string holds without memory of its own");
  {
    const NoMemory none(0);
    service.describe(folder_.path());
    service.expect_work_on(1'000'000'000);
    service.beat(1);
    service.stopping();
  }
  unsetenv("NOTIFY_SOCKET");
  unsetenv("WATCHDOG_USEC");
  std::string heard;
  char buffer[4096];
  for (ssize_t got = 0; (got = recv(manager.get(), buffer, sizeof buffer, MSG_DONTWAIT)) >= 0;) {
    heard += std::string(buffer, static_cast<std::size_t>(got)) + "\n";
  }
  EXPECT_NE(heard.find("WATCHDOG_USEC=51000000\nWATCHDOG=1\n"), std::string::npos) << heard;
  EXPECT_NE(heard.find("STOPPING=1\nEXTEND_TIMEOUT_USEC=51000000\n"), std::string::npos) << heard;
}

/// Returns whether the four threads could be started.
bool require_four_threads(int allocations) {
  const NoMemory none(allocations);
  try {
    require_threads(4, "a test");
  } catch (const std::exception&) {  // an Error, or std::bad_alloc if its text needs memory
    return false;
  }
  return true;
}

TEST(ThreadLimitNoMemoryTest, WhereverMemoryEndsThreadsAreJoinedAndSignalsTaken) {
  int allocations = 0;
  for (bool done = false; !done; ++allocations) {
    done = require_four_threads(allocations);
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    EXPECT_FALSE(sigismember(&blocked, SIGTERM)) << allocations;
  }
  EXPECT_GT(allocations, 4);
}

}  // namespace
}  // namespace ringside
