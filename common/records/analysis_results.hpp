// SPDX-License-Identifier: BSD-3-Clause
// The results of a user's analysis of a run (docs/use/questions.md), as a record contains them: their permitted names,
// and how many of them a record may contain. Code that receives such results from a user's process checks them here.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "proto/ringside.pb.h"

namespace ringside {

/// The beginning of the full name of each such result.
inline constexpr std::string_view kAnalysisPrefix = "analysis.";
inline constexpr std::size_t kMostAnalysisResults = 64;  // the most results per analysis and step

/// Whether `name` may be the name of an analysis or of one of its results: 1 to 63 letters, digits, _, . or -, with a
/// letter or _ first.
bool is_analysis_name(std::string_view name) noexcept;

/// Whether `name` is the full name of such a result: analysis.NAME, or analysis.NAME.KEY.
bool is_analysis_result(std::string_view name) noexcept;

/// Calls use(name, value) for each result of a record whose name is permitted, because the journal may come from
/// another user.
template <class Use>
void for_each_result(const wire::AnalysisResults& results, const Use& use) {
  for (int i = 0; i < std::min(results.name_size(), results.value_size()); ++i) {
    if (is_analysis_result(results.name(i))) use(results.name(i), results.value(i));
  }
}

/// The reason why these results may not be recorded, in words; empty if they may.
std::string problem_of(const wire::AnalysisResults& results);

}  // namespace ringside
