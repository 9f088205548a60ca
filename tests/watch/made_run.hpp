// SPDX-License-Identifier: BSD-3-Clause
// Records of a simulated run for the tests of viewers. Every figure is computed from the step's number.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/records/record_message.hpp"
#include "common/reductions/reduction_catalogue.hpp"
#include "common/results/result_values.hpp"
#include "proto/ringside.pb.h"

namespace ringside::testing {

class MadeRun {
 public:
  static constexpr std::uint32_t kSlots = 8;
  static constexpr std::int64_t kUnixNs = 1'700'000'000'000'000'000;

  /// name: the run's id, of 16 characters.
  explicit MadeRun(std::string name = "run-0123456789ab", std::uint64_t first_seq = 1)
      : name_(std::move(name)), seq_(first_seq) {}

  /// Steps after this call have results by name. Steps before it are as records were before results had names. In step
  /// s, result i has the value 1000 i + s; the change is absent in step 0.
  void describe(const Schema& schema, const std::vector<Scalar>& scalars = {}) {
    layout_ = std::make_shared<const RecordLayout>(schema, catalogue_of(schema, scalars));
  }
  const SharedLayout& layout() const { return layout_; }

  wire::Record described() {
    wire::Record record = next();
    *record.mutable_run_described() = describe_run(name_, *layout_);
    return record;
  }

  wire::Record started(const std::string& matrix = "grid:300") {
    wire::Record record = next();
    wire::RunStarted& run = *record.mutable_run_started();
    run.set_run_id(name_);
    run.set_problem_id("problem-01234567");
    run.set_rows(90'000);
    run.set_nonzeros(715'204);
    run.set_solver("pagerank");
    run.set_matrix(matrix);
    run.set_parameters("damping=0.85 every=1");
    run.set_started_unix_ns(kUnixNs);
    run.set_buffers(2);
    run.set_coordination("locks");
    run.set_slots(kSlots);
    run.set_storage("file");
    run.set_durability("power");
    run.set_passes(1);
    run.set_reduce("slot");
    if (layout_) ringside::describe(run, *layout_);
    return record;
  }

  /// The next step. The number of persisted steps is two less than the number of committed steps.
  wire::Record step() {
    wire::Record record = next();
    wire::StepRecord& step = *record.mutable_step();
    const std::uint64_t s = steps_++;
    step.set_run_id(name_);
    step.set_step(s);
    step.set_iteration(s + 1);
    step.set_commit_seq(s + 1);
    step.set_generate_ns(2'000'000 + 1000 * static_cast<std::int64_t>(s % 7));
    step.set_producer_idle_ns(s % 10 == 9 ? 500'000 : 0);
    step.set_record_ns(100'000);
    step.set_analyzer_idle_ns(900'000);
    step.set_hand_off_ns(1'500 + 10 * static_cast<std::int64_t>(s % 100));
    step.set_transfer_ns(300'000);
    step.set_commit_ns(20'000);
    step.set_analyze_ns(700'000);
    step.set_bytes_transferred(720'000);
    step.set_steps_committed(s + 1);
    step.set_steps_persisted(s > 1 ? s - 1 : 0);
    if (layout_) {
      fill(*step.mutable_results(), *layout_, values(s));
      return record;
    }
    step.set_residual_l1(std::pow(0.9, static_cast<double>(s)));
    step.set_residual_linf(std::pow(0.9, static_cast<double>(s)) * 1e-4);
    wire::Reductions& r = *step.mutable_reductions();
    r.set_mean(1.0 / 90'000);
    r.set_min(1e-6);
    r.set_max(2e-5);
    r.set_l1(1);
    r.set_l2(0.004);
    r.set_linf(2e-5);
    r.set_has_change(s > 0);
    r.set_change_l1(std::pow(0.9, static_cast<double>(s)));
    r.set_change_l2(std::pow(0.9, static_cast<double>(s)) * 1e-2);
    r.set_change_linf(std::pow(0.9, static_cast<double>(s)) * 1e-4);
    return record;
  }

  /// The next step, in which the f64 result with this full name has the given value.
  wire::Record step_with(std::string_view name, double value) {
    wire::Record record = step();
    record.mutable_step()->mutable_results()->set_f64(static_cast<int>(layout_->find(name)->number), value);
    return record;
  }

  /// A mark of the newest step.
  wire::Record mark(const std::string& cause, const std::string& name, const std::string& text,
                    const std::vector<std::string>& actions) {
    wire::Record record = next();
    wire::Mark& mark = *record.mutable_mark();
    mark.set_run_id(name_);
    mark.set_step(steps_ - 1);
    mark.set_iteration(steps_);
    mark.set_commit_seq(steps_);
    mark.set_cause(cause);
    mark.set_name(name);
    mark.set_text(text);
    for (const std::string& action : actions) mark.add_action(action);
    return record;
  }

  /// The result of an analysis for the step with this iteration.
  wire::Record analysis(std::uint64_t iteration, const std::string& name, double value, std::uint64_t skipped = 0) {
    wire::Record record = next();
    wire::AnalysisResults& results = *record.mutable_analysis_results();
    results.set_run_id(name_);
    results.set_step(iteration - 1);
    results.set_iteration(iteration);
    results.set_commit_seq(iteration);
    results.add_name(name);
    results.add_value(value);
    results.set_skipped(skipped);
    return record;
  }

  std::vector<wire::Record> steps(std::uint64_t count) {
    std::vector<wire::Record> records;
    for (std::uint64_t i = 0; i < count; ++i) records.push_back(step());
    return records;
  }

  wire::Record ended(const std::string& outcome = "finished", std::uint32_t exit_code = 0) {
    wire::Record record = next();
    wire::RunEnded& end = *record.mutable_run_ended();
    end.set_run_id(name_);
    end.set_how("detached");
    end.set_outcome(outcome);
    end.set_steps_committed(steps_);
    end.set_steps_persisted(steps_);
    end.set_last_iteration(steps_);
    end.set_exit_code(exit_code);
    return record;
  }

  std::uint64_t next_seq() const { return seq_; }
  std::uint64_t steps_made() const { return steps_; }

 private:
  std::vector<std::uint64_t> values(std::uint64_t s) const {
    std::vector<std::uint64_t> words(layout_->words());
    const ColumnCounts& counts = layout_->counts();
    for (std::size_t i = 0; i < layout_->results().size(); ++i) {
      const RecordedResult& recorded = layout_->results()[i];
      if (s == 0 && (recorded.result->flags & kNeedsPrevious) != 0) {
        words[recorded.number / 64] |= std::uint64_t{1} << (recorded.number % 64);
        continue;
      }
      const std::uint64_t value = 1000 * i + s;
      const bool is_f64 = counts.type(recorded.number) == ValueType::kF64;
      words[recorded.word] = is_f64 ? std::bit_cast<std::uint64_t>(static_cast<double>(value)) : value;
    }
    return words;
  }

  wire::Record next() {
    wire::Record record;
    record.set_seq(seq_);
    record.set_unix_ns(kUnixNs + static_cast<std::int64_t>(seq_) * 3'000'000);
    ++seq_;
    return record;
  }

  std::string name_;
  std::uint64_t seq_;
  std::uint64_t steps_ = 0;
  SharedLayout layout_;
};

}  // namespace ringside::testing
