// SPDX-License-Identifier: BSD-3-Clause
#include "common/reductions/reduction_catalogue.hpp"

#include <vector>

#include "common/results/declared_results.hpp"

namespace ringside {
namespace {

std::vector<ResultDescription> described(std::span<const ringside_reduction> reductions) {
  std::vector<ResultDescription> descriptions;
  for (const ringside_reduction& reduction : reductions) {
    const std::vector<ResultDescription> of_one = describe(reduction.name, reduction, reduction.results);
    descriptions.insert(descriptions.end(), of_one.begin(), of_one.end());
  }
  return descriptions;
}

}  // namespace

std::span<const ResultDescription> reduction_descriptions() {
  static const std::vector<ResultDescription> descriptions = described(reduction_table::kReductions);
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
  const std::span<const ringside_reduction> all(reduction_table::kReductions);
  return Catalogue::of(Schema::x_only(entries), described(all.first(reduction_table::kOfRecord)), residual_scalars());
}

std::optional<Catalogue> usual_catalogue(const Schema& schema, std::uint64_t hash) {
  if (!schema.is_x_only()) return std::nullopt;
  for (const Catalogue& usual : {catalogue_of(schema, residual_scalars()), x_only_catalogue(schema.place(0).entries)}) {
    if (catalogue_hash(usual.descriptions(), schema.id()) == hash) return usual;
  }
  return std::nullopt;
}

}  // namespace ringside
