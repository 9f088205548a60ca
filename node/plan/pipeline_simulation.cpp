// SPDX-License-Identifier: BSD-3-Clause
#include "node/plan/pipeline_simulation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "common/platform/error.hpp"

namespace ringside {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::uint64_t kSteadySteps = 200;  // if a run has more published steps, the rest is extrapolated
constexpr std::uint64_t kMostDiskSteps = 1000;

/// The phases of the analyzer's work on a step, in order.
enum Phase { kIdle, kHandOff, kSlotWait, kCopy, kCommitting, kFirstSweep, kMoreSweeps, kPhases };

/// Seconds of a kernel, with and without work on the other side.
struct Paced {
  double alone_s = 0;       // the other side waits, and so do its cores
  double helped_s = 0;      // the other side waits, and its cores help
  double beside_s = 0;      // the other side works
  double other_s = kNever;  // the seconds of an iteration while this kernel runs
};

double value_or_zero(const std::optional<Measured>& figure) {
  return figure ? figure->value : 0;
}

class Simulation {
 public:
  Simulation(const NodeModel& model, const Configuration& configuration, const RunShape& run)
      : model_(model), configuration_(configuration), run_(run) {
    const int g = configuration.producer_threads;
    const int a = configuration.analyzer_threads;
    const bool on_transfer = configuration.reduce_on_transfer;
    const int sweeps = on_transfer ? run.passes - 1 : run.passes;
    pace(kCopy, on_transfer ? KernelKind::kTransferReduced : KernelKind::kTransfer, 1);
    pace(kFirstSweep, KernelKind::kAnalyze, on_transfer ? 0 : 1);
    pace(kMoreSweeps, KernelKind::kSweep, on_transfer ? sweeps : sweeps - 1);
    generate_alone_s_ = kernel_time(model, KernelKind::kGenerate, g).alone_s;
    generate_helped_s_ =
        configuration.elastic ? kernel_time(model, KernelKind::kGenerate, g + a).alone_s : generate_alone_s_;
    commit_s_ = model.find(KernelKind::kCommit) == nullptr ? 0 : kernel_time(model, KernelKind::kCommit, 1).alone_s;
    wake_up_s_ = value_or_zero(model.costs.wake_up_s);
    hand_off_s_ = configuration.elastic ? wake_up_s_ : value_or_zero(model.costs.hand_off_s);
    loan_s_ = value_or_zero(model.costs.loan_s);
  }

  Prediction run() {
    const std::uint64_t steps = (run_.iterations + run_.every - 1) / run_.every;
    // A disk determines the pace only after the ring has been full a few times.
    const std::uint64_t disk_rounds =
        model_.sync_s ? std::min<std::uint64_t>(8 * std::uint64_t{run_.slots}, kMostDiskSteps) : 0;
    const std::uint64_t most = kSteadySteps + disk_rounds;
    if (steps <= most) {
      until(steps, run_.iterations);
      finish_disk();
      return judged(sums_);
    }
    until(most / 2, run_.iterations);
    const Prediction half = sums_;
    until(most, run_.iterations);
    Prediction all = sums_;
    extrapolate(all, half, static_cast<double>(steps - most) / static_cast<double>(most - most / 2));
    sums_ = all;
    finish_disk();
    return judged(sums_);
  }

 private:
  void pace(Phase phase, KernelKind kernel, int times) {
    Paced& paced = paced_[phase];
    if (times <= 0) return;
    const int g = configuration_.producer_threads;
    const int a = configuration_.analyzer_threads;
    const Together both = together(model_, KernelKind::kGenerate, g, kernel, a);
    paced.alone_s = times * kernel_time(model_, kernel, a).alone_s;
    paced.helped_s = configuration_.elastic ? times * kernel_time(model_, kernel, a + g).alone_s : paced.alone_s;
    paced.beside_s = times * both.second_s;
    paced.other_s = both.first_s;
  }

  /// Simulates until the analyzer has finished `steps` steps.
  void until(std::uint64_t steps, std::uint64_t iterations) {
    while (analyzed_ < steps) {
      start_what_can_start(iterations);
      const double next_s = std::min({producer_ends_in(), analyzer_ends_in(), disk_ends_in(), help_begins_in()});
      if (!std::isfinite(next_s))
        throw usage_error("the node file's figures contradict each other: by them, no run would end");
      advance(next_s);
    }
  }

  void start_what_can_start(std::uint64_t iterations) {
    for (bool any = true; any;) {
      any = start_iteration(iterations) || start_step() || start_copy() || start_sync();
    }
  }

