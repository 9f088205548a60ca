// SPDX-License-Identifier: BSD-3-Clause
#include "common/results/result_values.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "common/text/fixed_text.hpp"
#include "common/text/formatted.hpp"

namespace ringside {
namespace {

/// The words of value `index`.
std::span<const std::uint64_t> words_of_value(const ResultValues& values, const Result& result, std::uint32_t index) {
  const std::uint32_t width = words_of(result.type);
  return values.words().subspan(result.word + std::uint64_t{index} * width, width);
}

std::string name_of_value(const Result& result, std::uint32_t index) {
  return result.count == 1 ? result.full_name : formatted("{}[{}]", result.full_name, index);
}

}  // namespace

void set_origin(ResultDescription& description, const Id128& id) noexcept {
  for (int byte = 0; byte < 8; ++byte) {
    description.origin[byte] = static_cast<unsigned char>(id.high >> (56 - 8 * byte));
    description.origin[8 + byte] = static_cast<unsigned char>(id.low >> (56 - 8 * byte));
  }
}

Id128 origin_of(const ResultDescription& description) noexcept {
  Id128 id;
  for (int byte = 0; byte < 8; ++byte) {
    id.high = id.high << 8 | description.origin[byte];
    id.low = id.low << 8 | description.origin[8 + byte];
  }
  return id;
}

ResultDescription description_of(const Scalar& scalar) noexcept {
  ResultDescription description;
  assign(description.name, scalar.name);
  assign(description.unit, scalar.unit);
  description.type = scalar.type;
  description.source = ResultSource::kScalar;
  return description;
}

std::uint64_t catalogue_hash(std::span<const ResultDescription> descriptions, const Id128& schema_id) noexcept {
  return hash64(descriptions.data(), descriptions.size_bytes(), schema_id.low);
}

std::string to_string(Int128 value) {
  std::string digits;
  const bool negative = value < 0;
  auto rest = static_cast<UInt128>(value);
  if (negative) rest = -rest;
  do {
    digits += static_cast<char>('0' + static_cast<int>(rest % 10));
    rest /= 10;
  } while (rest != 0);
  if (negative) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::string to_text(const ResultValues& values, const Result& result, std::uint32_t index) {
  if (!values.present(result)) return "-";
  switch (result.type) {
    case ValueType::kF64: return formatted("{}", values.f64(result, index));
    case ValueType::kI64: return std::to_string(values.i64(result, index));
    case ValueType::kI128: break;
  }
  return to_string(values.i128(result, index));
}

bool is_of_earlier_release(const Result& result, std::uint64_t recorded, std::uint64_t recomputed) noexcept {
  return result.source == ResultSource::kReduction && result.origin == Id128{} && result.type == ValueType::kF64 &&
         result.full_name.ends_with(".change_linf") && recorded == 0 && std::isnan(std::bit_cast<double>(recomputed));
}

std::vector<ResultDifference> differences(const Catalogue& catalogue, const ResultValues& recorded,
                                          const ResultValues& recomputed) {
  std::vector<ResultDifference> found;
  for (const Result& result : catalogue.results()) {
    if (result.source == ResultSource::kScalar) continue;
    const bool both = recorded.present(result) == recomputed.present(result);
    for (std::uint32_t i = 0; i < result.count; ++i) {
      if (both && std::ranges::equal(words_of_value(recorded, result, i), words_of_value(recomputed, result, i)))
        continue;
      if (both && is_of_earlier_release(result, words_of_value(recorded, result, i)[0], words_of_value(recomputed, result, i)[0]))
        continue;
      found.push_back({name_of_value(result, i), to_text(recorded, result, i), to_text(recomputed, result, i)});
      if (found.back().recorded != found.back().recomputed) continue;
      found.back().recorded += formatted(" ({:#018x})", words_of_value(recorded, result, i)[0]);
      found.back().recomputed += formatted(" ({:#018x})", words_of_value(recomputed, result, i)[0]);
    }
  }
  return found;
}

}  // namespace ringside
