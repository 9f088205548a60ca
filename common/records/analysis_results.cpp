// SPDX-License-Identifier: BSD-3-Clause
#include "common/records/analysis_results.hpp"

#include <algorithm>

#include "common/schema/names.hpp"
#include "common/text/formatted.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

constexpr std::size_t kMostNameBytes = 63;
constexpr std::size_t kRunIdBytes = 16;

}  // namespace

bool is_analysis_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= kMostNameBytes && may_begin_name(name.front()) &&
         std::all_of(name.begin(), name.end(), may_continue_name);
}

bool is_analysis_result(std::string_view name) noexcept {
  if (!name.starts_with(kAnalysisPrefix)) return false;
  name.remove_prefix(kAnalysisPrefix.size());
  // Both the name of the analysis and the name of its result may contain dots, so the whole name is checked at once.
  return !name.empty() && name.size() <= 2 * kMostNameBytes + 1 && may_begin_name(name.front()) &&
         std::all_of(name.begin(), name.end(), may_continue_name);
}

std::string problem_of(const wire::AnalysisResults& results) {
  if (results.run_id().size() != kRunIdBytes) return "the results name no run";
  if (results.commit_seq() == 0) return "the results name no step";
  if (results.name_size() != results.value_size()) {
    return formatted("found {} names of results and {} values; expected equal numbers", results.name_size(),
                     results.value_size());
  }
  if (results.name_size() == 0 || results.name_size() > static_cast<int>(kMostAnalysisResults)) {
    return formatted("found {} results of one step; expected 1 to {}", results.name_size(), kMostAnalysisResults);
  }
  for (const std::string& name : results.name()) {
    if (!is_analysis_result(name)) {
      return formatted("found a result named '{}', expected analysis.NAME or analysis.NAME.KEY", shortened(name));
    }
  }
  return {};
}

}  // namespace ringside
