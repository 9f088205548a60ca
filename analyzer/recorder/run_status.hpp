// SPDX-License-Identifier: BSD-3-Clause
// The status of the present or last run, with sums of its steps' figures as in the account. The recorder makes it from
// the records that it publishes.
#pragma once

#include <cstdint>
#include <string>

#include "common/telemetry/latency_histogram.hpp"
#include "proto/ringside.pb.h"

namespace ringside {

class RunStatus {
 public:
  void begin(const wire::RunStarted& run);
  void add(const wire::StepRecord& step);
  void add(const wire::Mark& mark);
  void end(const wire::RunEnded& ended);

  bool attached() const noexcept { return attached_; }
  const std::string& run_id() const noexcept { return status_.run().run_id(); }
  /// commit_seq of the newest step that was added; 0 if there is none.
  std::uint64_t last_commit_seq() const noexcept { return status_.last().commit_seq(); }

  /// Sets the fields of `status` that describe a run.
  void describe(wire::Status& status) const;

 private:
  wire::Status status_;
  LatencyHistogram hand_off_;
  bool attached_ = false;
};

}  // namespace ringside
