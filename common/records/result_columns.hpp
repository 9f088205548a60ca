// SPDX-License-Identifier: BSD-3-Clause
// The values of a step as a record's columns hold them, however it was decoded.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "common/records/record_layout.hpp"

namespace ringside {

/// Words as RecordLayout::gather writes them.
struct ResultColumns {
  ColumnCounts counts;
  std::vector<std::uint64_t> words;
};

/// i128_words: two a value. values: the columns f64, i64 and i128, one behind the other. absent: as in wire::Results.
/// Nothing if they cannot be those of a step: half an i128, or marks of absence for other values.
std::optional<ResultColumns> columns_of(std::size_t f64, std::size_t i64, std::size_t i128_words,
                                        std::span<const std::uint64_t> values, std::string_view absent);

}  // namespace ringside
