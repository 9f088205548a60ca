// SPDX-License-Identifier: BSD-3-Clause
#include "cli/history/analysis_series.hpp"

#include <algorithm>

namespace ringside {

void AnalysisSeries::add(const wire::Record& record) {
  const wire::AnalysisResults& said = record.analysis_results();
  for (int i = 0; i < std::min(said.name_size(), said.value_size()); ++i) {
    auto found = courses_.find(said.name(i));
    if (found == courses_.end()) {
      if (courses_.size() == kMostNames) {
        ++left_out_;
        continue;
      }
      found = courses_.try_emplace(said.name(i)).first;
    }
    found->second.series.add(
        {.iteration = said.iteration(), .elapsed_ns = 0, .value = said.value(i), .seq = record.seq()});
    found->second.skipped = said.skipped();
  }
}

}  // namespace ringside
