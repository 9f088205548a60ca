// SPDX-License-Identifier: BSD-3-Clause
// The results of a user's analysis beside the run (docs/use/questions.md), as a record carries them: which names and
// how many a record may have. Whoever takes such results from a process of the user's checks them here.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "proto/ringside.pb.h"

namespace ringside {

/// What the full name of each such result begins with.
inline constexpr std::string_view kAnalysisPrefix = "analysis.";
inline constexpr std::size_t kMostAnalysisResults = 64;  // of one analysis and step

/// Whether `name` may be that of an analysis or of one of its results: 1 to 63 letters, digits, _, . or -, and a letter or
/// _ first.
bool is_analysis_name(std::string_view name) noexcept;

/// Whether `name` is the full name of such a result: analysis.NAME, or analysis.NAME.KEY.
bool is_analysis_result(std::string_view name) noexcept;

/// Calls use(name, value) for each result of a record that has such a name: a journal may come from somebody else.
template <class Use>
void for_each_result(const wire::AnalysisResults& results, const Use& use) {
  for (int i = 0; i < std::min(results.name_size(), results.value_size()); ++i) {
    if (is_analysis_result(results.name(i))) use(results.name(i), results.value(i));
  }
}

/// Why these results may not be recorded, in words; empty: they may.
std::string problem_of(const wire::AnalysisResults& results);

}  // namespace ringside
