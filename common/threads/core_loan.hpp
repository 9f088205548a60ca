// A loan of cores between two processes: while the owner of some cores waits, threads of the other process may use
// them. No data is shared, so whatever goes wrong here costs time and nothing else (docs/elastic.md).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace ringside {

/// One side's cores, in the control memfd. All zero: nothing is lent.
struct LentCores {
  static constexpr int kMaxCpus = 1024;  // what glibc's cpu_set_t holds

  // Written by the owner of the cores.
  alignas(64) std::array<std::atomic<std::uint64_t>, kMaxCpus / 64> cpus{};  // bit c: logical CPU c is one of them
  std::atomic<std::uint64_t> until{0};       // lent while the borrower's counter is less than this
  std::atomic<std::uint32_t> generation{0};  // of `cpus`: grows when they change
  // Rung by both, and slept on by the guests: it only ever grows, and says nothing but "look again".
  alignas(64) std::atomic<std::uint32_t> bell{0};
  // Written by the borrower.
  std::atomic<std::uint32_t> inside{0};  // guests at work
};
static_assert(sizeof(LentCores) == 256 && std::is_standard_layout_v<LentCores>);
static_assert(offsetof(LentCores, until) == 128 && offsetof(LentCores, bell) == 192);

/// The owner's end. One thread.
class CoreLender {
 public:
  CoreLender() = default;
  /// shared: outlives us. cpus: the owner's, below kMaxCpus.
  CoreLender(LentCores& shared, const std::vector<int>& cpus) noexcept;

  /// From here on the cores may be used, while the borrower's counter is less than `until`.
  void lend(std::uint64_t until) noexcept;
  /// They are needed again, if they were lent. Guests at work get a moment to finish what they are at.
  void take_back() noexcept;

 private:
  LentCores* shared_ = nullptr;  // null: nothing is ever lent
  bool lent_ = false;
};

/// The borrower's end. Any number of threads, but for `forget_guests`.
class CoreBorrower {
 public:
  CoreBorrower() = default;
  /// own_counter: what the owner's `until` is held against. Both outlive us.
  CoreBorrower(LentCores& shared, const std::atomic<std::uint64_t>& own_counter) noexcept
      : shared_(&shared), own_counter_(&own_counter) {}

  /// Those of a process before us, which died with it.
  void forget_guests() noexcept { shared_->inside.store(0); }
  std::uint32_t guests_inside() const noexcept { return shared_->inside.load(); }

  /// The owner's cores, ascending, as it says: there may be no such cores, or none that this process may run on.
  std::vector<int> cpus() const;
  std::uint32_t generation() const noexcept { return shared_->generation.load(std::memory_order_acquire); }

  bool lent() const noexcept { return own_counter_->load() < shared_->until.load(); }
  /// A guest wants to work on a lent core: false if it is not lent (any more).
  bool enter() noexcept;
  void leave() noexcept { shared_->inside.fetch_sub(1); }

  std::uint32_t bell() const noexcept { return shared_->bell.load(); }
  /// Sleeps unless the bell has rung since it was `heard`, until it does, or for `at_most_ns`.
  void sleep(std::uint32_t heard, std::int64_t at_most_ns) noexcept;
  /// Wakes at most so many.
  void ring(int guests) noexcept;

 private:
  LentCores* shared_ = nullptr;
  const std::atomic<std::uint64_t>* own_counter_ = nullptr;
};

}  // namespace ringside
