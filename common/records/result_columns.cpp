// SPDX-License-Identifier: BSD-3-Clause
#include "common/records/result_columns.hpp"

namespace ringside {

std::optional<ResultColumns> columns_of(std::size_t f64, std::size_t i64, std::size_t i128_words,
                                        std::span<const std::uint64_t> values, std::string_view absent) {
  if (i128_words % 2 != 0) return std::nullopt;
  ResultColumns columns;
  columns.counts = {.f64 = f64, .i64 = i64, .i128 = i128_words / 2};
  const std::size_t count = columns.counts.values();
  if (!absent.empty() && absent.size() != (count + 7) / 8) return std::nullopt;
  columns.words.reserve(columns.counts.words());
  columns.words.resize(columns.counts.absence_words());
  for (std::size_t i = 0; i < absent.size(); ++i) {
    columns.words[i / 8] |= std::uint64_t{static_cast<unsigned char>(absent[i])} << (8 * (i % 8));
  }
  if (count % 64 != 0 && columns.words.size() > 0 && columns.words.back() >> (count % 64) != 0) return std::nullopt;
  columns.words.insert(columns.words.end(), values.begin(), values.end());
  return columns;
}

}  // namespace ringside
