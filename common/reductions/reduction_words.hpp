// SPDX-License-Identifier: BSD-3-Clause
// The values of one field as words, in the order of reduction_descriptions (common/reductions/reduction_catalogue.hpp).
// Results of one field are contiguous among the words and the presence bits of a step, so a field is written at once.
#pragma once

#include <cstdint>
#include <span>

#include "common/reductions/kernels/exact_reductions.hpp"
#include "common/reductions/reduction.hpp"

namespace ringside {

/// Writes the values of a real or complex field; values: kRealFieldWords words. Returns the presence bits.
std::uint64_t write_values(const Reductions& reductions, std::uint64_t* values) noexcept;

/// The same of an integer field; values: kIntegerFieldWords words.
std::uint64_t write_values(const Reductions& reductions, const ExactReductions& exact, std::uint64_t* values) noexcept;

/// The reverse of the first.
Reductions read_values(const std::uint64_t* values, std::uint64_t presence, std::uint64_t rows) noexcept;

}  // namespace ringside
