// SPDX-License-Identifier: BSD-3-Clause
#include "common/cohort/cohort.hpp"

#include <poll.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <new>
#include <utility>

#include "common/platform/futex.hpp"
#include "common/text/fixed_text.hpp"

namespace ringside {

Cohort::Cohort(std::vector<CohortMember> members, std::uint32_t own, std::uint32_t buffers, StopFlag stop)
    : Cohort(SharedMapping::create("ringside-cohort", cohort_memory_bytes(members.size(), buffers),
                                   PeerAccess::kReadWrite),
             members, own, buffers, stop) {
  new (head_) CohortHead;  // the kernel has zeroed the lines, which is their initial state
}

Cohort::Cohort(UniqueFd memory, std::vector<CohortMember> members, std::uint32_t own, std::uint32_t buffers,
               StopFlag stop)
    : Cohort(SharedMapping::join(std::move(memory), cohort_memory_bytes(members.size(), buffers)), members, own,
             buffers, stop) {}

Cohort::Cohort(SharedMapping memory, std::vector<CohortMember> members, std::uint32_t own, std::uint32_t buffers,
               StopFlag stop)
    : memory_(std::move(memory)),
      members_(std::move(members)),
      own_(own),
      buffers_(buffers),
      stop_(stop),
      head_(reinterpret_cast<CohortHead*>(memory_.data())),
      failures_(reinterpret_cast<FailureLine*>(memory_.data() + sizeof(CohortHead))),
      lines_(reinterpret_cast<PartLine*>(memory_.data() + part_lines_offset(members_.size()))) {
  for (std::uint32_t m = 0; m < members_.size(); ++m) {
    UniqueFd& process = processes_.emplace_back();
    if (m == own_) continue;
    process.reset(static_cast<int>(syscall(SYS_pidfd_open, members_[m].pid, 0)));
    if (process.valid()) continue;
    if (errno == ESRCH) throw peer_error("{} (process {}) is gone", members_[m].name, members_[m].pid);
    throw system_error("cannot watch {} (process {}): {}", members_[m].name, members_[m].pid, errno_text(errno));
  }
}

void Cohort::use(const SharedMapping& payload, const SharedMapping& control) noexcept {
  descriptors_ = reinterpret_cast<StepDescriptor*>(payload.data() + PayloadGeometry::descriptors_offset());
  control_ = reinterpret_cast<HandoffControl*>(control.data());
}

void Cohort::share(const SharedMapping& payload, const SharedMapping& control) {
  use(payload, control);
  pass_on(payload, control);
}

PartLine& Cohort::line(std::uint64_t step, std::size_t member) noexcept {
  return lines_[step % buffers_ * members_.size() + member];
}

// A member writes step s + B only after s was released, and so after it was published. Until then, the lines and the
// part count of that buffer belong only to step s. Step s + 1 is complete only after the member that completed step s
// returns from this function. So members publish one at a time, and in step order.
void Cohort::arrive(const StepDescriptor& step) noexcept {
  line(step.step, own_) = {.iteration = step.iteration,
                           .generate_ns = step.generate_ns,
                           .idle_ns = step.producer_idle_ns,
                           .written_at_ns = step.published_at_ns};
  // Release publishes this member's part and line; acquire makes the parts and lines of all earlier members visible.
  const std::uint64_t parts = head_->arrived[step.step % buffers_].parts.fetch_add(1, std::memory_order_acq_rel) + 1;
  if (parts == members_.size() * (step.step / buffers_ + 1)) publish(step.step);
}

/// Requires that all parts of the step are written. If the parts of the step differ in the iteration, neither this step
/// nor a later one is published.
void Cohort::publish(std::uint64_t step) noexcept {
  if (control_->published.load(std::memory_order_relaxed) != step || !complete(step)) return;
  // Release: parts and descriptor become visible before the counter that announces them.
  control_->published.store(step + 1, std::memory_order_release);
  futex_wake(&control_->published, INT_MAX);
}

/// Writes the figures of all parts into the descriptor. False if the parts differ in the iteration.
bool Cohort::complete(std::uint64_t step) noexcept {
  PartLine last = line(step, 0);
  for (std::size_t m = 1; m < members_.size(); ++m) {
    const PartLine& part = line(step, m);
    if (part.iteration != last.iteration) {
      fail_for_iterations(step, m);
      return false;
    }
    if (part.written_at_ns > last.written_at_ns) last = part;
  }
  // The interval since the node's previous step. The time in which the last member did not wait for the analyzer
  // counts as generating time; it may include waits for other ranks.
  if (step > 0) {
    const std::int64_t interval = last.written_at_ns - head_->complete_at_ns;
    last.idle_ns = std::min(last.idle_ns, interval);
    last.generate_ns = interval - last.idle_ns;
  }
  head_->complete_at_ns = last.written_at_ns;
  head_->idle_ns.store(head_->idle_ns.load(std::memory_order_relaxed) + last.idle_ns, std::memory_order_relaxed);
  StepDescriptor& descriptor = descriptors_[step % buffers_];
  descriptor.generate_ns = last.generate_ns;
  descriptor.producer_idle_ns = last.idle_ns;
  descriptor.published_at_ns = last.written_at_ns;
  return true;
}

void Cohort::fail_for_iterations(std::uint64_t step, std::size_t other) noexcept {
  char text[256];
  std::snprintf(text, sizeof text,
                "step %llu: %s published iteration %llu, but %s published iteration %llu; expected the same iteration",
                static_cast<unsigned long long>(step), members_[other].name.c_str(),
                static_cast<unsigned long long>(line(step, other).iteration), members_[0].name.c_str(),
                static_cast<unsigned long long>(line(step, 0).iteration));
  fail(ExitCode::kUsage, text);
}

void Cohort::beat(std::int64_t) noexcept {
  for (std::size_t m = 0; m < members_.size() && !has_failed(); ++m) {
    pollfd watched{processes_[m].get(), POLLIN, 0};
    if (!processes_[m].valid() || poll(&watched, 1, 0) <= 0) continue;
    char text[160];
    std::snprintf(text, sizeof text, "%s (process %d) is gone; the committed steps are in the pool",
                  members_[m].name.c_str(), static_cast<int>(members_[m].pid));
    fail(ExitCode::kPeerLost, text);
  }
  if (stop_.is_set() || has_failed()) ends_wait_.store(true, std::memory_order_relaxed);
}

void Cohort::fail(ExitCode code, std::string_view line) noexcept {
  if (has_failed()) return;  // other members may be reading this member's line
  FailureLine& own = failures_[own_];
  own.code = static_cast<std::uint32_t>(code);
  assign(own.line, line);
  std::uint32_t none = 0;
  head_->failed.compare_exchange_strong(none, own_ + 1, std::memory_order_release, std::memory_order_relaxed);
}

bool Cohort::has_failed() const noexcept {
  return head_->failed.load(std::memory_order_acquire) != 0;
}

Error Cohort::failure() const {
  const FailureLine& first = failures_[head_->failed.load(std::memory_order_acquire) - 1];
  return {static_cast<ExitCode>(first.code), std::string(text_of(first.line))};
}

}  // namespace ringside
