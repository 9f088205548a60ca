// SPDX-License-Identifier: BSD-3-Clause
#include "cli/compare/pair_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "common/results/mpi_scalars.hpp"

namespace ringside {
namespace {

/// Decides by a result's name whether the result is compared. Results that the user ignores and measurements that
/// libringside_mpi publishes as scalars are not compared.
class Compared {
 public:
  Compared(const std::set<std::string>& ignored, const SharedLayout& layout) : ignored_(ignored) {
    const auto name = [](const Scalar& scalar) { return "solver." + scalar.name; };
    const bool is_mpi = layout && std::all_of(kMpiScalars.begin(), kMpiScalars.end(), [&](const Scalar& scalar) {
      return layout->find(name(scalar)) != nullptr;
    });
    if (!is_mpi) return;
    for (const Scalar& scalar : kMpiScalars) ignored_.insert(name(scalar));
  }
  bool operator()(const std::string& full_name) const { return !ignored_.contains(full_name); }

 private:
  std::set<std::string> ignored_;
};

/// The results that have different values in the two steps. A result that one step lacks is not compared. Examples are
/// a change at the first step of a run or of its continuation, and a value that a record made from the ring does not
/// contain.
std::vector<DifferingResult> differing_results(const StepResults& first, const StepResults& second,
                                               const Compared& is_compared) {
  std::vector<DifferingResult> found;
  if (!first.layout() || !second.layout()) return found;
  const bool same_layout = first.layout()->hash() == second.layout()->hash();
  if (same_layout && first.words().size() == second.words().size() &&
      std::equal(first.words().begin(), first.words().end(), second.words().begin())) {
    return found;
  }
  for (const RecordedResult& recorded : first.layout()->results()) {
    const std::string& name = recorded.result->full_name;
    const StepValue a = first.value_of(recorded);
    const StepValue b = second.find(name);
    if (!a.present || !b.present || a == b || !is_compared(name)) continue;
    DifferingResult& result = found.emplace_back(DifferingResult{name, to_text(a), to_text(b), {}});
    if (a.type == ValueType::kF64 && b.type == ValueType::kF64) result.ulps = ulps_between(a.f64(), b.f64());
    if (result.first != result.second) continue;
    result.first += fmt::format(" ({:#018x})", a.words[0]);
    result.second += fmt::format(" ({:#018x})", b.words[0]);
  }
  return found;
}

bool share_a_result(const StepResults& first, const StepResults& second, const Compared& is_compared) {
  if (!first.layout() || !second.layout()) return false;
  const auto results = first.layout()->results();
  return std::any_of(results.begin(), results.end(), [&](const RecordedResult& recorded) {
    const std::string& name = recorded.result->full_name;
    return is_compared(name) && second.layout()->find(name) != nullptr;
  });
}

std::string why_iterates_cannot_be(const ComparedRun& first, const ComparedRun& second) {
  for (const ComparedRun* run : {&first, &second}) {
    if (run->ring() == nullptr) return fmt::format("{} has no pool", run->name);
  }
  const Schema& here = first.ring()->geometry().schema();
  const Schema& there = second.ring()->geometry().schema();
  return here == there ? std::string() : "their variables differ: " + difference(here, there);
}

/// The run's schema, which does not depend on what a pool keeps now. Null: the source has no steps, or the run's
/// description is lost.
const Schema* schema_of(const ComparedRun& run) {
  if (run.steps.empty()) return nullptr;
  const SharedLayout layout = run.results(run.steps.back()).layout();
  return layout ? &layout->schema() : nullptr;  // the whole run has this schema
}

/// The outcomes for the iterations that both pools keep, by iteration.
using IterateOutcomes = std::map<std::uint64_t, IterateComparison>;

IterateOutcomes compare_kept(const ComparedRun& first, const ComparedRun& second) {
  IterateOutcomes outcomes;
  const std::vector<KeptSlot> here = first.kept();
  const std::vector<KeptSlot> there = second.kept();
  auto other = there.begin();
  for (const KeptSlot& kept : here) {
    const std::uint64_t iteration = kept.header.iteration;
    while (other != there.end() && other->header.iteration < iteration) ++other;
    if (other == there.end() || other->header.iteration != iteration) continue;
    outcomes.emplace(iteration, compare_iterates({first.ring(), kept}, {second.ring(), *other}));
  }
  return outcomes;
}

/// Goes through both runs in the order of their iterations.
class Walk {
 public:
  Walk(const ComparedRun& first, const ComparedRun& second, const std::set<std::string>& ignored)
      : first_(first), second_(second), ignored_(ignored), is_compared_(ignored, nullptr) {
    const Schema* const here = schema_of(first);
    const Schema* const there = schema_of(second);
    result_.same_variables = here == nullptr || there == nullptr || *here == *there;
    result_.iterates_not_compared = why_iterates_cannot_be(first, second);
    if (result_.iterates_not_compared.empty()) {
      iterates_ = compare_kept(first, second);
      if (iterates_.empty()) result_.iterates_not_compared = "no iteration is kept by both pools";
    }
  }

