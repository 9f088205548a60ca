// SPDX-License-Identifier: BSD-3-Clause
#include "node/calibration/calibration.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "common/program/topology.hpp"
#include "common/text/printable.hpp"
#include "common/text/utc_text.hpp"
#include "node/benches/openmp_groups.hpp"
#include "node/calibration/fingerprint.hpp"
#include "node/calibration/machine_phase.hpp"
#include "node/calibration/problem_phase.hpp"
#include "node/file/matrix_file.hpp"
#include "node/streams/cores.hpp"
#include "node/streams/tier_memory.hpp"
#include "producer/matrix/matrix_source.hpp"
#include "producer/solver/problem.hpp"

namespace ringside {
namespace {

// The share of the time for measurements without a matrix, and the share that is reserved for the end.
constexpr double kMachineShare = 0.3;
constexpr double kReserve = 0.03;

constexpr const char* kSharedMemoryFolder = "/dev/shm";

bool same_file_system(const std::string& a, const std::string& b) {
  struct stat first {};
  struct stat second {};
  return stat(a.c_str(), &first) == 0 && stat(b.c_str(), &second) == 0 && first.st_dev == second.st_dev;
}

/// The tier of a folder, under the folder's full name.
Tier tier_of(const std::string& folder, const std::string& dram) {
  std::error_code none;
  const std::filesystem::path full = std::filesystem::canonical(folder, none);
  Tier tier = folder_tier(none ? folder : full.string(), "--memory");
  if (tier.kind == TierKind::kPageCache || tier.kind == TierKind::kTmpfs) tier.shares_with = dram;
  return tier;
}

class Calibration {
 public:
  explicit Calibration(const CalibrationOptions& options)
      : options_(options),
        begun_ns_(now_ns()),
        deadline_ns_(begun_ns_ + static_cast<std::int64_t>(options.budget_s * (1 - kReserve) * 1e9)),
        machine_(read_machine()),
        cpus_(usable_cores(machine_)) {}

  Node run() {
    describe();
    note_load();
    find_tiers();
    const std::vector<int> counts = thread_counts();
    for (const SolveOptions& solve : options_.problems) {
      check_matrix_name(solve.matrix, solve.columns);
      files_.push_back(matrix_file(solve.matrix, solve.columns));  // before the reading, to detect a later change
    }
    std::optional<Problem> first = load(options_.problems.front());  // before the machine's measurements (minutes)
    if (!options_.folders.empty()) (void)tiers_with_room(*first->solver);
    measure_machine(counts);
    for (std::size_t index = 0; index < options_.problems.size(); ++index) {
      measure_problem(index, index == 0 ? std::move(*first) : load(options_.problems[index]), counts);
      first.reset();
    }
    note_spread();
    node_.measured_at = utc_text(realtime_ns());
    return std::move(node_);
  }

 private:
  void describe() {
    node_.fingerprint = fingerprint(machine_);
    node_.cores = static_cast<int>(cpus_.size());
    node_.name = fmt::format("{}, {} cores", node_.fingerprint->cpu, node_.cores);
    node_.origin = "ringside calibrate";
    if (cpus_.size() < 2)
      node_.remarks.push_back("this node has one core: no two kernels could be measured at the same time");
  }

  void note_load() {
    double load = 0;
    if (getloadavg(&load, 1) != 1 || load < kBusyLoadPerCore * node_.cores) return;
    node_.remarks.push_back(fmt::format(
        "the machine was busy when the calibration began: load average {:.1f} on {} cores", load, node_.cores));
  }

  void find_tiers() {
    const std::vector<int> nodes = numa_nodes_with_memory();
    for (const int numa_node : nodes) node_.tiers.push_back(dram_tier(numa_node));
    const std::string dram = node_.tiers.front().name;
    const auto known = [&](const Tier& tier) {
      return std::any_of(node_.tiers.begin(), node_.tiers.end(), [&](const Tier& t) { return t.name == tier.name; });
    };
    for (const std::string& folder : options_.folders) {
      if (Tier tier = tier_of(folder, dram); !known(tier)) node_.tiers.push_back(std::move(tier));
    }
    if (!options_.folders.empty()) return;
    std::vector<std::string> usual = {"."};
    if (!same_file_system(".", kSharedMemoryFolder)) usual.emplace_back(kSharedMemoryFolder);
    for (const std::string& folder : usual) {
      try {
        node_.tiers.push_back(tier_of(folder, dram));
      } catch (const Error& error) {
        node_.remarks.push_back(fmt::format("not measured: {}", error.what()));
      }
    }
  }

  std::vector<int> thread_counts() const {
    if (options_.threads.empty()) return usual_thread_counts(node_.cores);
    (void)cpus_for(cpus_, options_.threads.back(), "--threads");
    return options_.threads;
  }

  void measure_machine(const std::vector<int>& counts) {
    MachinePhase phase(machine_, cpus_, counts, node_.tiers, options_.stream_elements);
    CalibrationPlan plan;
    phase.add_to(plan);
    run_plan(plan, now_ns() + static_cast<std::int64_t>(static_cast<double>(deadline_ns_ - now_ns()) * kMachineShare));
    phase.collect(node_);
  }

