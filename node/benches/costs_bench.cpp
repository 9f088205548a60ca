// SPDX-License-Identifier: BSD-3-Clause
#include "node/benches/costs_bench.hpp"

#include <atomic>
#include <cstdint>
#include <memory>

#include "common/handoff/futex_coordination.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/futex.hpp"
#include "common/threads/elastic_team.hpp"
#include "node/benches/openmp_groups.hpp"

namespace ringside {
namespace {

// Samples per call of a measuring function. There are fewer samples of wake-ups, because a thread needs time to fall
// asleep.
constexpr std::uint64_t kHandOffs = 200;
constexpr std::uint64_t kWakeUps = 20;
constexpr std::uint64_t kLoans = 10;
constexpr int kBarriers = 20;
constexpr int kSharesInBarrier = 50;

// As long as a typical iteration, because a core that is idle for longer enters a deeper sleep state.
constexpr std::int64_t kAsleepNs = 3'000'000;
constexpr std::int64_t kPieceNs = 20'000;  // the time of a piece of work that a guest takes
constexpr std::uint64_t kPiecesOfLoan = 400;
constexpr std::int64_t kLoanNs = 2'000'000;

void work_for(std::int64_t ns) noexcept {
  for (const std::int64_t end = now_ns() + ns; now_ns() < end;) __builtin_ia32_pause();
}

/// The words that both sides read and write, in the layout that the control memory of a hand-off has.
struct Words {
  alignas(64) std::atomic<std::uint64_t> published{0};
  std::atomic<std::int64_t> published_at_ns{0};
  alignas(64) std::atomic<std::uint64_t> released{0};
};

/// Publishes `count` times, each time after the other side has released the buffer; `receive` waits for the n-th
/// publish.
template <class Receive>
void pass_on(int first, int last, std::uint64_t count, std::int64_t pause_ns, std::vector<double>& samples,
             const Receive& receive) {
  Words words;
  const OpenMpGroup publisher{{first}, [&](Team&) -> GroupWork {
                                return [&] {
                                  FutexCoordination coordination(words.published, words.released);
                                  for (std::uint64_t n = 1; n <= count; ++n) {
                                    work_for(pause_ns);
                                    words.published_at_ns.store(now_ns(), std::memory_order_relaxed);
                                    words.published.store(n, std::memory_order_release);
                                    coordination.announce();
                                    spin_until([&] { return words.released.load() >= n; });
                                  }
                                };
                              }};
  const OpenMpGroup receiver{{last}, [&](Team&) -> GroupWork {
                               return [&] {
                                 FutexCoordination coordination(words.released, words.published);
                                 for (std::uint64_t n = 1; n <= count; ++n) {
                                   receive(words, coordination, n);
                                   const std::int64_t at = now_ns();
                                   samples.push_back(seconds(at - words.published_at_ns.load()));
                                   words.released.store(n, std::memory_order_release);
                                   coordination.announce();
                                 }
                               };
                             }};
  run_openmp_groups({publisher, receiver});
}

/// The words that both sides of a loan read and write.
struct LoanWords {
  LentCores cores;
  std::atomic<std::uint64_t> counter{0};  // of the borrower: the loan lasts until this counter is 1
  std::atomic<std::int64_t> lent_ns{0};   // how long guests worked
  std::atomic<int> jobs{0};               // the number of jobs that the borrower has begun
  std::atomic<std::int64_t> first_piece_at_ns{0};
  std::atomic<bool> ready{false};
  std::atomic<bool> ended{false};
};

void lend_often(LoanWords& words, CoreLender& lender, std::vector<double>& samples) {
  spin_until([&] { return words.ready.load(); });
  for (std::uint64_t n = 0; n < kLoans; ++n) {
    const int before = words.jobs.load();
    spin_until([&] { return words.jobs.load() > before; });  // the borrower now has work for longer than the loan
    words.first_piece_at_ns.store(0);
    const std::uint32_t never = 0;
    const std::int64_t begun = now_ns();
    lender.lend(1);
    futex_sleep(&never, 0, kLoanNs);  // waits as an owner that lends its core does
    const std::int64_t back = now_ns();
    lender.take_back();
    const std::int64_t taken = now_ns();
    const std::int64_t first_piece = words.first_piece_at_ns.load();
    if (first_piece > begun && first_piece < back) {
      samples.push_back(seconds((first_piece - begun) + (taken - back)));
    }
  }
  words.ended.store(true);
}

void borrow_until_ended(LoanWords& words, Team& team, int home_threads) {
  words.ready.store(true);
  while (!words.ended.load()) {
    ++words.jobs;
    team.share(kPiecesOfLoan, [&](std::uint64_t, int thread) noexcept {
      std::int64_t none = 0;
      if (thread >= home_threads) words.first_piece_at_ns.compare_exchange_strong(none, now_ns());
      if (!words.ended.load()) work_for(kPieceNs);
    });
  }
}

}  // namespace

void measure_hand_off(int first, int last, CostSamples& samples) {
  pass_on(first, last, kHandOffs, kPieceNs, samples.hand_off_s,
          [](Words&, FutexCoordination& coordination, std::uint64_t n) {
            while (coordination.seen() < n) {  // spins as FutexCoordination does
              for (int pause = 0; pause < 16; ++pause) __builtin_ia32_pause();
            }
          });
}

void measure_wake_up(int first, int last, CostSamples& samples) {
  pass_on(first, last, kWakeUps, kAsleepNs, samples.wake_up_s,
          [](Words& words, FutexCoordination& coordination, std::uint64_t n) {
            while (coordination.seen() < n) {
              futex_sleep(&words.published, static_cast<std::uint32_t>(n - 1), 10 * kAsleepNs);
            }
          });
}

void measure_loan(int owner, int borrower, CostSamples& samples) {
  LoanWords words;
  CoreLender lender(words.cores, {owner});
  const OpenMpGroup lending{{owner},
                            [&](Team&) -> GroupWork { return [&] { lend_often(words, lender, samples.loan_s); }; }};
  const OpenMpGroup borrowing{{borrower}, [&](Team&) -> GroupWork {
                                const auto team = std::make_shared<ElasticTeam>(
                                    std::vector<int>{borrower}, CoreBorrower(words.cores, words.counter),
                                    words.lent_ns);
                                return [&words, team] { borrow_until_ended(words, *team, 1); };
                              }};
  run_openmp_groups({lending, borrowing});
}

void measure_barrier(const std::vector<int>& cpus, CostSamples& samples) {
  run_openmp_groups({{cpus, [&](Team& team) -> GroupWork {
                        return [&] {
                          for (int n = 0; n < kBarriers; ++n) {
                            const std::int64_t begun = now_ns();
                            for (int share = 0; share < kSharesInBarrier; ++share) {
                              team.share(static_cast<std::uint64_t>(team.threads()),
                                         [](std::uint64_t, int) noexcept {});
                            }
                            samples.barrier_s.push_back(seconds(now_ns() - begun) / kSharesInBarrier);
                          }
                        };
                      }}});
}

}  // namespace ringside
