// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/whole_run/collector.hpp"

#include <algorithm>

#include "common/files/beside_pool.hpp"
#include "common/platform/error.hpp"
#include "common/records/record_message.hpp"
#include "common/reductions/kernels/reduction_table.hpp"
#include "common/reductions/reduction_catalogue.hpp"
#include "common/text/decimal.hpp"

namespace ringside {
namespace {

SharedLayout layout_of(const RoundPlan& plan, std::span<const Scalar> scalars) {
  return std::make_shared<const RecordLayout>(plan.whole, catalogue_of(plan.whole, scalars, {}));
}

std::vector<TriggerSpec> global_triggers(const TriggerOptions& options) {
  std::vector<TriggerSpec> specs = parse_triggers({}, "mark");  // at the first NaN of the whole run
  for (const std::string& text : options.global_triggers) specs.push_back(parse_global_trigger(text));
  return specs;
}

/// HOST:PORT becomes HOST:(PORT + 2). Other text does not change: the node's recorder has refused it.
std::string two_ports_on(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  const auto port = colon == std::string::npos ? std::nullopt : whole_number(address.substr(colon + 1));
  return port ? formatted("{}:{}", address.substr(0, colon), *port + 2) : address;
}

}  // namespace

RecorderOptions global_options(RecorderOptions options) {
  options.pool = beside_pool(options.pool, kGlobalSuffix);
  options.socket += kGlobalSuffix;
  options.telemetry.tcp = two_ports_on(options.telemetry.tcp);
  return options;
}

Collector::Collector(const RecorderOptions& options, const TriggerOptions& triggers, const RoundPlan& plan,
                     std::span<const Scalar> scalars, std::atomic<bool>& stop_run)
    : plan_(plan),
      layout_(layout_of(plan, scalars)),
      triggers_(global_triggers(triggers), layout_),
      stop_run_(stop_run),
      words_(layout_->catalogue().words()),
      values_(layout_->words()),
      recorder_(options, stop_run) {}

void Collector::begin_run(const RunToRecord& own) {
  RunToRecord run;
  run.storage = own.storage;
  run.layout = layout_;
  run.triggers = triggers_.specs();
  run.started = own.started;
  run.last_iteration = own.last_iteration;
  wire::RunStarted& started = run.started;
  started.set_problem_id(bytes_of(plan_.problem_id));
  started.set_rows(plan_.whole.place(0).entries);
  started.set_parameters(plan_.own_parameters(started.parameters()));
  started.clear_schema();
  started.clear_results();
  started.clear_plug_ins();
  started.clear_planned();
  started.mutable_part()->clear_node();
  started.mutable_part()->set_ranks(plan_.ranks);
  describe(started, *layout_);
  run_id_ = id_of(started.run_id()).value_or(Id128());
  next_step_ = started.from_step();
  next_commit_seq_ = started.first_commit_seq();
  last_iteration_ = own.last_iteration;
  recorder_.begin_run(run);
}

void Collector::end_run(const wire::RunEnded& own) {
  recorder_.end_run(own);
}

void Collector::take(const RoundState& state, const PartStore::Part& own) noexcept {
  miss(own.step.descriptor.step, own.step.descriptor.iteration);
  StepFigures figures = own.figures;
  const StepFigures& of_all = state.figures;
  figures.step.generate_ns = of_all.step.generate_ns;
  figures.step.producer_idle_ns = of_all.step.producer_idle_ns;
  figures.analyzer_idle_ns = of_all.analyzer_idle_ns;
  figures.hand_off_ns = of_all.hand_off_ns;
  figures.transfer_ns = of_all.transfer_ns;
  figures.commit_ns = of_all.commit_ns;
  figures.analyze_ns = of_all.analyze_ns;
  figures.bytes_transferred = of_all.bytes_transferred;
  figures.steps_committed = of_all.steps_committed;
  figures.steps_persisted = of_all.steps_persisted;
  figures.guarded_commit_seq = 0;

  std::ranges::fill(words_, 0);
  std::uint64_t values[std::max(kRealFieldWords, kIntegerFieldWords)];
  std::uint64_t presence = 0;
  std::size_t last_variable = plan_.whole.size();
  for (const Result& result : layout_->catalogue().results()) {
    if (result.source != ResultSource::kReduction || !plan_.has_results[result.variable]) continue;
    if (result.variable != last_variable) {  // the first result of its field, whose values are contiguous
      last_variable = result.variable;
      const bool is_integer = class_of(plan_.whole.variables()[result.variable].dtype) == DTypeClass::kInteger;
      presence = state.fields[result.variable].finish(is_integer, values);
      std::copy_n(values, is_integer ? kIntegerFieldWords : kRealFieldWords, &words_[result.word]);
    }
    if ((presence & 1) != 0) words_[result.bit / 64] |= std::uint64_t{1} << (result.bit % 64);
    presence >>= 1;
  }
  layout_->gather(words_, &own.step, values_);
  const StepMarks marks = triggers_.evaluate(values_, figures);
  if ((triggers_.actions_of(marks.fired) & kStop) != 0) {
    if (stopping_.load(std::memory_order_relaxed) == 0) {  // only the first trigger is reported
      stopping_iteration_.store(figures.step.iteration, std::memory_order_relaxed);
      stopping_.store(marks.fired, std::memory_order_release);
    }
    stop_run_.store(true, std::memory_order_relaxed);
  }
  recorder_.queue().push(figures, values_, marks);
  next_step_ = figures.step.step + 1;
  next_commit_seq_ = figures.commit_seq + 1;
  last_iteration_ = figures.step.iteration;
}

void Collector::finish(std::uint64_t end_step) noexcept {
  miss(end_step, 0);
}

std::string Collector::what_stopped() const {
  const std::uint64_t stopping = stopping_.load(std::memory_order_acquire);
  for (std::size_t t = 0; t < triggers_.specs().size(); ++t) {
    const TriggerSpec& spec = triggers_.specs()[t];
    if ((stopping >> t & 1) == 0 || (spec.actions & kStop) == 0) continue;
    return formatted("the trigger '{}' over the whole run, which fired at iteration {},", spec.name,
                     stopping_iteration_.load(std::memory_order_relaxed));
  }
  return {};
}

/// Records the expected step, and all others before `end_step`, as missing. end_iteration: the iteration of `end_step`;
/// 0: unknown.
void Collector::miss(std::uint64_t end_step, std::uint64_t end_iteration) noexcept {
  if (end_step <= next_step_) return;
  const std::uint64_t steps = end_step - next_step_;
  const bool knows = last_iteration_ > 0 && end_iteration > 0;
  recorder_.queue().miss({.run_id = run_id_,
                          .first_step = next_step_,
                          .steps = steps,
                          .first_commit_seq = next_commit_seq_,
                          .first_iteration = knows ? last_iteration_ + 1 : 0,
                          .last_iteration = knows ? end_iteration - 1 : 0});
  next_step_ = end_step;
  next_commit_seq_ += steps;
}

}  // namespace ringside
