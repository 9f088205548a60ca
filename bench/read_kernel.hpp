// What the reductions are held against: reading an iterate as fast as the instruction set can, and copying one while
// another is read, once per instruction set (cmake/isa_variants.cmake).
#pragma once

#include <cstddef>
#include <cstdint>

namespace ringside::bench {

/// The exclusive or of all words: next to nothing is done with them. rows: 8-byte words.
using ReadFunction = std::uint64_t(const double* x, std::size_t rows) noexcept;

/// Copies `from` to `to` (64-byte aligned) past the cache and reads `third` on the way, all of `rows` doubles (but for
/// the last ones, less than a line). No fence. Returns as ReadFunction does.
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
