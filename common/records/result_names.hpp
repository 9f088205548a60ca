// SPDX-License-Identifier: BSD-3-Clause
// Gives the values of records their names. A reader passes each record to `learn`, and asks for the results of a step.
// The description of a run may also come behind its first steps (docs/formats/files.md): who has all records
// of a journal lets them be learned first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>

#include "common/records/step_results.hpp"
#include "common/reductions/reduction.hpp"

namespace ringside::wire {
class Record;
class RunStarted;
class StepRecord;
}  // namespace ringside::wire

namespace ringside {

class ResultNames {
 public:
  /// Descriptions kept: the newest ones. A journal holds fewer runs, unless they have almost no steps.
  static constexpr std::size_t kMost = 1024;
  static constexpr std::size_t kAll = ~std::size_t{0};

  ResultNames() = default;
  explicit ResultNames(std::size_t most) : most_(most) {}

  /// layout: null changes nothing.
  void learn(SharedLayout layout);
  /// Gives `values`, which have none, the names of the layout with this hash, if it is known and has as many of each
  /// type.
  StepResults named(StepResults values, std::uint64_t catalogue) const;

  // Of messages; record_message.cpp has these four, and libringside does not.
  /// Takes what a RunStarted or a RunDescribed says of results; any other record changes nothing.
  void learn(const wire::Record& record);
  void learn(const wire::RunStarted& started);
  /// Whether the names of the step's results are known.
  bool knows(const wire::StepRecord& step) const;
  /// Of a step that was recorded before there were results by name: older_results. Empty if the message cannot be that
  /// of a step.
  StepResults results(const wire::StepRecord& step) const;

 private:
  std::size_t most_ = kMost;
  std::unordered_map<std::uint64_t, SharedLayout> layouts_;  // by RecordLayout::hash
  std::deque<std::uint64_t> oldest_first_;
};

/// What a step has that was recorded before there were results by name: the reductions of x, and two residuals.
const SharedLayout& unnamed_results();

/// The results of such a step, by the names that they have today. reductions: nothing if the record has none. rebuilt:
/// the record was made from the ring.
StepResults older_results(const std::optional<Reductions>& reductions, bool rebuilt, double residual_l1,
                          double residual_linf);

}  // namespace ringside
