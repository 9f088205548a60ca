// SPDX-License-Identifier: BSD-3-Clause
// Gives the values of records their names. A reader passes each record to `learn`, and then calls `results` for the
// steps. The description of a run may also follow its first steps (docs/formats/files.md), so a reader that has all
// records of a journal should pass all of them to `learn` first.
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
  /// The number of descriptions that are kept; older ones are dropped. A journal has fewer runs, unless they have
  /// almost no steps.
  static constexpr std::size_t kMost = 1024;
  static constexpr std::size_t kAll = ~std::size_t{0};

  ResultNames() = default;
  explicit ResultNames(std::size_t most) : most_(most) {}

  /// Adds a layout; null changes nothing.
  void learn(SharedLayout layout);
  /// Gives the unnamed `values` the names in the layout whose hash is `catalogue`, if that layout is known and has the
  /// same number of values of each type.
  StepResults named(StepResults values, std::uint64_t catalogue) const;

  // The following four functions take messages. They are defined in record_message.cpp, which is not in libringside.
  /// Adds the description of results in a RunStarted or a RunDescribed; any other record changes nothing.
  void learn(const wire::Record& record);
  void learn(const wire::RunStarted& started);
  /// Whether the names of the step's results are known.
  bool knows(const wire::StepRecord& step) const;
  /// The results of a step; if the step was recorded before results had names, the results from older_results. Empty if
  /// the message cannot belong to a step.
  StepResults results(const wire::StepRecord& step) const;

 private:
  std::size_t most_ = kMost;
  std::unordered_map<std::uint64_t, SharedLayout> layouts_;  // the key is RecordLayout::hash
  std::deque<std::uint64_t> oldest_first_;
};

/// The results of a step that was recorded before results had names: the reductions of x, and two residuals.
const SharedLayout& unnamed_results();

/// The results of such a step, with the names that they have now. reductions: empty if the record has no reductions.
/// rebuilt: whether the record was made from the ring.
StepResults older_results(const std::optional<Reductions>& reductions, bool rebuilt, double residual_l1,
                          double residual_linf);

}  // namespace ringside
