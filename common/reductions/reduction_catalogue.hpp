// SPDX-License-Identifier: BSD-3-Clause
// The reductions that this release computes, as descriptions by class of dtype (docs/variables.md, section 3), and the
// catalogues made of them. The record `Reductions` and the words of an x-only step, which say the same, are converted
// into each other here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/reductions/reduction.hpp"
#include "common/results/catalogue.hpp"

namespace ringside {

/// Values of one field, in words, without presence bits.
inline constexpr std::size_t kRealFieldWords = 299;  // of a complex field, too
inline constexpr std::size_t kIntegerFieldWords = 305;

/// The words of an x-only step, one word of presence bits included.
inline constexpr std::size_t kXOnlyWords = 1 + kRealFieldWords;

/// All 21, in the order of the results of a field. One that differs in type between classes stands once for each type.
std::span<const ResultDescription> reduction_descriptions();

/// The results of a run with these variables: of every field every reduction of our own, then those of plug-ins
/// (PlugInSet::descriptions); then the scalars. Throws Error (exit code 2): a full name twice, for instance.
Catalogue catalogue_of(const Schema& schema, std::span<const Scalar> scalars = {},
                       std::span<const ResultDescription> plug_ins = {});

/// residual_l1 and residual_linf (f64): what the built-in solvers publish with each step.
std::span<const Scalar> residual_scalars();

/// The results of a run of a built-in solver: of one f64 field `x` of `entries` entries, and of residual_scalars.
Catalogue x_only_catalogue(std::uint64_t entries);

/// The words of an x-only step. words: kXOnlyWords of them. A top row that is not filled is -1.
void to_words(const Reductions& reductions, std::span<std::uint64_t> words) noexcept;

/// The reverse. words: kXOnlyWords of them, which may be hostile; rows: entries of x.
Reductions to_reductions(std::span<const std::uint64_t> words, std::uint64_t rows) noexcept;

}  // namespace ringside
