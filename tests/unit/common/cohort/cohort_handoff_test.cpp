// SPDX-License-Identifier: BSD-3-Clause
// A cohort in a real hand-off: the first member attaches to an analyzer, and another process writes its part into the
// same buffers. For the analyzer, the cohort is the same as one producer (docs/publish/mpi.md).
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <optional>
#include <thread>
#include <utility>

#include "common/cohort/cohort.hpp"
#include "common/cohort/cohort_writer.hpp"
#include "tests/unit/common/handoff/handoff_fixture.hpp"
#include "tests/unit/failure_line.hpp"

namespace ringside {
namespace {

using namespace testing;

constexpr std::uint32_t kBuffers = 2;
constexpr std::uint64_t kFirstRows = 400;  // rows of the first member; the second has the others

PayloadGeometry geometry() {
  return {kBuffers, x_only().payload_bytes()};
}

void fill_part(double* buffer, std::uint64_t step, std::uint64_t begin, std::uint64_t end) {
  for (std::uint64_t i = begin; i < end; ++i) buffer[i] = expected(step, i);
}

/// The descriptors that the first member passes to the second.
struct PassedOn {
  int cohort = -1;
  int payload = -1;
  int control = -1;
};

UniqueFd opened_of(pid_t pid, int fd) {
  return UniqueFd(open(("/proc/" + std::to_string(pid) + "/fd/" + std::to_string(fd)).c_str(), O_RDWR | O_CLOEXEC));
}

/// The second member: a separate process that publishes `steps` steps and then waits until it is killed. The second
/// member is forked while this process has only one thread.
class SecondMember {
 public:
  explicit SecondMember(std::uint64_t steps) : first_(getpid()) {
    int to[2];
    int from[2];
    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
    pid_ = fork();
    const bool is_second = pid_ == 0;
    in_.reset(is_second ? to[0] : from[0]);
    out_.reset(is_second ? from[1] : to[1]);
    close(is_second ? to[1] : to[0]);
    close(is_second ? from[0] : from[1]);
    if (is_second) _exit(publish(steps));
  }
  ~SecondMember() { end(); }
  SecondMember(const SecondMember&) = delete;
  SecondMember& operator=(const SecondMember&) = delete;

  std::vector<CohortMember> members() const { return {{first_, "rank 0"}, {pid_, "rank 1"}}; }

  /// Passes the descriptors on, and returns once the second member has mapped the memory.
  void pass_on(const PassedOn& passed) {
    if (write(out_.get(), &passed, sizeof passed) != sizeof passed || !is_told()) {
      throw std::runtime_error("the second member has not mapped the memory");
    }
  }
  /// Waits until the second member has published all its steps; false if it has failed.
  bool has_published() { return is_told(); }
  /// Kills the second member and waits for its end.
  void end() {
    if (pid_ == 0) return;
    kill(pid_, SIGKILL);
    waitpid(std::exchange(pid_, 0), nullptr, 0);
  }

 private:
  bool is_told() const {
    char word = 0;
    return read(in_.get(), &word, 1) == 1;
  }
  bool tell() const { return write(out_.get(), "", 1) == 1; }

  int publish(std::uint64_t steps) const {
    const std::vector<CohortMember> members = {{first_, "rank 0"}, {getpid(), "rank 1"}};
    PassedOn passed;
    if (read(in_.get(), &passed, sizeof passed) != sizeof passed) return 1;
    try {
      Cohort cohort(opened_of(first_, passed.cohort), members, 1, kBuffers, nullptr);
      CohortWriter writer(opened_of(first_, passed.payload), opened_of(first_, passed.control), geometry(), cohort,
                          kSpinNs);
      if (!tell()) return 1;
      for (std::uint64_t step = 0; step < steps; ++step) {
        const Claim claim = writer.claim();
        if (!claim) return 1;
        fill_part(claim.x(), step, kFirstRows, kRows);
        writer.publish({.iteration = step + 1});
      }
    } catch (const std::exception&) {
      return 1;
    }
    return tell() && is_told() ? 0 : 1;  // no byte is ever sent: waits until it is killed or the pipe is closed
  }