  /// The unpublished iterates before a published one form one piece of work. A published iterate goes into a buffer,
  /// which must have been released.
  bool start_iteration(std::uint64_t iterations) {
    if (generating_ || generated_ == iterations) return false;
    const std::uint64_t unpublished = std::min(run_.every - 1 - generated_ % run_.every, iterations - 1 - generated_);
    if (unpublished == 0 && released_ + run_.buffers < published_ + 1) return false;
    generating_ = true;
    iterations_at_work_ = std::max<std::uint64_t>(unpublished, 1);
    generate_left_ = static_cast<double>(iterations_at_work_);
    // If the producer waited longer than it spins, it was asleep, so the wait ends with a wake-up.
    producer_delay_s_ =
        producer_waited_s_ > kProducerSpinS || (configuration_.elastic && producer_waited_s_ > 0) ? wake_up_s_ : 0;
    producer_waited_s_ = 0;
    return true;
  }

  bool start_step() {
    if (phase_ != kIdle || published_ == taken_) return false;
    ++taken_;
    enter(analyzer_waited_ ? kHandOff : kSlotWait);
    analyzer_waited_ = false;
    return true;
  }

  /// Step s reuses the slot of step s - K (K slots), which is free as soon as a newer step is persisted.
  bool start_copy() {
    if (phase_ != kSlotWait || (model_.sync_s && taken_ > run_.slots && persisted_ < taken_ - run_.slots + 1))
      return false;
    enter(kCopy);
    return true;
  }

  bool start_sync() {
    if (!model_.sync_s || syncing_ || committed_ == persisted_) return false;
    syncing_ = true;
    sync_covers_ = committed_;
    sync_left_s_ = model_.sync_s->value +
                   static_cast<double>(committed_ - persisted_) * run_.step_bytes / (model_.sync_gb_s->value * 1e9);
    return true;
  }

  void enter(Phase phase) {
    phase_ = phase;
    phase_left_ = 1;
    fixed_left_s_ = phase == kHandOff ? hand_off_s_ : phase == kCommitting ? commit_s_ : 0;
  }

  bool fixed() const { return phase_ == kHandOff || phase_ == kCommitting; }
  bool copying_or_sweeping() const { return phase_ == kCopy || phase_ == kFirstSweep || phase_ == kMoreSweeps; }
  bool working() const { return generating_ && producer_delay_s_ <= 0; }

  /// Seconds of a whole iteration under the present conditions.
  double iteration_s() const {
    if (copying_or_sweeping() && paced_[phase_].beside_s > 0) return paced_[phase_].other_s;
    return helped_ && phase_ == kIdle ? generate_helped_s_ : generate_alone_s_;
  }

  double phase_s() const {
    if (working()) return paced_[phase_].beside_s;
    return helped_ ? paced_[phase_].helped_s : paced_[phase_].alone_s;
  }

  /// Whether one side waits for the other, so that the cores of the waiting side can help as soon as the loan takes
  /// effect.
  bool may_help() const {
    if (!configuration_.elastic) return false;
    return working() ? phase_ == kIdle : copying_or_sweeping() && !generating_;
  }

  double producer_ends_in() const {
    if (!generating_) return kNever;
    return producer_delay_s_ > 0 ? producer_delay_s_ : generate_left_ * iteration_s();
  }

  double analyzer_ends_in() const {
    if (fixed()) return fixed_left_s_;
    return copying_or_sweeping() ? phase_left_ * phase_s() : kNever;
  }

  double disk_ends_in() const { return syncing_ ? sync_left_s_ : kNever; }
  double help_begins_in() const { return may_help() && !helped_ ? std::max(loan_s_ - lent_s_, 0.0) : kNever; }

  void advance(double seconds) {
    const bool help_begins = help_begins_in() <= seconds;
    const bool produced = producer_ends_in() <= seconds;
    const bool analyzer_done = analyzer_ends_in() <= seconds;
    const bool synced = disk_ends_in() <= seconds;
    const bool could_help = may_help();
    account(seconds);
    if (working()) {
      generate_left_ -= seconds / iteration_s();
    } else if (generating_) {
      producer_delay_s_ = produced ? 0 : producer_delay_s_ - seconds;
    }
    const bool iteration_done =
        produced && generating_ && generate_left_ <= kRounding * static_cast<double>(iterations_at_work_);
    if (fixed()) fixed_left_s_ -= seconds;
    if (copying_or_sweeping() && phase_s() > 0) phase_left_ -= seconds / phase_s();
    if (syncing_) sync_left_s_ -= seconds;
    lent_s_ = could_help ? lent_s_ + seconds : 0;
    if (help_begins) helped_ = true;
    if (iteration_done) end_iterations();
    if (analyzer_done) end_phase();
    if (synced) {
      syncing_ = false;
      persisted_ = sync_covers_;
    }
    if (!may_help() || iteration_done || analyzer_done) {
      helped_ = helped_ && may_help() && !iteration_done;
      if (!helped_) lent_s_ = 0;
    }
  }

