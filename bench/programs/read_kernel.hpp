// SPDX-License-Identifier: BSD-3-Clause
// The reference for the reductions: reading an iterate as fast as the instruction set permits, and copying an iterate
// while another one is read. Both functions are compiled once per instruction set (cmake/isa_variants.cmake).
#pragma once

#include <cstddef>
#include <cstdint>

namespace ringside::bench {

/// Returns the XOR of all words, which takes almost no work besides reading. rows: 8-byte words.
using ReadFunction = std::uint64_t(const double* x, std::size_t rows) noexcept;

/// Copies `from` to `to` (64-byte aligned) with non-temporal stores, and reads `third` in the same pass. Each array has
/// `rows` doubles; an incomplete last line is left out. Issues no fence. Returns the XOR of the words of `third`.
using CopyAndReadFunction = std::uint64_t(double* to, const double* from, const double* third,
                                          std::size_t rows) noexcept;

}  // namespace ringside::bench

namespace ringside::plain {
bench::ReadFunction read_all;
bench::CopyAndReadFunction copy_and_read;
}  // namespace ringside::plain
namespace ringside::avx2 {
bench::ReadFunction read_all;
bench::CopyAndReadFunction copy_and_read;
}  // namespace ringside::avx2
namespace ringside::avx512 {
bench::ReadFunction read_all;
bench::CopyAndReadFunction copy_and_read;
}  // namespace ringside::avx512
