// SPDX-License-Identifier: BSD-3-Clause
#include "node/kernels/pair_bench.hpp"

#include <algorithm>
#include <atomic>
#include <memory>

#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "node/benches/openmp_groups.hpp"
#include "node/kernels/iteration_overlap.hpp"

namespace ringside {
namespace {

constexpr std::uint64_t kLeastIterations = 3;
constexpr std::uint64_t kFirstSteps = 2;  // these steps are not counted: no iterate precedes the first one
constexpr std::uint64_t kLeastSteps = 3;
constexpr double kBlockS = 0.06;  // how long one block is measured, with the analyzer and without it

constexpr std::size_t kMostSpans = 1 << 14;  // the most spans per side; allocated early, to avoid waits for memory

template <class Value>
void note(std::vector<Value>& values, const Value& value) noexcept {
  if (values.size() < values.capacity()) values.push_back(value);
}

/// The data that both sides share.
struct Meeting {
  std::atomic<bool> steps_wanted{true};
  std::atomic<bool> at_rest{false};  // whether the analyzer's side and its disk are idle after the last step
  std::atomic<std::uint64_t> kept{0};
  std::atomic<bool> ended{false};
  std::atomic<bool> failed{false};
};

/// The producer's side: iterates first while the analyzer works, then alone. In both cases, iterations count only after
/// the caches have reached their steady state.
class Iterations {
 public:
  Iterations(IterateSource& source, Meeting& meeting) : source_(source), meeting_(meeting) {
    beside_.reserve(kMostSpans);
    alone_.reserve(kMostSpans);
  }

  void operator()() {
    warm_up();
    const std::uint64_t enough = std::max(meeting_.kept.load(), kFirstSteps) + kLeastSteps;
    block(beside_, [&] { return meeting_.kept.load() >= enough; });
    meeting_.steps_wanted.store(false);
    while (!meeting_.at_rest.load() && !meeting_.failed.load()) iterate();
    reader_is_away_ = true;
    warm_up();
    block(alone_, [] { return true; });
    meeting_.ended.store(true);
  }

  const std::vector<WorkSpan>& beside() const noexcept { return beside_; }
  const std::vector<WorkSpan>& alone() const noexcept { return alone_; }

 private:
  WorkSpan iterate() {
    source_.begin_again_when_due();
    const std::int64_t begun = now_ns();
    source_.iterate(reader_is_away_);
    return {.begun_ns = begun, .ended_ns = now_ns()};
  }

  void warm_up() {
    const std::int64_t begun = now_ns();
    do {
      iterate();
    } while (seconds(now_ns() - begun) < kWarmUpS && !meeting_.failed.load());
  }

  template <class Enough>
  void block(std::vector<WorkSpan>& spans, Enough enough) {
    const std::int64_t begun = now_ns();
    do {
      note(spans, iterate());
    } while ((spans.size() < kLeastIterations || seconds(now_ns() - begun) < kBlockS || !enough()) &&
             !meeting_.failed.load());
  }

  IterateSource& source_;
  Meeting& meeting_;
  bool reader_is_away_ = false;  // if true, two buffers are sufficient, as in a run
  std::vector<WorkSpan> beside_;
  std::vector<WorkSpan> alone_;
};

/// The analyzer's side: keeps each new iterate once while steps are wanted.
class NewIterates {
 public:
  NewIterates(IterateSource& source, Meeting& meeting, bool on_the_way, PairSamples& samples)
      : source_(source), meeting_(meeting), on_the_way_(on_the_way), samples_(samples) {
    spans_.reserve(kMostSpans);
    samples_.transfer_s.reserve(samples_.transfer_s.size() + kMostSpans);
    samples_.analyze_s.reserve(samples_.analyze_s.size() + kMostSpans);
  }

  void operator()(StepKeeper& keeper) {
    for (std::uint64_t seen = source_.made();;) {
      spin_until([&] { return !meeting_.steps_wanted.load() || source_.made() != seen; });
      if (!meeting_.steps_wanted.load()) break;
      const IterateSource::Held held = source_.hold();
      seen = held.number;
      StepTimes times;
      const auto reduce = on_the_way_ ? StepKeeper::Reduce::kOnTheWay : StepKeeper::Reduce::kInSlot;
      const bool kept = keeper.keep(held.payload, reduce, 1, times);
      source_.let_go();
      if (!kept) return meeting_.failed.store(true);
      add(times);
      if (++meeting_.kept > kFirstSteps) count(times);
    }
    if (!keeper.settle()) return meeting_.failed.store(true);
    meeting_.at_rest.store(true);
    spin_until([&] { return meeting_.ended.load(); });
  }

  const std::vector<WorkSpan>& spans() const noexcept { return spans_; }

 private:
  /// Adds the span of a step's work, without the wait for a disk.
  void add(const StepTimes& times) {
    const std::int64_t ended = now_ns();
    const double took_s = times.transfer_s + times.commit_s + times.analyze_s;
    note(spans_, {.begun_ns = ended - static_cast<std::int64_t>(took_s * 1e9), .ended_ns = ended});
  }

  void count(const StepTimes& times) {
    note(samples_.transfer_s, times.transfer_s + (on_the_way_ ? times.analyze_s : 0));
    if (!on_the_way_) note(samples_.analyze_s, times.analyze_s);
  }

  IterateSource& source_;
  Meeting& meeting_;
  const bool on_the_way_;
  PairSamples& samples_;
  std::vector<WorkSpan> spans_;
};

}  // namespace

void measure_pair(const Workbench& bench, bool on_the_way, int producer_threads, int analyzer_threads,
                  PairSamples& samples) {
  Meeting meeting;
  Iterations iterations(bench.source, meeting);
  NewIterates steps(bench.source, meeting, on_the_way, samples);
  const OpenMpGroup generating{{bench.cpus.begin(), bench.cpus.begin() + producer_threads},
                               [&](Team& team) -> GroupWork {
                                 bench.source.share_among(team);
                                 return [&] { iterations(); };
                               }};
  const OpenMpGroup keeping{{bench.cpus.end() - analyzer_threads, bench.cpus.end()}, [&](Team& team) -> GroupWork {
                              const auto keeper = std::make_shared<StepKeeper>(bench.pool, bench.source.solver(),
                                                                               bench.run, bench.durability, team);
                              return [&, keeper] { steps(*keeper); };
                            }};
  run_openmp_groups({generating, keeping});
  if (meeting.failed.load()) throw system_error("the disk failed while steps were kept on it; `dmesg` has the reason");
  if (const auto beside_s = median_beside(iterations.alone(), iterations.beside(), steps.spans())) {
    samples.generate_s.push_back(*beside_s);
  }
}

}  // namespace ringside
