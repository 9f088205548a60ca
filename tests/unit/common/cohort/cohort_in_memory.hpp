// SPDX-License-Identifier: BSD-3-Clause
// A cohort whose members are in this process. The members use the memory of a hand-off without an analyzer: the test
// does the analyzer's work. Each member maps the memory separately, as a process would.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <climits>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "common/cohort/cohort.hpp"
#include "common/cohort/cohort_writer.hpp"
#include "common/handoff/handoff_layout.hpp"
#include "common/handoff/shared_mapping.hpp"
#include "common/platform/futex.hpp"
#include "common/text/formatted.hpp"

namespace ringside::testing {

inline UniqueFd duplicate(int fd) {
  return UniqueFd(fcntl(fd, F_DUPFD_CLOEXEC, 0));
}

/// pids: the process ids of the members. This process acts as all members, no matter which ids they have.
inline std::vector<CohortMember> members_of(const std::vector<pid_t>& pids) {
  std::vector<CohortMember> members;
  for (const pid_t pid : pids) members.push_back({.pid = pid, .name = formatted("rank {}", members.size())});
  return members;
}

class CohortInMemory {
 public:
  CohortInMemory(std::uint32_t members, std::uint32_t buffers, std::uint64_t payload_bytes = 4096, StopFlag stop = {})
      : CohortInMemory(std::vector<pid_t>(members, getpid()), buffers, payload_bytes, stop) {}

  CohortInMemory(const std::vector<pid_t>& pids, std::uint32_t buffers, std::uint64_t payload_bytes = 4096,
                 StopFlag stop = {})
      : geometry_{buffers, payload_bytes},
        payload_(SharedMapping::create_for_cohort("test", geometry_.total_bytes())),
        control_mapping_(SharedMapping::create("test", sizeof(HandoffControl), PeerAccess::kReadWrite)),
        control_(new (control_mapping_.data()) HandoffControl) {
    const std::vector<CohortMember> members = members_of(pids);
    for (std::uint32_t m = 0; m < members.size(); ++m) {
      teams_.push_back(m == 0 ? std::make_unique<Cohort>(members, m, buffers, stop)
                              : std::make_unique<Cohort>(duplicate(teams_[0]->fd()), members, m, buffers, stop));
      writers_.push_back(std::make_unique<CohortWriter>(duplicate(payload_.fd()), duplicate(control_mapping_.fd()),
                                                        geometry_, *teams_.back(), 1000));
    }
  }

  Cohort& cohort(std::size_t member) { return *teams_[member]; }
  CohortWriter& writer(std::size_t member) { return *writers_[member]; }
  HandoffControl& control() { return *control_; }
  std::uint64_t published() const { return control_->published.load(std::memory_order_acquire); }
  StepDescriptor& descriptor(std::uint64_t step) { return descriptors_in(payload_)[step % geometry_.buffers]; }
  const std::byte* buffer(std::uint64_t step) const { return payload_.data() + geometry_.buffer_offset(step); }

  /// Publishes the member's next step, which must need no wait. The first member also writes the step's descriptor, as
  /// a HandoffWriter does.
  void publish(std::size_t member, const StepReport& report) {
    ASSERT_EQ(writer(member).claim().status, ClaimStatus::kOk);
    publish_claimed(member, report);
  }
  void publish_claimed(std::size_t member, const StepReport& report) {
    const std::uint64_t step = writer(member).published();
    if (member == 0) {
      StepDescriptor& own = descriptors_in(writer(0).payload())[step % geometry_.buffers];
      own = {.step = step, .iteration = report.iteration};
    }
    writer(member).publish(report);
  }

  /// Releases the buffers, as the analyzer does after it has committed the steps before `step`.
  void release_up_to(std::uint64_t step) {
    control_->released.store(step, std::memory_order_release);
    futex_wake(&control_->released, INT_MAX);
  }

 private:
  static StepDescriptor* descriptors_in(const SharedMapping& payload) {
    return reinterpret_cast<StepDescriptor*>(payload.data() + PayloadGeometry::descriptors_offset());
  }

  PayloadGeometry geometry_;
  SharedMapping payload_;
  SharedMapping control_mapping_;
  HandoffControl* control_;
  std::vector<std::unique_ptr<Cohort>> teams_;
  std::vector<std::unique_ptr<CohortWriter>> writers_;
};

}  // namespace ringside::testing
