// The reference the reductions are held against: reading an iterate as fast as the instruction set can, once per
// instruction set (cmake/isa_variants.cmake).
#pragma once

#include <cstddef>
#include <cstdint>

namespace ringside::bench {

/// The exclusive or of all words: next to nothing is done with them. rows: 8-byte words.
using ReadFunction = std::uint64_t(const double* x, std::size_t rows) noexcept;

}  // namespace ringside::bench

namespace ringside::plain {
bench::ReadFunction read_all;
}
namespace ringside::avx2 {
bench::ReadFunction read_all;
}
namespace ringside::avx512 {
bench::ReadFunction read_all;
}
