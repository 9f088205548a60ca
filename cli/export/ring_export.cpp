// SPDX-License-Identifier: BSD-3-Clause
#include "cli/export/ring_export.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>

#include "cli/pool/pool_arguments.hpp"
#include "cli/pool/pool_report.hpp"
#include "common/platform/error.hpp"

namespace ringside {
namespace {

constexpr int kRingAttempts = 100;  // the same number as for one ring

/// A step of several rings, held in every ring if possible. The step is read in place, because a copy would need memory
/// for the whole step.
class HeldStepOfRings {
 public:
  /// Opens and verifies a step. Empty if it was overwritten in a ring. Throws Error (exit code 5) with the node's name
  /// if the step is damaged.
  static std::optional<HeldStepOfRings> open(const RingSet& set, const StepOfRings& step) {
    HeldStepOfRings held(set, step);
    for (std::size_t n = 0; n < step.slots.size(); ++n) {
      const NodeRing& node = set.nodes()[n];
      const KeptSlot& kept = step.slots[n];
      (void)node.reader->hold(kept.header.commit_seq, held.held_[n]);  // without leases, still_there detects it
      const PayloadCheck check = node.reader->verify(kept);
      if (check.overwritten) return std::nullopt;
      if (check.intact()) continue;
      const std::string what = check.damaged_chunks.empty() ? describe(check, node.reader->ring().geometry())
                                                            : fmt::format("chunk {}", check.damaged_chunks[0]);
      throw damage_error("{}: {}: iteration {} in slot {} is damaged ({}); `ringside verify {}` checks all steps",
                         node.name, node.path, step.iteration, kept.slot, what, set.path());
    }
    if (!held.still_there()) return std::nullopt;
    return held;
  }

  std::span<const std::byte> bytes(std::size_t node, std::size_t variable) const noexcept {
    const RingView& ring = set_->nodes()[node].reader->ring();
    const VariablePlace& place = ring.geometry().schema().place(variable);
    return {ring.payload(step_.slots[node].slot) + place.offset, place.bytes};
  }

  /// Whether everything read so far belongs to this step. Throws Error (exit code 5) if a pool was truncated.
  bool still_there() const {
    for (std::size_t n = 0; n < step_.slots.size(); ++n) {
      const RingReader& reader = *set_->nodes()[n].reader;
      reader.check_intact();
      if (!reader.ring().still_holds(step_.slots[n].slot, step_.slots[n].header)) return false;
    }
    return true;
  }

 private:
  HeldStepOfRings(const RingSet& set, const StepOfRings& step) : set_(&set), step_(step), held_(step.slots.size()) {}

  const RingSet* set_;
  StepOfRings step_;
  std::vector<HeldStep> held_;
};

/// False if the step was overwritten before all of it was written.
bool write(const RingExport& what, ExportSink& sink, const StepOfRings& step, const HeldStepOfRings& held) {
  const SlotHeader& header = step.slots[0].header;
  std::vector<std::byte> buffer;
  // No results are exported, because a ring's results cover only its node's entries.
  ExportedStep exported{.iteration = step.iteration,
                        .step = header.step,
                        .run_id = to_string(header.run_id),
                        .results = {},
                        .part = {},
                        .wrote = {}};
  exported.part = [&](std::size_t v, const ChunkPlace& place) {
    const std::size_t variable = what.variables[v];
    const auto bytes_of_node = [&](std::size_t node) { return held.bytes(node, variable); };
    return what.assembly.part(variable, indices_of(what.target.variables[v].region, place), bytes_of_node, buffer);
  };
  exported.wrote = [&](std::uint64_t) {
    if (what.stop.is_set()) throw Error(ExitCode::kInterrupted, "interrupted before the output was complete");
  };
  sink.write(exported);
  return held.still_there();
}

std::string held_by_all(const std::vector<StepOfRings>& steps) {
  std::vector<std::uint64_t> iterations;
  for (const StepOfRings& step : steps) iterations.push_back(step.iteration);
  return iterations_text(iterations);
}

/// The steps that all rings keep. Throws Error (exit code 2) if there are none.
std::vector<StepOfRings> steps_of(const RingSet& set) {
  std::vector<StepOfRings> steps = set.steps();
  if (steps.empty())
    throw usage_error("{}: found no iteration that all rings hold: {}", set.path(), set.what_each_holds());
  return steps;
}

StepOfRings chosen_step(const StepOptions& options, const RingSet& set) {
  std::vector<StepOfRings> steps = steps_of(set);
  if (options.iteration == "last") return steps.back();
  const std::uint64_t wanted = parse_iteration(options.iteration, "--iteration", "a number or 'last'");
  for (StepOfRings& step : steps) {
    if (step.iteration == wanted) return std::move(step);
  }
  throw usage_error("--iteration: {} is not in all rings of {}; all rings hold {}; {}", wanted, set.path(),
                    held_by_all(steps), set.what_each_holds());
}

}  // namespace

std::uint64_t export_one(const RingExport& what, const StepOptions& options) {
  for (int attempt = 0; attempt < kRingAttempts; ++attempt) {
    const StepOfRings step = chosen_step(options, what.set);
    const std::optional<HeldStepOfRings> held = HeldStepOfRings::open(what.set, step);
    if (!held) continue;
    const std::unique_ptr<ExportSink> sink = what.format.make(what.target);
    if (!write(what, *sink, step, *held)) continue;
    sink->accept();
    sink->finish();
    return step.iteration;
  }
  throw system_error(
      "{}: the last step was overwritten {} times while it was read: analyzers overwrite steps faster than they can be "
      "read",
      what.set.path(), kRingAttempts);
}

ExportedSeries export_series(const RingExport& what, const StepOptions& options) {
  const IterationRange range = parse_range(options.from, options.to);
  const std::vector<StepOfRings> steps = steps_of(what.set);
  std::vector<StepOfRings> chosen;
  std::uint64_t seen = 0;
  for (const StepOfRings& step : steps) {
    if (range.contains(step.iteration) && seen++ % options.every == 0) chosen.push_back(step);
  }
  if (chosen.empty()) {
    throw usage_error("--from, --to: no iteration from {} to {} is in all rings of {}; all rings hold {}", range.first,
                      range.last, what.set.path(), held_by_all(steps));
  }
  ExportedSeries series;
  const std::unique_ptr<ExportSink> sink = what.format.make(what.target);
  for (const StepOfRings& step : chosen) {
    const std::optional<HeldStepOfRings> held = HeldStepOfRings::open(what.set, step);
    if (held && write(what, *sink, step, *held)) {
      sink->accept();
      series.iterations.push_back(step.iteration);
    } else {
      ++series.overwritten;
    }
  }
  if (series.iterations.empty()) {
    throw system_error(
        "{}: all {} steps were overwritten while they were read: analyzers overwrite steps faster than they can be "
        "read",
        what.set.path(), chosen.size());
  }
  sink->finish();
  return series;
}

}  // namespace ringside
