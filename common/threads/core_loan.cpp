// SPDX-License-Identifier: BSD-3-Clause
#include "common/threads/core_loan.hpp"

#include <sched.h>

#include <climits>

#include "common/platform/clock.hpp"
#include "common/platform/futex.hpp"

namespace ringside {
namespace {

// The time that a guest needs to finish its piece, if it has one (docs/inside/architecture.md). If a guest takes
// longer, it was preempted or its process has ended.
constexpr std::int64_t kGuestsLeaveNs = 200'000;

void ring_bell(LentCores& cores, int guests) noexcept {
  cores.bell.fetch_add(1);
  futex_wake(&cores.bell, guests);
}

}  // namespace

CoreLender::CoreLender(LentCores& shared, const std::vector<int>& cpus) noexcept : shared_(&shared) {
  shared.until.store(0);
  for (auto& word : shared.cpus) word.store(0, std::memory_order_relaxed);
  for (const int cpu : cpus) {
    if (cpu < 0 || cpu >= LentCores::kMaxCpus) continue;
    const auto bit = static_cast<std::uint64_t>(cpu);
    shared.cpus[bit / 64].fetch_or(std::uint64_t{1} << bit % 64, std::memory_order_relaxed);
  }
  shared.generation.fetch_add(1, std::memory_order_release);
}

// Both sides access `until` and `inside` in sequentially consistent order. If a guest enters while the lender takes the
// cores back, at least one of the two detects the other.
void CoreLender::lend(std::uint64_t until) noexcept {
  if (shared_ == nullptr || lent_) return;
  lent_ = true;
  shared_->until.store(until);
  ring_bell(*shared_, INT_MAX);
}

void CoreLender::take_back() noexcept {
  if (!lent_) return;
  lent_ = false;
  shared_->until.store(0);
  if (shared_->inside.load() == 0) return;
  const std::int64_t give_up_at = now_ns() + kGuestsLeaveNs;
  while (shared_->inside.load() != 0 && now_ns() < give_up_at) sched_yield();
}

std::vector<int> CoreBorrower::cpus() const {
  std::vector<int> cpus;
  for (int cpu = 0; cpu < LentCores::kMaxCpus; ++cpu) {
    const auto bit = static_cast<std::uint64_t>(cpu);
    if ((shared_->cpus[bit / 64].load(std::memory_order_relaxed) >> bit % 64 & 1) != 0) cpus.push_back(cpu);
  }
  return cpus;
}

bool CoreBorrower::enter() noexcept {
  shared_->inside.fetch_add(1);
  if (lent()) return true;
  leave();
  return false;
}

void CoreBorrower::sleep(std::uint32_t bell_seen, std::int64_t at_most_ns) noexcept {
  futex_sleep(&shared_->bell, bell_seen, at_most_ns);
}

void CoreBorrower::ring(int guests) noexcept {
  ring_bell(*shared_, guests);
}

}  // namespace ringside
