// SPDX-License-Identifier: BSD-3-Clause
#include "node/kernels/kernel_bench.hpp"

#include <algorithm>
#include <atomic>
#include <memory>

#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "node/benches/openmp_groups.hpp"

namespace ringside {
namespace {

constexpr double kVisitS = 0.15;  // how long a visit measures, if steps are short
constexpr double kMostPatterns = 5;
constexpr double kBurstS = 0.06;  // how long iterations run without steps between them
constexpr int kWarmUpSteps = 2;   // the first step has no iterate before it
constexpr int kPasses = 5;        // the number of passes of the step that measures further sweeps

/// The steps of one pattern: one is reduced in the slot, one in the slot with further sweeps, one during the copy.
constexpr int kStepsInPattern = 3;

/// Makes and keeps iterates in turn.
class Steps {
 public:
  Steps(const Workbench& bench, KernelSamples& samples) : bench_(bench), samples_(samples) {}

  /// Measures iterations without steps between them, because keeping a step uses the shared caches.
  void generate_alone() {
    if (bench_.durability == Durability::kPower) return;  // the disk would still be writing
    for (double sum_s = 0; sum_s < kWarmUpS; sum_s += generate_s_) generate();
    for (double sum_s = 0; sum_s < kBurstS; sum_s += generate_s_) {
      generate();
      samples_.generate_s.push_back(generate_s_);
    }
  }

  /// The producer's part of a step.
  void generate() noexcept {
    bench_.source.begin_again_when_due();
    const std::int64_t begun = now_ns();
    bench_.source.iterate(true);
    generate_s_ = seconds(now_ns() - begun);
  }

  /// The analyzer's part. Returns false after the last step.
  bool keep(StepKeeper& keeper) noexcept {
    const bool warming = step_ < kWarmUpSteps;
    const int kind = warming ? 0 : (step_ - kWarmUpSteps) % kStepsInPattern;
    StepTimes times;
    const auto reduce = kind == 2 ? StepKeeper::Reduce::kOnTheWay : StepKeeper::Reduce::kInSlot;
    const double* const payload = bench_.source.hold().payload;
    failed_ = !keeper.keep(payload, reduce, kind == 1 ? kPasses : 1, times);
    bench_.source.let_go();
    if (failed_) return false;
    if (warming) {
      const double step_s = generate_s_ + times.transfer_s + times.commit_s + times.analyze_s;
      patterns_ = static_cast<int>(std::clamp(kVisitS / (kStepsInPattern * step_s), 1.0, kMostPatterns));
    } else {
      add(kind, times);
    }
    return ++step_ < kWarmUpSteps + kStepsInPattern * patterns_;
  }

  bool failed() const noexcept { return failed_; }

 private:
  void add(int kind, const StepTimes& times) noexcept {
    samples_.commit_s.push_back(times.commit_s);
    if (kind == 2) {
      // Includes the reductions that remain after the copy.
      samples_.transfer_reduced_s.push_back(times.transfer_s + times.analyze_s);
      return;
    }
    samples_.transfer_s.push_back(times.transfer_s);
    if (kind == 0) {
      samples_.analyze_s.push_back(times.analyze_s);
    } else {
      samples_.sweep_s.push_back(std::max(0.0, times.analyze_s - samples_.analyze_s.back()) / (kPasses - 1));
    }
  }

  const Workbench& bench_;
  KernelSamples& samples_;
  int step_ = 0;
  int patterns_ = 1;
  double generate_s_ = 0;
  bool failed_ = false;
};

/// Measures with two groups of threads that wait for each other.
void measure_apart(const Workbench& bench, std::vector<int> producer, std::vector<int> analyzer, Steps& steps) {
  std::atomic<std::uint64_t> made{0};
  std::atomic<std::uint64_t> kept{0};
  std::atomic<bool> ended{false};
  const OpenMpGroup generating{std::move(producer), [&](Team& team) -> GroupWork {
                                 bench.source.share_among(team);
                                 return [&] {
                                   steps.generate_alone();
                                   for (std::uint64_t step = 0;; ++step) {
                                     spin_until([&] { return kept.load() == step || ended.load(); });
                                     if (ended.load()) return;
                                     steps.generate();
                                     made.store(step + 1);
                                   }
                                 };
                               }};
  const OpenMpGroup keeping{std::move(analyzer), [&](Team& team) -> GroupWork {
                              const auto keeper = std::make_shared<StepKeeper>(bench.pool, bench.source.solver(),
                                                                               bench.run, bench.durability, team);
                              return [&, keeper] {
                                for (std::uint64_t step = 0;; ++step) {
                                  spin_until([&] { return made.load() == step + 1; });
                                  if (!steps.keep(*keeper)) break;
                                  kept.store(step + 1);
                                }
                                ended.store(true);
                              };
                            }};
  run_openmp_groups({generating, keeping});
}

/// Measures with one group of threads that does the work of both sides.
void measure_together(const Workbench& bench, const std::vector<int>& cpus, Steps& steps) {
  run_openmp_groups({{cpus, [&](Team& team) -> GroupWork {
                        bench.source.share_among(team);
                        const auto keeper = std::make_shared<StepKeeper>(bench.pool, bench.source.solver(), bench.run,
                                                                         bench.durability, team);
                        return [&, keeper] {
                          steps.generate_alone();
                          do {
                            steps.generate();
                          } while (steps.keep(*keeper));
                        };
                      }}});
}

}  // namespace

void measure_kernels(const Workbench& bench, int threads, KernelSamples& samples) {
  Steps steps(bench, samples);
  const auto count = static_cast<std::ptrdiff_t>(threads);
  const std::vector<int> first(bench.cpus.begin(), bench.cpus.begin() + count);
  if (2 * static_cast<std::size_t>(threads) <= bench.cpus.size()) {
    measure_apart(bench, first, {bench.cpus.end() - count, bench.cpus.end()}, steps);
  } else {
    measure_together(bench, first, steps);
  }
  if (steps.failed()) throw system_error("the disk failed while steps were kept on it; `dmesg` has the reason");
}

}  // namespace ringside
