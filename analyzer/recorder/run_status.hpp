// SPDX-License-Identifier: BSD-3-Clause
// The status of the present or last run, with sums of its steps' figures as in the account. The recorder makes it from
// the records that it publishes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/records/record_layout.hpp"
#include "common/records/step_figures.hpp"
#include "common/telemetry/latency_histogram.hpp"
#include "proto/ringside.pb.h"

namespace ringside {

class RunStatus {
 public:
  /// layout: the layout of the run's steps; required if steps are added.
  void begin(const wire::RunStarted& run, const SharedLayout& layout = nullptr);
  /// values: the words of the step in the run's layout.
  void add(const StepFigures& step, std::span<const std::uint64_t> values);
  void add(const wire::Mark& mark);
  void end(const wire::RunEnded& ended);

  bool attached() const noexcept { return attached_; }
  const std::string& run_id() const noexcept { return status_.run().run_id(); }
  /// commit_seq of the newest step that was added; 0 if there is none.
  std::uint64_t last_commit_seq() const noexcept { return last_ ? last_->commit_seq : 0; }

  /// Sets the fields of `status` that describe a run.
  void describe(wire::Status& status) const;

 private:
  wire::Status status_;  // without `last`, which `describe` sets from the next three members
  SharedLayout layout_;
  std::optional<StepFigures> last_;
  std::vector<std::uint64_t> last_values_;
  LatencyHistogram hand_off_;
  bool attached_ = false;
};

}  // namespace ringside
