// SPDX-License-Identifier: BSD-3-Clause
// Gives the values of records their names. A reader passes each record to `learn`, and asks for the results of a step.
// The description of a run may also come behind its first steps (docs/formats/files.md): who has all records
// of a journal lets them be learned first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>

#include "common/records/step_results.hpp"
#include "proto/ringside.pb.h"

namespace ringside {

class ResultNames {
 public:
  /// Descriptions kept: the newest ones. A journal holds fewer runs, unless they have almost no steps.
  static constexpr std::size_t kMost = 1024;

  /// Takes what a RunStarted or a RunDescribed says of results; any other record changes nothing.
  void learn(const wire::Record& record);
  void learn(const wire::RunStarted& started);
  void learn(SharedLayout layout);

  /// Whether the names of the step's results are known.
  bool knows(const wire::StepRecord& step) const;

  /// Of a step that was recorded before there were results by name: its reductions and residuals, by the names that
  /// they have today. Empty if the message cannot be that of a step.
  StepResults results(const wire::StepRecord& step) const;

 private:
  std::unordered_map<std::uint64_t, SharedLayout> layouts_;  // by RecordLayout::hash
  std::deque<std::uint64_t> oldest_first_;
};

}  // namespace ringside
