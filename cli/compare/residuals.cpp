// SPDX-License-Identifier: BSD-3-Clause
#include "cli/compare/residuals.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>

#include "common/platform/error.hpp"
#include "common/text/printable.hpp"

namespace ringside {

std::vector<double> parse_residuals(const std::vector<std::string>& texts) {
  std::vector<double> residuals;
  for (const std::string& text : texts) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    const bool is_number = !text.empty() && end == text.c_str() + text.size() && text.find_first_of(" \tx") == text.npos;
    if (!is_number || !std::isfinite(value) || value <= 0) {
      throw usage_error("--residuals: found '{}', expected positive numbers, as 1e-3,1e-6", shortened(text));
    }
    residuals.push_back(value);
  }
  std::sort(residuals.begin(), residuals.end(), std::greater<>());
  residuals.erase(std::unique(residuals.begin(), residuals.end()), residuals.end());
  return residuals;
}

std::vector<double> default_residuals(const std::vector<ComparedRun>& runs, std::size_t most) {
  double highest = 0;
  double lowest = 0;
  for (const ComparedRun& run : runs) {
    for (const ComparedStep& step : run.steps) {
      const double value = step.point.value;
      if (!std::isfinite(value) || value <= 0) continue;
      highest = std::max(highest, value);
      lowest = lowest == 0 ? value : std::min(lowest, value);
    }
  }
  if (lowest == 0) return {};
  std::vector<double> decades;
  const int first = static_cast<int>(std::floor(std::log10(highest)));
  const int last = static_cast<int>(std::ceil(std::log10(lowest)));
  const int each = std::max(1, (first - last + 1 + static_cast<int>(most) - 1) / static_cast<int>(most));
  for (int power = last; power <= first; power += each) decades.push_back(std::pow(10.0, power));
  std::reverse(decades.begin(), decades.end());
  return decades;
}

std::optional<CoursePoint> reached(const ComparedRun& run, double residual) {
  const auto found = std::find_if(run.steps.begin(), run.steps.end(),
                                  [residual](const ComparedStep& step) { return step.point.value <= residual; });
  return found == run.steps.end() ? std::nullopt : std::optional(found->point);
}

}  // namespace ringside