  /// Loads a problem on a separate thread: the thread's libgomp pool dies with it and cannot spin during the
  /// measurement.
  Problem load(const SolveOptions& solve) {
    announce("loading " + printable(solve.matrix), seconds(deadline_ns_ - now_ns()));
    std::optional<Problem> problem;
    run_openmp_groups({{cpus_, [&](Team&) -> GroupWork {
                          problem = load_problem(solve);
                          return [] {};
                        }}});
    check_stop(options_.stop);
    return std::move(*problem);
  }

  void measure_problem(std::size_t index, Problem problem, const std::vector<int>& counts) {
    const auto problems_left = static_cast<std::int64_t>(options_.problems.size() - index);
    const std::int64_t until_ns = now_ns() + (deadline_ns_ - now_ns()) / problems_left;
    std::optional<ProblemPhase> phase;
    const std::vector<Tier> tiers = tiers_with_room(*problem.solver);
    run_openmp_groups({{cpus_, [&](Team&) -> GroupWork {
                          phase.emplace(std::move(problem), options_.problems[index].matrix, files_[index], cpus_,
                                        counts);
                          return [] {};
                        }}});
    // Pages come from the NUMA node of the thread that makes them: in a run, one of the analyzer's threads makes them.
    run_openmp_groups({{{cpus_.back()}, [&](Team&) -> GroupWork {
                          phase->make_pools(tiers);
                          return [] {};
                        }}});
    CalibrationPlan plan;
    phase->add_to(plan);
    run_plan(plan, until_ns);
    phase->collect(node_);
  }

  /// Requested folders must have room; default folders without room are left out.
  std::vector<Tier> tiers_with_room(const Solver& solver) {
    const RingShape slots = slots_for(solver);
    std::vector<Tier> tiers;
    for (const Tier& tier : node_.tiers) {
      if (tier.kind == TierKind::kDram) continue;
      try {
        require_room(tier, calibration_bytes(slots, tier.kind));
        tiers.push_back(tier);
      } catch (const Error& error) {
        if (!options_.folders.empty()) throw;
        node_.remarks.push_back(fmt::format("not measured: {}", error.what()));
      }
    }
    if (!tiers.empty()) return tiers;
    throw system_error(
        "neither the current folder nor {} has room for {} slots of {}; name another folder with --memory",
        kSharedMemoryFolder, kCalibrationSlots, to_text(slots.schema));
  }

  void run_plan(CalibrationPlan& plan, std::int64_t until_ns) {
    const std::vector<std::string> left_out =
        plan.run(until_ns, options_.stop, [&](const std::string& what, double left_s) {
          announce(what, left_s + seconds(std::max<std::int64_t>(0, deadline_ns_ - until_ns)));
        });
    if (left_out.empty()) return;
    node_.remarks.push_back(fmt::format("{} measurements did not fit into {:.0f} s: {}{}", left_out.size(),
                                        options_.budget_s, left_out.front(), left_out.size() > 1 ? " ..." : ""));
  }

  /// The reported share never decreases, although every call estimates the remaining time anew.
  void announce(const std::string& what, double left_s) {
    if (!options_.announce) return;
    const double passed_s = seconds(now_ns() - begun_ns_);
    left_s = std::max(left_s, 0.0);
    done_ = std::max(done_, passed_s / std::max(passed_s + left_s, 1e-9));
    options_.announce({.done = done_, .left_s = left_s, .what = what});
  }

  void note_spread() {
    std::vector<double> spreads;
    const auto look = [&](const Series& series) {
      for (const Series::Point& point : series.points) spreads.push_back(point.figure.spread);
    };
    for (const StreamFigures& streams : node_.streams) look(streams.gb_s);
    for (const KernelFigures& kernel : node_.kernels) {
      if (kernel.kernel != KernelKind::kCommit && !kernel.synced) look(kernel.seconds);  // a disk is never steady
    }
    if (spreads.empty()) return;
    const auto middle = spreads.begin() + static_cast<std::ptrdiff_t>(spreads.size() / 2);
    std::nth_element(spreads.begin(), middle, spreads.end());
    if (*middle <= kBusySpread) return;
    node_.remarks.push_back(
        fmt::format("the machine was busy: half of the figures have a spread above {:.0f} % "
                    "(a quiet machine stays below {:.0f} %)",
                    100 * *middle, 100 * kBusySpread));
  }

  const CalibrationOptions& options_;
  const std::int64_t begun_ns_;
  const std::int64_t deadline_ns_;
  const Machine machine_;
  const std::vector<int> cpus_;
  std::vector<std::optional<MatrixFile>> files_;  // the files of the problems
  double done_ = 0;                               // the share of the time that was announced last
  Node node_;
};

}  // namespace

Node calibrate(const CalibrationOptions& options) {
  return Calibration(options).run();
}

}  // namespace ringside