  const pid_t first_;
  pid_t pid_ = 0;
  UniqueFd in_;
  UniqueFd out_;
};

class CohortHandoffTest : public HandoffFixture {
 protected:
  HandoffOptions shared_by(StepSharing& sharing) {
    HandoffOptions chosen = options_;
    chosen.buffers = kBuffers;
    chosen.sharing = &sharing;
    return chosen;
  }
  /// Attaches the first member to an analyzer at `listener`.
  Attached attach_team(Listener& listener, SecondMember& second) {
    cohort_.emplace(second.members(), 0u, kBuffers, nullptr);
    cohort_->pass_on = [&](const SharedMapping& payload, const SharedMapping& control) {
      payload_fd_ = payload.fd();
      second.pass_on({cohort_->fd(), payload.fd(), control.fd()});
    };
    return attach(listener, shared_by(*cohort_));
  }

  static void publish_first_part(HandoffWriter& writer) {
    const Claim claim = writer.claim();
    ASSERT_EQ(claim.status, ClaimStatus::kOk);
    fill_part(claim.x(), writer.published(), 0, kFirstRows);
    const ScalarValue scalars[] = {0.25, static_cast<double>(writer.published())};
    writer.publish({.iteration = writer.published() + 1}, scalars);
  }

  static void take_whole(HandoffReader& reader, std::uint64_t step_expected) {
    PublishedStep step;
    ASSERT_EQ(reader.next(step, kMaySpin, nullptr), NextStatus::kStep);
    EXPECT_EQ(step.step.descriptor.step, step_expected);
    EXPECT_EQ(step.step.descriptor.iteration, step_expected + 1);
    EXPECT_EQ(step.step.descriptor.residual_l1, 0.25);
    EXPECT_EQ(step.step.descriptor.residual_linf, static_cast<double>(step_expected));
    EXPECT_TRUE(holds(doubles(step.payload), step_expected)) << step_expected;
    reader.release();
  }

  /// The first member's thread: publishes all steps, and detaches after the second member has published its last one.
  static std::thread first_member(HandoffWriter& writer, SecondMember& second, std::uint64_t steps) {
    return std::thread([&writer, &second, steps] {
      while (writer.published() < steps) publish_first_part(writer);
      EXPECT_TRUE(second.has_published());
      EXPECT_NO_THROW(writer.detach(Outcome::kFinished));
    });
  }

  std::optional<Cohort> cohort_;
  int payload_fd_ = -1;
};

TEST_F(CohortHandoffTest, EachStepArrivesWhole) {
  constexpr std::uint64_t kSteps = 200;
  SecondMember second(kSteps);
  Listener listener(socket_path_);
  Attached ends = attach_team(listener, second);
  std::thread first = first_member(*ends.writer, second, kSteps);
  for (std::uint64_t step = 0; step < kSteps; ++step) take_whole(*ends.reader, step);
  answer_goodbye(*ends.reader);
  first.join();
  EXPECT_FALSE(cohort_->has_failed());
}

TEST_F(CohortHandoffTest, ASuccessorOfAnAnalyzerThatDiedContinuesWithAllMembers) {
  constexpr std::uint64_t kSteps = 20;
  SecondMember second(kSteps);
  Listener listener(socket_path_);
  Attached ends = attach_team(listener, second);
  std::thread first = first_member(*ends.writer, second, kSteps);
  std::uint64_t step = 0;
  for (const std::uint64_t until : {3u, 7u, 8u}) {
    while (step < until) take_whole(*ends.reader, step++);
    ends.reader.reset();  // like a killed analyzer: its connection closes without a farewell
    ends.reader.emplace(accept_reader(listener));
    EXPECT_EQ(ends.reader->steps_released(), until);
    ends.reader->accept();
  }
  while (step < kSteps) take_whole(*ends.reader, step++);
  answer_goodbye(*ends.reader);
  first.join();
  EXPECT_FALSE(cohort_->has_failed());
}

TEST_F(CohortHandoffTest, TheDeathOfTheOtherMemberEndsTheFirstOnesWait) {
  constexpr std::uint64_t kSteps = 3;
  SecondMember second(kSteps);
  const std::string name = "rank 1 (process " + std::to_string(second.members()[1].pid) + ")";
  Listener listener(socket_path_);
  Attached ends = attach_team(listener, second);
  std::thread first([&] {
    for (std::uint64_t step = 0; step < kSteps + kBuffers; ++step) publish_first_part(*ends.writer);
    EXPECT_TRUE(second.has_published());
    second.end();
    EXPECT_EQ(ends.writer->claim().status, ClaimStatus::kStopped);
  });
  for (std::uint64_t step = 0; step < kSteps; ++step) take_whole(*ends.reader, step);
  first.join();
  ASSERT_TRUE(cohort_->has_failed());
  EXPECT_EQ(cohort_->failure().code(), ExitCode::kPeerLost);
  EXPECT_EQ(cohort_->failure().what(), name + " is gone; the committed steps are in the pool");
}

/// A cohort of two members in this process. The second member writes its first part only after the first one has waited
/// for `patience_ns`.
class LateMember final : public StepSharing {
 public:
  explicit LateMember(std::int64_t patience_ns) : patience_ns_(patience_ns), first_(members_, 0u, kBuffers, nullptr) {
    first_.pass_on = [this](const SharedMapping& payload, const SharedMapping& control) {
      const pid_t own = getpid();
      other_.emplace(opened_of(own, first_.fd()), members_, 1u, kBuffers, nullptr);
      writer_.emplace(opened_of(own, payload.fd()), opened_of(own, control.fd()), geometry(), *other_, kSpinNs);
    };
  }

