// What the status says of the run that is being served, or was last: its figures summed, as in the account. The
// recorder's, made of the same records that everybody else sees.
#pragma once

#include "common/telemetry/latency_histogram.hpp"
#include "proto/ringside.pb.h"

namespace ringside {

class RunSums {
 public:
  void begin(const wire::RunStarted& run);
  void add(const wire::StepRecord& step);
  void end(const wire::RunEnded& ended);

  bool attached() const noexcept { return attached_; }

  /// The fields of `status` that are about a run.
  void describe(wire::Status& status) const;

 private:
  wire::Status sums_;
  LatencyHistogram hand_off_;
  bool attached_ = false;
};

}  // namespace ringside
