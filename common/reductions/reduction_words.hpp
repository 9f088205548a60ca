// SPDX-License-Identifier: BSD-3-Clause
// Converts between the record `Reductions` and words of the same content: presence bits, then values, in the order of
// x_only_catalogue (common/reductions/reduction_catalogue.hpp). Words of newer releases begin with the same values.
#pragma once

#include <cstdint>
#include <span>

#include "common/reductions/kernels/reduction_record.hpp"
#include "common/reductions/kernels/reduction_table.hpp"

namespace ringside {

/// words: at least kXOnlyWords words. A top row without an entry becomes -1.
void to_words(const Reductions& reductions, std::span<std::uint64_t> words) noexcept;

/// The reverse of to_words. words: at least kXOnlyWords words, which may be hostile; rows: the number of entries of x.
Reductions to_reductions(std::span<const std::uint64_t> words, std::uint64_t rows) noexcept;

}  // namespace ringside
