// SPDX-License-Identifier: BSD-3-Clause
// The record `Reductions` and its words, which say the same: presence bits, then values, in the order of
// x_only_catalogue (common/reductions/reduction_catalogue.hpp). Words of newer releases begin like these.
#pragma once

#include <cstdint>
#include <span>

#include "common/reductions/kernels/reduction_record.hpp"
#include "common/reductions/kernels/reduction_table.hpp"

namespace ringside {

/// words: at least kXOnlyWords of them. A top row that is not filled is -1.
void to_words(const Reductions& reductions, std::span<std::uint64_t> words) noexcept;

/// The reverse. words: at least kXOnlyWords of them, which may be hostile; rows: entries of x.
Reductions to_reductions(std::span<const std::uint64_t> words, std::uint64_t rows) noexcept;

}  // namespace ringside
