// SPDX-License-Identifier: BSD-3-Clause
#include "common/results/declared_results.hpp"

#include "common/text/fixed_text.hpp"

namespace ringside {

std::string name_of(const std::string& reduction, const ringside_reduction_result& result) {
  const bool has_name = result.name != nullptr && *result.name != '\0';
  return has_name ? reduction + "." + result.name : reduction;
}

std::string unit_of(const ringside_reduction_result& result) {
  return result.unit != nullptr ? result.unit : "";
}

std::uint16_t classes_of(const ringside_reduction& declared) noexcept {
  constexpr std::uint32_t kUsual = RINGSIDE_CLASS_REAL | RINGSIDE_CLASS_COMPLEX;
  return static_cast<std::uint16_t>(declared.classes != 0 ? declared.classes : kUsual);
}

std::vector<ResultDescription> describe(const std::string& name, const ringside_reduction& declared,
                                        const ringside_reduction_result* results) {
  std::vector<ResultDescription> descriptions;
  for (std::uint32_t r = 0; r < declared.result_count; ++r) {
    const ringside_reduction_result& result = results[r];
    ResultDescription& description = descriptions.emplace_back();
    assign(description.name, name_of(name, result));
    assign(description.unit, unit_of(result));
    description.type = ValueType{static_cast<std::uint8_t>(result.type)};
    description.source = ResultSource::kReduction;
    description.classes = result.classes != 0 ? static_cast<std::uint16_t>(result.classes) : classes_of(declared);
    description.count = result.count != 0 ? result.count : 1;
    description.flags = (declared.flags & RINGSIDE_REDUCTION_NEEDS_PREVIOUS) != 0 ? kNeedsPrevious : 0;
  }
  return descriptions;
}

}  // namespace ringside
