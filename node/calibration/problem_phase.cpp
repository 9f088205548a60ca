// SPDX-License-Identifier: BSD-3-Clause
#include "node/calibration/problem_phase.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/platform/error.hpp"
#include "common/text/printable.hpp"
#include "node/file/problem_of_solver.hpp"
#include "node/streams/repeats.hpp"
#include "node/streams/tier_memory.hpp"

namespace ringside {
namespace {

/// Like `measured`, but with the spread of the speed instead of that of the time: an iteration that makes almost no
/// progress while steps are kept may take any time.
Measured measured_speed(std::vector<double> seconds) {
  for (double& sample : seconds) sample = 1 / sample;
  const Measured speed = measured(seconds);
  return {1 / speed.value, speed.spread};
}

bool may_need_sync(TierKind kind) noexcept {
  return kind != TierKind::kDax;
}

/// Bytes that one execution moves if every pass goes to memory: the bytes per element, times the number of elements.
/// Copies have all vectors of a step, reductions only x.
std::optional<double> moved_bytes(KernelKind kernel, bool synced, const ProblemSize& size) noexcept {
  const auto n = static_cast<double>(size.rows);
  const double copied = (synced ? 24 : 16) * n * size.vectors;  // write(2) reads each line to which it stores
  switch (kernel) {
    case KernelKind::kTransfer: return copied;
    case KernelKind::kTransferReduced: return copied + 8 * n;
    case KernelKind::kAnalyze: return 16 * n;
    case KernelKind::kSweep: return 8 * n;
    default: return std::nullopt;  // Solver::moved_bytes has those of kGenerate; kCommit does not move data
  }
}

}  // namespace

std::vector<std::pair<int, int>> splits_of(int cores) {
  std::vector<std::pair<int, int>> splits;
  if (cores < 2) return splits;
  const int chosen = std::clamp(cores / 4, 1, 4);  // plan_cores computes the same number
  for (const int analyzer : {chosen, cores / 2, cores - 1, 1, cores / 4, cores - cores / 4}) {
    const std::pair<int, int> split{cores - analyzer, analyzer};
    if (analyzer < 1 || analyzer >= cores) continue;
    if (std::find(splits.begin(), splits.end(), split) == splits.end()) splits.push_back(split);
  }
  return splits;
}

std::uint64_t calibration_bytes(const RingShape& slots, TierKind kind) {
  return RingPool::file_bytes(slots, kCalibrationSlots) * (may_need_sync(kind) ? 2 : 1);
}

ProblemPhase::ProblemPhase(Problem problem, std::string matrix, std::optional<MatrixFile> file, std::vector<int> cpus,
                           std::vector<int> counts)
    : problem_(std::move(problem)),
      size_(problem_of_solver(std::string(text_of(problem_.description.solver)))),
      cpus_(std::move(cpus)),
      counts_(std::move(counts)),
      source_(*problem_.solver) {
  size_.matrix = std::move(matrix);
  size_.format = problem_.solver->format();
  size_.rows = problem_.solver->rows();
  size_.nonzeros = problem_.solver->nonzeros();
  size_.file = std::move(file);
}

void ProblemPhase::make_pools(const std::vector<Tier>& folders) {
  const RingShape slots = slots_for(*problem_.solver);
  for (const Tier& tier : folders) {
    require_room(tier, calibration_bytes(slots, tier.kind));
    places_.push_back({tier.name, false, make_nameless_pool(tier.path, slots, true), {}, {}});
    if (!may_need_sync(tier.kind)) continue;
    places_.push_back({tier.name, true, make_nameless_pool(tier.path, slots, false), {}, {}});
  }
}

Workbench ProblemPhase::bench(Place& place) {
  return {.source = source_,
          .pool = place.pool,
          .run = problem_.description,
          .durability = place.synced ? Durability::kPower : Durability::kProcess,
          .cpus = cpus_};
}

/// A run would end with this error, too. Kernels come before pairs, so most matrices are refused after the first visit.
void ProblemPhase::refuse_breakdown() const {
  if (!source_.has_broken_down()) return;
  throw usage_error("{}: {} broke down: {}", size_.matrix, size_.solver, problem_.solver->breakdown());
}

void ProblemPhase::add_to(CalibrationPlan& plan) {
  // A series cannot be interpolated without its two ends, so the measurements of the ends come before all pairs.
  for (const bool synced : {false, true}) {
    for (const int threads : std::set<int>{counts_.front(), counts_.back()}) {
      for (Place& place : places_) {
        if (place.synced == synced) add_kernels(plan, place, threads);
      }
    }
  }
  for (const bool synced : {false, true}) {
    for (Place& place : places_) {
      if (place.synced == synced) add_pairs(plan, place);
    }
  }
  for (std::size_t count = 1; count + 1 < counts_.size(); ++count) {
    for (Place& place : places_) add_kernels(plan, place, counts_[count]);
  }
}

void ProblemPhase::add_kernels(CalibrationPlan& plan, Place& place, int threads) {
  plan.add(fmt::format("{} in {}{} with {}", printable(size_.matrix), printable(place.tier),
                       place.synced ? ", synced," : "", threads_text(threads)),
           [this, &place, threads] {
             KernelSamples samples;
             measure_kernels(bench(place), threads, samples);
             refuse_breakdown();
             take(place, threads, samples);
           });
}

void ProblemPhase::add_pairs(CalibrationPlan& plan, Place& place) {
  for (const auto& split : splits_of(static_cast<int>(cpus_.size()))) {
    for (const bool on_the_way : {false, true}) {
      plan.add(fmt::format("{} in {}{}: generate beside steps{}, {}+{} threads", printable(size_.matrix),
                           printable(place.tier), place.synced ? ", synced" : "",
                           on_the_way ? " that are reduced during the copy" : "", split.first, split.second),
               [this, &place, on_the_way, split] {
                 measure_pair(bench(place), on_the_way, split.first, split.second, place.pairs[{on_the_way, split}]);
                 refuse_breakdown();
               });
    }
  }
}

void ProblemPhase::take(Place& place, int threads, const KernelSamples& samples) {
  const auto add = [threads](SampleSeries& to, const std::vector<double>& from) {
    to[threads].insert(to[threads].end(), from.begin(), from.end());
  };
  add(generate_s_, samples.generate_s);  // in DRAM, independently of the slots
  add(place.kernels[KernelKind::kTransfer], samples.transfer_s);
  add(place.kernels[KernelKind::kTransferReduced], samples.transfer_reduced_s);
  add(place.kernels[KernelKind::kAnalyze], samples.analyze_s);
  add(place.kernels[KernelKind::kSweep], samples.sweep_s);
  add(place.kernels[KernelKind::kCommit], samples.commit_s);
}

void ProblemPhase::collect(Node& node) const {
  const auto bytes_of = [&](KernelKind kernel, bool synced) {
    return kernel == KernelKind::kGenerate ? problem_.solver->moved_bytes() : moved_bytes(kernel, synced, size_);
  };
  const auto add = [&](KernelKind kernel, const std::string& tier, bool synced, const SampleSeries& samples) {
    Series series = series_of(samples);
    if (series.points.empty()) return;
    node.kernels.push_back({.kernel = kernel,
                            .problem = size_,
                            .tier = tier,
                            .synced = synced,
                            .seconds = std::move(series),
                            .moved_bytes = bytes_of(kernel, synced)});
  };
  add(KernelKind::kGenerate, node.tiers.front().name, false, generate_s_);
  for (const Place& place : places_) {
    for (const auto& [kernel, samples] : place.kernels) add(kernel, place.tier, place.synced, samples);
  }
  note_single_points(node);
  for (const Place& place : places_) {
    for (const auto& [key, samples] : place.pairs) {
      const auto& [on_the_way, split] = key;
      const KernelKind copy = on_the_way ? KernelKind::kTransferReduced : KernelKind::kTransfer;
      add_pair(node, place, copy, split, samples.generate_s, samples.transfer_s);
      if (!on_the_way) add_pair(node, place, KernelKind::kAnalyze, split, samples.generate_s, samples.analyze_s);
    }
  }
}

/// Adds a remark for each place of slots whose kernels have figures for only one thread count although several were
/// requested.
void ProblemPhase::note_single_points(Node& node) const {
  if (counts_.size() < 2) return;
  for (const Place& place : places_) {
    const auto transfer = place.kernels.find(KernelKind::kTransfer);
    if (transfer == place.kernels.end()) continue;
    const Series series = series_of(transfer->second);
    if (series.points.size() != 1) continue;
    node.remarks.push_back(
        fmt::format("{} in {}{} was measured only with {}: the times with other thread counts are extrapolated; a "
                    "longer --budget measures more",
                    printable(size_.matrix), printable(place.tier), place.synced ? ", synced," : "",
                    threads_text(series.points.front().threads)));
  }
}

/// Adds the figures of a pair, or nothing if there are too few samples.
void ProblemPhase::add_pair(Node& node, const Place& place, KernelKind second, std::pair<int, int> split,
                            const std::vector<double>& first_s, const std::vector<double>& second_s) const {
  if (std::min(first_s.size(), second_s.size()) < kLeastSamplesOfFigure) return;
  node.pairs.push_back({.first = KernelKind::kGenerate,
                        .second = second,
                        .problem = size_,
                        .tier = place.tier,
                        .synced = place.synced,
                        .first_threads = split.first,
                        .second_threads = split.second,
                        .first_s = measured_speed(first_s),
                        .second_s = measured(second_s)});
}

}  // namespace ringside