  void share(const SharedMapping& payload, const SharedMapping& control) override { first_.share(payload, control); }
  void arrive(const StepDescriptor& step) noexcept override { first_.arrive(step); }
  StopFlag ends_wait() const noexcept override { return first_.ends_wait(); }
  void beat(std::int64_t now_ns) noexcept override {
    first_.beat(now_ns);
    if (began_ns_ == 0) began_ns_ = now_ns;
    if (now_ns - began_ns_ < patience_ns_ || writer_->published() > 0) return;
    fill_part(writer_->claim().x(), 0, kFirstRows, kRows);
    writer_->publish({.iteration = 1});
  }

 private:
  const std::vector<CohortMember> members_ = {{getpid(), "rank 0"}, {getpid(), "rank 1"}};
  const std::int64_t patience_ns_;
  Cohort first_;
  std::optional<Cohort> other_;
  std::optional<CohortWriter> writer_;
  std::int64_t began_ns_ = 0;
};

TEST_F(CohortHandoffTest, AnAnalyzerThatHasNothingToCommitIsNotTakenForStalled) {
  Listener listener(socket_path_);
  LateMember cohort(700'000'000);
  HandoffOptions chosen = shared_by(cohort);
  chosen.peer_timeout_s = 0.5;  // shorter than the second member's wait before it writes its part
  Attached ends = attach(listener, chosen);
  std::thread first([&] {
    for (std::uint64_t step = 0; step < kBuffers; ++step) publish_first_part(*ends.writer);
    EXPECT_EQ(ends.writer->claim().status, ClaimStatus::kOk);
    ends.writer.reset();
  });
  take_whole(*ends.reader, 0);
  first.join();
}

TEST_F(CohortHandoffTest, AnAnalyzerThatDoesNotCommitIsStalled) {
  Listener listener(socket_path_);
  LateMember cohort(0);
  HandoffOptions chosen = shared_by(cohort);
  chosen.peer_timeout_s = 0.2;
  Attached ends = attach(listener, chosen);
  for (std::uint64_t step = 0; step < kBuffers; ++step) publish_first_part(*ends.writer);
  EXPECT_EQ(ends.writer->claim().status, ClaimStatus::kAnalyzerStalled);
}

TEST_F(CohortHandoffTest, ThePayloadIsSealedOnceAllHaveMappedIt) {
  SecondMember second(0);
  Listener listener(socket_path_);
  const Attached ends = attach_team(listener, second);
  EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, payload_fd_, 0), MAP_FAILED);
  const UniqueFd again = opened_of(getpid(), payload_fd_);
  EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, again.get(), 0), MAP_FAILED);
  void* read_only = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, payload_fd_, 0);
  EXPECT_NE(read_only, MAP_FAILED);
  munmap(read_only, 4096);
}

TEST_F(CohortHandoffTest, NothingIsSentToTheAnalyzerIfAMemberCannotMapTheMemory) {
  Listener listener(socket_path_);
  Cohort cohort({{getpid(), "rank 0"}}, 0, kBuffers, nullptr);
  cohort.pass_on = [](const SharedMapping&, const SharedMapping&) { throw system_error("rank 1: no memory"); };
  const auto attach = [&] { HandoffWriter(shared_by(cohort), description(), x_only(), residuals()); };
  EXPECT_EQ(failure_line(attach, ExitCode::kSystem), "rank 1: no memory");
  std::optional<Peer> peer = listener.accept(10'000);
  ASSERT_TRUE(peer);
  EXPECT_THROW(HandoffReader(std::move(*peer), socket_path_, 10'000), Error);
}

}  // namespace
}  // namespace ringside
