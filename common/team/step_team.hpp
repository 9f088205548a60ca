// SPDX-License-Identifier: BSD-3-Clause
// Processes of one node that write the parts of each step into the same buffers. Whoever writes the last part of a step
// publishes it, so none waits for another (docs/publish/mpi.md).
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/handoff/parts_gate.hpp"
#include "common/platform/error.hpp"
#include "common/platform/unique_fd.hpp"
#include "common/team/team_memory.hpp"

namespace ringside {

/// A process of the team, as messages name it.
struct TeamMember {
  pid_t pid = 0;
  std::string name;  // "rank 3"
};

/// One process's view of the team. One thread uses it.
class StepTeam final : public PartsGate {
 public:
  /// Makes the team's memory (the first member), or maps it (the others): members and own index as agreed on before.
  /// stop: the caller's, ends waits. Throws Error (exit code 3, or as SharedMapping::join).
  StepTeam(std::vector<TeamMember> members, std::uint32_t own, std::uint32_t buffers, StopFlag stop);
  StepTeam(UniqueFd memory, std::vector<TeamMember> members, std::uint32_t own, std::uint32_t buffers, StopFlag stop);

  /// Descriptor of the team's memory, for the others.
  int fd() const noexcept { return memory_.fd(); }

  /// What the first member does in `share`: passes the memory on and waits until all have mapped it. To be set before
  /// it attaches. Throws Error.
  std::function<void(const SharedMapping& payload, const SharedMapping& control)> pass_on;

  /// This member's mappings of the hand-off's memory, which outlive the team. Before the first `arrive`.
  void use(const SharedMapping& payload, const SharedMapping& control) noexcept;

  void share(const SharedMapping& payload, const SharedMapping& control) override;
  void arrive(const StepDescriptor& step) noexcept override;
  StopFlag ends_wait() const noexcept override { return &ends_wait_; }
  /// Looks at the other processes; one that is gone fails the team.
  void beat(std::int64_t now_ns) noexcept override;

  /// The first failure counts; it ends the waits of all members.
  void fail(ExitCode code, std::string_view line) noexcept;
  bool has_failed() const noexcept;
  /// Requires has_failed().
  Error failure() const;

  /// How long the node waited for its analyzer, in all published steps: as their descriptors say.
  std::int64_t idle_ns() const noexcept { return head_->idle_ns.load(std::memory_order_relaxed); }

  /// For what the first member tells the others of the whole run.
  TeamHead& head() const noexcept { return *head_; }

 private:
  StepTeam(SharedMapping memory, std::vector<TeamMember> members, std::uint32_t own, std::uint32_t buffers,
           StopFlag stop);

  PartLine& line(std::uint64_t step, std::size_t member) noexcept;
  void publish(std::uint64_t step) noexcept;
  bool complete(std::uint64_t step) noexcept;
  void fail_for_iterations(std::uint64_t step, std::size_t other) noexcept;

  SharedMapping memory_;
  std::vector<TeamMember> members_;
  std::vector<UniqueFd> processes_;  // of the members; the own one is invalid
  std::uint32_t own_;
  std::uint32_t buffers_;
  StopFlag stop_;
  TeamHead* head_;
  FailureLine* failures_;  // by member
  PartLine* lines_;
  StepDescriptor* descriptors_ = nullptr;
  HandoffControl* control_ = nullptr;
  std::atomic<bool> ends_wait_{false};
};

}  // namespace ringside
