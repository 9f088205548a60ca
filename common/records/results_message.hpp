// SPDX-License-Identifier: BSD-3-Clause
// The values of a step as a message, and back.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/records/record_layout.hpp"
#include "common/records/result_columns.hpp"

namespace ringside::wire {
class Results;
}  // namespace ringside::wire

namespace ringside {

/// Sets every field of `message`, and reuses its memory. words: layout.words() of them.
void fill(wire::Results& message, const RecordLayout& layout, std::span<const std::uint64_t> words);

/// The columns of a message, which may be hostile, as words in the same order.
/// Nothing if the columns cannot be those of a step: half an i128, or marks of absence for other values.
std::optional<ResultColumns> columns_of(const wire::Results& message);

}  // namespace ringside
