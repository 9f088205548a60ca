// SPDX-License-Identifier: BSD-3-Clause
#include "common/reductions/reduction_catalogue.hpp"

#include <vector>

#include "common/platform/fixed_text.hpp"
#include "common/reductions/reduction_words.hpp"

namespace ringside {
namespace {

constexpr auto kRealOrComplex =
    static_cast<std::uint16_t>(static_cast<unsigned>(DTypeClass::kReal) | static_cast<unsigned>(DTypeClass::kComplex));
constexpr auto kInteger = static_cast<std::uint16_t>(DTypeClass::kInteger);
constexpr auto kEvery = static_cast<std::uint16_t>(kRealOrComplex | kInteger);

struct Described {
  const char* name;
  ValueType type;
  std::uint16_t classes;
  std::uint32_t count = 1;
  std::uint32_t flags = 0;
  const char* unit = "";  // that of the variable
};

/// In the order of the words (common/reductions/reduction_words.cpp).
constexpr Described kReductions[] = {
    {"sum", ValueType::kF64, kRealOrComplex},
    {"sum", ValueType::kI128, kInteger},
    {"mean", ValueType::kF64, kEvery},
    {"min", ValueType::kF64, kRealOrComplex},
    {"min", ValueType::kI128, kInteger},
    {"max", ValueType::kF64, kRealOrComplex},
    {"max", ValueType::kI128, kInteger},
    {"l1", ValueType::kF64, kRealOrComplex},
    {"l1", ValueType::kI128, kInteger},
    {"l2", ValueType::kF64, kEvery},
    {"linf", ValueType::kF64, kRealOrComplex},
    {"linf", ValueType::kI128, kInteger},
    {"change_l1", ValueType::kF64, kRealOrComplex, 1, kNeedsPrevious},
    {"change_l1", ValueType::kI128, kInteger, 1, kNeedsPrevious},
    {"change_l2", ValueType::kF64, kEvery, 1, kNeedsPrevious},
    {"change_linf", ValueType::kF64, kRealOrComplex, 1, kNeedsPrevious},
    {"change_linf", ValueType::kI128, kInteger, 1, kNeedsPrevious},
    {"non_finite", ValueType::kI64, kRealOrComplex, 1, 0, "1"},
    {"top_row", ValueType::kI64, kEvery, kTopEntries, 0, "1"},
    {"top_value", ValueType::kF64, kEvery, kTopEntries},
    {"histogram", ValueType::kI64, kEvery, kHistogramBins, 0, "1"},
};

std::vector<ResultDescription> described() {
  std::vector<ResultDescription> descriptions;
  for (const Described& reduction : kReductions) {
    ResultDescription& description = descriptions.emplace_back();
    assign(description.name, reduction.name);
    assign(description.unit, reduction.unit);
    description.type = reduction.type;
    description.source = ResultSource::kReduction;
    description.classes = reduction.classes;
    description.count = reduction.count;
    description.flags = reduction.flags;
  }
  return descriptions;
}

}  // namespace

std::span<const ResultDescription> reduction_descriptions() {
  static const std::vector<ResultDescription> descriptions = described();
  return descriptions;
}

Catalogue catalogue_of(const Schema& schema, std::span<const Scalar> scalars,
                       std::span<const ResultDescription> plug_ins) {
  std::vector<ResultDescription> reductions(reduction_descriptions().begin(), reduction_descriptions().end());
  reductions.insert(reductions.end(), plug_ins.begin(), plug_ins.end());
  return Catalogue::of(schema, reductions, scalars);
}

std::span<const Scalar> residual_scalars() {
  static const Scalar scalars[] = {{.name = "residual_l1"}, {.name = "residual_linf"}};
  return scalars;
}

Catalogue x_only_catalogue(std::uint64_t entries) {
  return catalogue_of(Schema::x_only(entries), residual_scalars());
}

void to_words(const Reductions& reductions, std::span<std::uint64_t> words) noexcept {
  words[0] = write_values(reductions, &words[1]);
}

Reductions to_reductions(std::span<const std::uint64_t> words, std::uint64_t rows) noexcept {
  return read_values(&words[1], words[0], rows);
}

}  // namespace ringside
