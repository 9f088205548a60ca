// SPDX-License-Identifier: BSD-3-Clause
#include "node/kernels/pair_bench.hpp"

#include <atomic>
#include <memory>

#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "node/benches/openmp_groups.hpp"

namespace ringside {
namespace {

constexpr std::size_t kLeastSamples = 3;
constexpr double kLeastS = 0.1;  // of both at work
constexpr int kWarmUps = 2;

/// Both sides together decide when there are enough samples.
struct Meeting {
  std::atomic<int> warm{0};
  std::atomic<std::size_t> counted[2] = {0, 0};
  std::atomic<bool> ended{false};
  std::atomic<bool> failed{false};
};

/// One execution of a kernel.
struct Executed {
  double took_s = 0;   // less than 0: it failed
  bool counts = true;  // as a sample; else it only loads the machine
};

/// Repeats `execute`, which returns an Executed.
template <class Execute>
void repeat(Meeting& meeting, int side, std::vector<double>& samples, Execute execute) {
  for (int i = 0; i < kWarmUps && execute().took_s >= 0; ++i) continue;
  ++meeting.warm;
  spin_until([&] { return meeting.warm.load() == 2; });
  const std::int64_t begun = now_ns();
  for (std::size_t count = 0;;) {
    const Executed executed = execute();
    if (executed.took_s < 0) {
      meeting.failed.store(true);
      meeting.ended.store(true);
    }
    if (meeting.ended.load()) return;  // the other side had stopped working
    if (!executed.counts) continue;
    samples.push_back(executed.took_s);
    meeting.counted[side].store(++count);
    if (meeting.counted[1 - side].load() >= kLeastSamples && count >= kLeastSamples &&
        seconds(now_ns() - begun) >= kLeastS) {
      meeting.ended.store(true);
      return;
    }
  }
}

/// The analyzer's side.
class Second {
 public:
  /// analyze_s: receives the seconds of that part of whole steps.
  Second(KernelKind kernel, const Workbench& bench, StepKeeper& keeper, std::vector<double>& analyze_s)
      : kernel_(kernel),
        reduce_(kernel == KernelKind::kTransferReduced   ? StepKeeper::Reduce::kOnTheWay
                : bench.durability == Durability::kPower ? StepKeeper::Reduce::kInSlot
                                                         : StepKeeper::Reduce::kNever),
        source_(bench.source),
        keeper_(keeper),
        analyze_s_(analyze_s) {}

  Executed operator()() {
    if (kernel_ == KernelKind::kAnalyze) return {.took_s = keeper_.analyze_next()};
    StepTimes times;
    const std::uint64_t copied_before = copied_;
    const bool kept = keeper_.keep(source(), reduce_, 1, times);
    source_.let_go();
    if (!kept) return {.took_s = -1};
    if (reduce_ == StepKeeper::Reduce::kInSlot) analyze_s_.push_back(times.analyze_s);
    return {.took_s = times.transfer_s + (reduce_ == StepKeeper::Reduce::kOnTheWay ? times.analyze_s : 0),
            .counts = copied_ != copied_before};
  }

 private:
  /// Each new iterate once, as in a run, which is what counts. Between them earlier ones: a new one, copied again,
  /// would come from another cache than in a run.
  const double* source() noexcept {
    const std::uint64_t made = source_.made();
    if (made == copied_) return source_.earlier();
    copied_ = made;
    return source_.hold();
  }

  const KernelKind kernel_;
  const StepKeeper::Reduce reduce_;
  IterateSource& source_;
  StepKeeper& keeper_;
  std::vector<double>& analyze_s_;
  std::uint64_t copied_ = 0;
};

}  // namespace

void measure_pair(const Workbench& bench, KernelKind second, int first_threads, int second_threads,
                  PairSamples& samples) {
  Meeting meeting;
  const OpenMpGroup generating{{bench.cpus.begin(), bench.cpus.begin() + first_threads}, [&](Team& team) -> GroupWork {
                                 bench.source.share_among(team);
                                 return [&] {
                                   repeat(meeting, 0, samples.first_s, [&] {
                                     bench.source.begin_again_when_due();
                                     const std::int64_t begun = now_ns();
                                     bench.source.iterate(false);
                                     return Executed{.took_s = seconds(now_ns() - begun)};
                                   });
                                 };
                               }};
  const OpenMpGroup keeping{
      {bench.cpus.end() - second_threads, bench.cpus.end()}, [&](Team& team) -> GroupWork {
        const auto keeper = std::make_shared<StepKeeper>(bench.pool, bench.run, bench.durability, team);
        return [&, keeper] { repeat(meeting, 1, samples.second_s, Second(second, bench, *keeper, samples.analyze_s)); };
      }};
  run_openmp_groups({generating, keeping});
  if (meeting.failed.load()) throw system_error("the disk failed while steps were kept on it; `dmesg` has the reason");
}

}  // namespace ringside