  void account(double seconds) {
    sums_.total_s += seconds;
    if (working()) {
      sums_.generate_s += seconds;
    } else {
      sums_.producer_idle_s += seconds;
      if (!generating_) producer_waited_s_ += seconds;
    }
    switch (phase_) {
      case kCopy: sums_.transfer_s += seconds; break;
      case kSlotWait: sums_.sync_wait_s += seconds; [[fallthrough]];
      case kCommitting: sums_.commit_s += seconds; break;
      case kFirstSweep:
      case kMoreSweeps: sums_.analyze_s += seconds; break;
      default:
        sums_.analyzer_idle_s += seconds;
        if (phase_ == kIdle && seconds > 0) analyzer_waited_ = true;
    }
  }

  void end_iterations() {
    generating_ = false;
    generated_ += iterations_at_work_;
    if (generated_ % run_.every == 0 || generated_ == run_.iterations) ++published_;
  }

  void end_phase() {
    switch (phase_) {
      case kHandOff: enter(kSlotWait); break;
      case kCopy: enter(kCommitting); break;
      case kCommitting:
        ++committed_;
        ++released_;
        enter(kFirstSweep);
        break;
      case kFirstSweep: enter(kMoreSweeps); break;
      case kMoreSweeps:
        ++analyzed_;
        enter(kIdle);
        break;
      default: break;
    }
  }

  /// At the end of a run, all committed steps are persisted.
  void finish_disk() {
    while (model_.sync_s && persisted_ < committed_) {
      start_sync();
      sums_.total_s += sync_left_s_;
      sums_.commit_s += sync_left_s_;
      sums_.sync_wait_s += sync_left_s_;
      sums_.producer_idle_s += sync_left_s_;
      persisted_ = sync_covers_;
      syncing_ = false;
    }
  }

  static void extrapolate(Prediction& all, const Prediction& half, double more) {
    for (double Prediction::*const seconds :
         {&Prediction::total_s, &Prediction::generate_s, &Prediction::producer_idle_s, &Prediction::transfer_s,
          &Prediction::commit_s, &Prediction::analyze_s, &Prediction::analyzer_idle_s, &Prediction::sync_wait_s}) {
      all.*seconds += (all.*seconds - half.*seconds) * more;
    }
  }

  static Prediction judged(Prediction sums) {
    sums.bottleneck = bottleneck_of(sums);
    return sums;
  }

  static constexpr double kRounding = 1e-9;

  const NodeModel& model_;
  const Configuration& configuration_;
  const RunShape& run_;
  std::array<Paced, kPhases> paced_;
  double generate_alone_s_ = 0;
  double generate_helped_s_ = 0;
  double commit_s_ = 0;
  double wake_up_s_ = 0;
  double hand_off_s_ = 0;
  double loan_s_ = 0;

  // Counts of iterations and of steps.
  std::uint64_t generated_ = 0, published_ = 0, taken_ = 0, committed_ = 0, released_ = 0, analyzed_ = 0;
  std::uint64_t persisted_ = 0, sync_covers_ = 0;
  bool generating_ = false;
  std::uint64_t iterations_at_work_ = 1;
  double generate_left_ = 0;  // in iterations
  double producer_delay_s_ = 0;
  double producer_waited_s_ = 0;
  Phase phase_ = kIdle;
  bool analyzer_waited_ = false;  // whether the analyzer waited before the next step
  double phase_left_ = 0;
  double fixed_left_s_ = 0;
  bool syncing_ = false;
  double sync_left_s_ = 0;
  bool helped_ = false;
  double lent_s_ = 0;  // the time since the cores of the waiting side were lent
  Prediction sums_;
};

}  // namespace

std::string_view to_string(Bottleneck bottleneck) noexcept {
  switch (bottleneck) {
    case Bottleneck::kGenerate: return "the solver";
    case Bottleneck::kAnalyze: return "the analyzer";
    case Bottleneck::kDisk: return "the disk";
    case Bottleneck::kBalanced: break;
  }
  return "balanced";
}

Bottleneck bottleneck_of(const Prediction& times) noexcept {
  constexpr double kLittle = 0.05;
  if (times.sync_wait_s > kLittle * times.total_s) return Bottleneck::kDisk;
  if (std::max(times.producer_idle_s, times.analyzer_idle_s) <= kLittle * times.total_s) return Bottleneck::kBalanced;
  return times.producer_idle_s > times.analyzer_idle_s ? Bottleneck::kAnalyze : Bottleneck::kGenerate;
}

Prediction simulate(const NodeModel& model, const Configuration& configuration, const RunShape& run) {
  return Simulation(model, configuration, run).run();
}

}  // namespace ringside
