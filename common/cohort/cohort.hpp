// SPDX-License-Identifier: BSD-3-Clause
// Processes of one node that write the parts of each step into the same buffers. The member that writes the last part
// of a step publishes the step, so no member waits for another (docs/publish/mpi.md).
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/cohort/cohort_memory.hpp"
#include "common/handoff/step_sharing.hpp"
#include "common/platform/error.hpp"
#include "common/platform/unique_fd.hpp"

namespace ringside {

/// A process of the cohort, with the name that messages use for it.
struct CohortMember {
  pid_t pid = 0;
  std::string name;  // for example "rank 3"
};

/// One process's view of the cohort. Only one thread may use it.
class Cohort final : public StepSharing {
 public:
  /// The first constructor is for the first member, which makes the cohort's memory; the second is for the other
  /// members, which map it. All members must pass the same `members`. own: this process's index in `members`. stop: the
  /// caller's flag that ends waits. Throws Error: exit code 3, or the errors of SharedMapping::join.
  Cohort(std::vector<CohortMember> members, std::uint32_t own, std::uint32_t buffers, StopFlag stop);
  Cohort(UniqueFd memory, std::vector<CohortMember> members, std::uint32_t own, std::uint32_t buffers, StopFlag stop);

  /// The file descriptor of the cohort's memory, which is to be sent to the other members.
  int fd() const noexcept { return memory_.fd(); }

  /// In the first member, `share` calls this function. The function must send the memory to the other members and wait
  /// until all have mapped it. Set it before attaching. Throws Error.
  std::function<void(const SharedMapping& payload, const SharedMapping& control)> pass_on;

  /// Sets this member's mappings of the hand-off's memory, which must outlive the cohort. Call it before the first
  /// `arrive`.
  void use(const SharedMapping& payload, const SharedMapping& control) noexcept;

  void share(const SharedMapping& payload, const SharedMapping& control) override;
  void arrive(const StepDescriptor& step) noexcept override;
  StopFlag ends_wait() const noexcept override { return &ends_wait_; }
  /// Checks the other processes. If one has ended, the cohort fails.
  void beat(std::int64_t now_ns) noexcept override;

  /// Records a failure, which ends the waits of all members. Only the first failure is recorded.
  void fail(ExitCode code, std::string_view line) noexcept;
  bool has_failed() const noexcept;
  /// The recorded failure. Requires has_failed().
  Error failure() const;

  /// The node's total wait for its analyzer: the sum over the descriptors of all published steps.
  std::int64_t idle_ns() const noexcept { return head_->idle_ns.load(std::memory_order_relaxed); }

  /// The memory in which the first member writes the state of the whole run for the others.
  CohortHead& head() const noexcept { return *head_; }

 private:
  Cohort(SharedMapping memory, std::vector<CohortMember> members, std::uint32_t own, std::uint32_t buffers,
         StopFlag stop);

  PartLine& line(std::uint64_t step, std::size_t member) noexcept;
  void publish(std::uint64_t step) noexcept;
  bool complete(std::uint64_t step) noexcept;
  void fail_for_iterations(std::uint64_t step, std::size_t other) noexcept;

  SharedMapping memory_;
  std::vector<CohortMember> members_;
  std::vector<UniqueFd> processes_;  // of all members, in order; the entry of this process is invalid
  std::uint32_t own_;
  std::uint32_t buffers_;
  StopFlag stop_;
  CohortHead* head_;
  FailureLine* failures_;  // one line for each member
  PartLine* lines_;
  StepDescriptor* descriptors_ = nullptr;
  HandoffControl* control_ = nullptr;
  std::atomic<bool> ends_wait_{false};
};

}  // namespace ringside
