// SPDX-License-Identifier: BSD-3-Clause
#include "node/calibration/machine_phase.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "common/text/printable.hpp"
#include "node/benches/clock_bench.hpp"
#include "node/streams/cores.hpp"
#include "node/streams/repeats.hpp"

namespace ringside {
namespace {

constexpr std::uint64_t kDiskBytes = std::uint64_t{32} << 20;

/// The figure of the samples; empty if there are too few samples, or if the figure is a difference (a sweep) that is
/// not above 0 because of noise.
std::optional<Measured> figure_of(const std::vector<double>& samples) {
  if (samples.size() < kLeastSamplesOfFigure) return std::nullopt;
  const Measured figure = measured(samples);
  return figure.value > 0 ? std::optional(figure) : std::nullopt;
}

/// The CPUs of `cpus` on the tier's NUMA node; all of them if that node is unknown or has none of these CPUs.
std::vector<int> cpus_near(const Machine& machine, const std::vector<int>& cpus, const Tier& tier) {
  std::vector<int> near;
  for (const HardwareThread& thread : machine.threads) {
    const bool used = std::find(cpus.begin(), cpus.end(), thread.cpu) != cpus.end();
    if (used && (tier.numa_node < 0 || thread.numa_node == tier.numa_node)) near.push_back(thread.cpu);
  }
  return near.empty() ? cpus : near;
}

}  // namespace

std::string threads_text(int threads) {
  return fmt::format("{} {}", threads, threads == 1 ? "thread" : "threads");
}

Series series_of(const SampleSeries& samples) {
  Series series;
  for (const auto& [threads, values] : samples) {
    if (const std::optional<Measured> figure = figure_of(values)) series.points.push_back({threads, *figure});
  }
  return series;
}

MachinePhase::MachinePhase(const Machine& machine, std::vector<int> cpus, std::vector<int> counts,
                           const std::vector<Tier>& tiers, std::uint64_t stream_elements)
    : cpus_(std::move(cpus)), counts_(std::move(counts)) {
  for (const Tier& tier : tiers) {
    const std::uint64_t elements =
        stream_elements > 0 ? stream_elements : stream_elements_for(tier, last_level_cache_bytes(machine));
    if (tier.kind == TierKind::kPageCache) disks_[tier.path];
    if (elements == 0) {
      remarks_.push_back(
          fmt::format("{}: STREAM was not measured: no room for arrays larger than the caches", printable(tier.name)));
      continue;
    }
    if (elements * sizeof(double) < last_level_cache_bytes(machine)) {
      remarks_.push_back(fmt::format(
          "{}: for lack of room, STREAM's arrays fit into the caches: the measured rates may be those of the caches",
          printable(tier.name)));
    }
    streams_.push_back({tier.name, std::make_unique<StreamBench>(tier, cpus_near(machine, cpus_, tier), elements), {}});
  }
}

void MachinePhase::add_to(CalibrationPlan& plan) {
  add_streams(plan, {"read", "copy", "copy_nontemporal"}, false);
  for (const int threads : counts_) {
    plan.add(fmt::format("the clock with {} busy {}", threads, threads == 1 ? "core" : "cores"), [this, threads] {
      measure_clock({cpus_.begin(), cpus_.begin() + threads}, clock_ghz_[threads]);
    });
  }
  if (cpus_.size() > 1) {
    plan.add("the cost of a hand-off", [this] { measure_hand_off(cpus_.front(), cpus_.back(), costs_); });
    plan.add("the cost of a wake-up", [this] { measure_wake_up(cpus_.front(), cpus_.back(), costs_); });
    plan.add("the cost of a loan", [this] { measure_loan(cpus_.front(), cpus_.back(), costs_); });
  }
  plan.add("the cost of a barrier", [this] { measure_barrier(cpus_, costs_); });
  for (auto& [folder, samples] : disks_) {
    plan.add("the disk of " + printable(folder),
             [name = folder, to = &samples] { measure_disk(name, kDiskBytes, *to); });
  }
  add_streams(plan, {"read", "copy", "copy_nontemporal"}, true);
  add_streams(plan, {"scale", "add", "triad"}, false);
  add_streams(plan, {"scale", "add", "triad"}, true);
}

/// Adds each loop with all threads and with the fewest threads; with in_between, adds the loop with the thread counts
/// in between instead. The plan leaves out measurements from the end of its list. Therefore the first loops of all
/// tiers are added before any second loop, and the rate of all threads (the channels' capacity) is added first.
void MachinePhase::add_streams(CalibrationPlan& plan, const std::vector<std::string>& loops, bool in_between) {
  for (const std::string& loop : loops) {
    for (Streams& streams : streams_) {
      const int most = streams.bench->most_threads();
      std::vector<int> counts;
      for (const int count : counts_) counts.push_back(std::min(count, most));
      counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
      std::reverse(counts.begin(), counts.end());
      for (const int threads : counts) {
        if ((threads != counts.front() && threads != counts.back()) != in_between) continue;
        plan.add(fmt::format("{} of {} with {}", loop, printable(streams.tier), threads_text(threads)),
                 [&streams, loop, threads] { streams.bench->measure(loop, threads, streams.gb_s[loop][threads]); });
      }
    }
  }
}

void MachinePhase::collect(Node& node) {
  if (Series clock = series_of(clock_ghz_); !clock.points.empty()) node.clock_ghz = std::move(clock);
  for (const Streams& streams : streams_) {
    const std::size_t before = node.streams.size();
    for (const auto& [loop, samples] : streams.gb_s) {
      if (Series gb_s = series_of(samples); !gb_s.points.empty()) {
        node.streams.push_back({loop, streams.tier, std::move(gb_s)});
      }
    }
    if (node.streams.size() > before) continue;
    remarks_.push_back(fmt::format("{}: STREAM was not measured: the time was too short; a longer --budget measures it",
                                   printable(streams.tier)));
  }
  for (Tier& tier : node.tiers) {
    const auto disk = disks_.find(tier.path);
    if (tier.kind != TierKind::kPageCache || disk == disks_.end()) continue;
    tier.sync_s = figure_of(disk->second.sync_s);
    tier.sync_gb_s = figure_of(disk->second.sync_gb_s);
  }
  node.costs = {.hand_off_s = figure_of(costs_.hand_off_s),
                .wake_up_s = figure_of(costs_.wake_up_s),
                .loan_s = figure_of(costs_.loan_s),
                .barrier_s = figure_of(costs_.barrier_s)};
  node.remarks.insert(node.remarks.end(), remarks_.begin(), remarks_.end());
  streams_.clear();
}

}  // namespace ringside