  PairComparison compare() {
    bool any_record = false;
    auto b = second_.steps.begin();
    for (const ComparedStep& a : first_.steps) {
      for (; b != second_.steps.end() && b->point.iteration < a.point.iteration; ++b) ++result_.only_second;
      if (b == second_.steps.end() || b->point.iteration != a.point.iteration) {
        ++result_.only_first;
        continue;
      }
      any_record = compare_step(a, *b++) || any_record;
    }
    result_.only_second += static_cast<std::uint64_t>(second_.steps.end() - b);
    if (!any_record) {
      result_.records_not_compared = first_.steps.empty()    ? "of " + first_.name + " there are no steps"
                                     : second_.steps.empty() ? "of " + second_.name + " there are no steps"
                                     : result_.common == 0   ? "no iteration is recorded for both"
                                                             : "their records share no result";
    }
    return std::move(result_);
  }

 private:
  /// Whether the two records could be compared.
  bool compare_step(const ComparedStep& a, const ComparedStep& b) {
    const std::uint64_t iteration = a.point.iteration;
    ++result_.common;
    const StepResults here = first_.results(a);
    const StepResults there = second_.results(b);
    const bool comparable = share_results(here, there);
    std::vector<DifferingResult> differing = comparable ? differing_results(here, there, is_compared_) : std::vector<DifferingResult>();
    const bool records_differ = !differing.empty();
    if (records_differ) {
      ++result_.records_differing;
      if (!result_.first_record) {
        result_.first_record = Difference{Difference::Kind::kRecord, iteration, {}, std::move(differing)};
      }
    }
    const std::optional<bool> iterates_equal = take_iterate(iteration);
    const bool differs = records_differ || iterates_equal == false;
    if (differs && !result_.first) {
      result_.first = iterates_equal == false ? result_.first_iterate : result_.first_record;
    }
    if (!differs && (comparable || iterates_equal)) extend(iteration, iterates_equal.has_value());
    return comparable;
  }

  /// Whether the two steps have a result in common. Compares the names only once for each pair of layouts.
  bool share_results(const StepResults& here, const StepResults& there) {
    if (here.layout() != layouts_.first || there.layout() != layouts_.second || !here.layout()) {
      layouts_ = {here.layout(), there.layout()};
      is_compared_ = Compared(ignored_, here.layout());
      share_ = share_a_result(here, there, is_compared_);
    }
    return share_;
  }

  /// Whether the iterates are equal; empty if they were not compared.
  std::optional<bool> take_iterate(std::uint64_t iteration) {
    const auto found = iterates_.find(iteration);
    if (found == iterates_.end()) return std::nullopt;
    IterateComparison& compared = found->second;
    switch (compared.outcome) {
      case IterateComparison::Outcome::kOverwritten: result_.overwritten.push_back(iteration); return std::nullopt;
      case IterateComparison::Outcome::kDamaged:
        (compared.damaged_second ? result_.damaged_second : result_.damaged_first).push_back(iteration);
        return std::nullopt;
      case IterateComparison::Outcome::kEqual: ++result_.iterates_compared; return true;
      case IterateComparison::Outcome::kDiffers: break;
    }
    ++result_.iterates_compared;
    ++result_.iterates_differing;
    if (!result_.first_iterate) {
      result_.first_iterate = Difference{Difference::Kind::kIterate, iteration, std::move(compared.difference), {}};
    }
    return false;
  }

  void extend(std::uint64_t iteration, bool iterates) {
    if (result_.first) return;
    std::vector<EqualRange>& ranges = result_.equal;
    if (ranges.empty() || ranges.back().iterates != iterates) ranges.push_back({iteration, iteration, 0, iterates});
    ranges.back().last = iteration;
    ++ranges.back().steps;
  }

  const ComparedRun& first_;
  const ComparedRun& second_;
  const std::set<std::string>& ignored_;
  Compared is_compared_;  // valid for results of layouts_.first
  IterateOutcomes iterates_;
  std::pair<SharedLayout, SharedLayout> layouts_;
  bool share_ = false;
  PairComparison result_;
};

}  // namespace

PairComparison compare_pair(const ComparedRun& first, const ComparedRun& second, const std::set<std::string>& ignored) {
  return Walk(first, second, ignored).compare();
}

}  // namespace ringside
