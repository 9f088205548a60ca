// SPDX-License-Identifier: BSD-3-Clause
#include "common/reductions/reduction_catalogue.hpp"

#include <vector>

#include "common/reductions/reduction_words.hpp"
#include "common/results/declared_results.hpp"

namespace ringside {
namespace {

constexpr std::uint32_t kF64 = RINGSIDE_VALUE_F64;
constexpr std::uint32_t kI64 = RINGSIDE_VALUE_I64;
constexpr std::uint32_t kI128 = RINGSIDE_VALUE_I128;
constexpr std::uint32_t kRealOrComplex = RINGSIDE_CLASS_REAL | RINGSIDE_CLASS_COMPLEX;
constexpr std::uint32_t kInteger = RINGSIDE_CLASS_INTEGER;
constexpr std::uint32_t kEvery = RINGSIDE_CLASS_ANY;

constexpr ringside_reduction_result row(std::uint32_t type, std::uint32_t classes, std::uint32_t count = 1,
                                        const char* unit = "") noexcept {
  return {.name = "", .unit = unit, .type = type, .count = count, .classes = classes, .flags = 0};
}

// The results of a reduction, by class of dtype.
constexpr ringside_reduction_result kInexact[] = {row(kF64, kEvery)};
constexpr ringside_reduction_result kExactOfIntegers[] = {row(kF64, kRealOrComplex), row(kI128, kInteger)};
constexpr ringside_reduction_result kCountOfInexact[] = {row(kI64, kRealOrComplex, 1, "1")};
constexpr ringside_reduction_result kRows[] = {row(kI64, kEvery, kTopEntries, "1")};
constexpr ringside_reduction_result kValues[] = {row(kF64, kEvery, kTopEntries)};
constexpr ringside_reduction_result kBins[] = {row(kI64, kEvery, kHistogramBins, "1")};

template <std::size_t N>
constexpr ringside_reduction declared(const char* name, const ringside_reduction_result (&results)[N],
                                      std::uint32_t flags = 0) noexcept {
  ringside_reduction reduction{};
  reduction.name = name;
  reduction.flags = flags;
  reduction.results = results;
  reduction.result_count = N;
  return reduction;
}

constexpr std::uint32_t kOfChange = RINGSIDE_REDUCTION_NEEDS_PREVIOUS;

/// THE TABLE of our own reductions, declared as a plug-in declares its own. They have no functions here: the compiler
/// makes one loop of all (common/reductions/kernels/reduction_list.hpp). In the order of the words
/// (common/reductions/reduction_words.cpp).
constexpr ringside_reduction kReductions[] = {
    declared("sum", kExactOfIntegers),
    declared("mean", kInexact),
    declared("min", kExactOfIntegers),
    declared("max", kExactOfIntegers),
    declared("l1", kExactOfIntegers),
    declared("l2", kInexact),
    declared("linf", kExactOfIntegers),
    declared("change_l1", kExactOfIntegers, kOfChange),
    declared("change_l2", kInexact, kOfChange),
    declared("change_linf", kExactOfIntegers, kOfChange),
    declared("non_finite", kCountOfInexact),
    declared("top_row", kRows),
    declared("top_value", kValues),
    declared("histogram", kBins),
};

std::vector<ResultDescription> described() {
  std::vector<ResultDescription> descriptions;
  for (const ringside_reduction& reduction : kReductions) {
    const std::vector<ResultDescription> of_one = describe(reduction.name, reduction, reduction.results);
    descriptions.insert(descriptions.end(), of_one.begin(), of_one.end());
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
