// SPDX-License-Identifier: BSD-3-Clause
// A loan of cores between two processes: while the owner of some cores waits, threads of the other process may use
// them. Only cores are lent: a thread on a lent core works only on data of its own process, so that a failure here
// costs only time (docs/inside/architecture.md).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace ringside {

/// One side's cores, in the control memfd. If all members are 0, nothing is lent.
struct LentCores {
  static constexpr int kMaxCpus = 1024;  // the capacity of glibc's cpu_set_t

  // The owner of the cores writes these words.
  alignas(64) std::array<std::atomic<std::uint64_t>, kMaxCpus / 64> cpus{};  // bit c: CPU c is one of the cores
  std::atomic<std::uint64_t> until{0};       // the cores are lent while the borrower's counter is less than this
  std::atomic<std::uint32_t> generation{0};  // counts the changes of `cpus`
  // Both sides ring the bell by increasing it, and the guests sleep on it. The bell only grows; a change of its value
  // means only "check again".
  alignas(64) std::atomic<std::uint32_t> bell{0};
  // The borrower writes this word.
  std::atomic<std::uint32_t> inside{0};  // number of guests at work
};
static_assert(sizeof(LentCores) == 256 && std::is_standard_layout_v<LentCores>);
static_assert(offsetof(LentCores, until) == 128 && offsetof(LentCores, bell) == 192);

/// The owner's side of a loan. Only one thread may use it.
class CoreLender {
 public:
  CoreLender() = default;
  /// `shared` must outlive this object. cpus: the owner's cores, with numbers below kMaxCpus.
  CoreLender(LentCores& shared, const std::vector<int>& cpus) noexcept;

  /// From now on, the borrower may use the cores as long as its counter is less than `until`. Does nothing while the
  /// cores are lent.
  void lend(std::uint64_t until) noexcept;
  /// Ends the loan, if there is one. Gives guests at work a moment to finish their pieces.
  void take_back() noexcept;

 private:
  LentCores* shared_ = nullptr;  // null if nothing is ever lent
  bool lent_ = false;
};

/// The borrower's side of a loan. Any number of threads may use it, except `forget_guests`.
class CoreBorrower {
 public:
  CoreBorrower() = default;
  /// own_counter: the counter that is compared with the owner's `until`. Both arguments must outlive this object.
  CoreBorrower(LentCores& shared, const std::atomic<std::uint64_t>& own_counter) noexcept
      : shared_(&shared), own_counter_(&own_counter) {}

  /// Resets the count of guests, because the guests of an earlier process died with it.
  void forget_guests() noexcept { shared_->inside.store(0); }
  std::uint32_t guests_inside() const noexcept { return shared_->inside.load(); }

  /// The owner's cores in ascending order, as the owner lists them. Some of them may not exist, or may not be allowed
  /// for this process.
  std::vector<int> cpus() const;
  std::uint32_t generation() const noexcept { return shared_->generation.load(std::memory_order_acquire); }

  bool lent() const noexcept { return own_counter_->load() < shared_->until.load(); }
  /// Registers a guest for work on a lent core. Returns false if the cores are not lent or no longer lent.
  bool enter() noexcept;
  void leave() noexcept { shared_->inside.fetch_sub(1); }

  std::uint32_t bell() const noexcept { return shared_->bell.load(); }
  /// Sleeps until the bell rings, at most `at_most_ns`; but does not sleep if the bell has rung since its value was
  /// `bell_seen`.
  void sleep(std::uint32_t bell_seen, std::int64_t at_most_ns) noexcept;
  /// Wakes at most `guests` guests.
  void ring(int guests) noexcept;

 private:
  LentCores* shared_ = nullptr;
  const std::atomic<std::uint64_t>* own_counter_ = nullptr;
};

}  // namespace ringside
