// SPDX-License-Identifier: BSD-3-Clause
// XXH3 over one range of bytes, compiled once for each instruction set (cmake/isa_variants.cmake). xxHash chooses its
// vector code by the compiler's predefined macros, so all variants have the same source and differ only in the
// compiler's flags. All variants return equal values.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ringside {

using Hash64Function = std::uint64_t(const void* data, std::size_t bytes, std::uint64_t seed) noexcept;

/// Writes the hash to `high_low[0]` (high half) and `high_low[1]` (low half).
using Hash128Function = void(const void* data, std::size_t bytes, std::uint64_t seed, std::uint64_t* high_low) noexcept;

namespace plain {
Hash64Function hash64;
Hash128Function hash128;
}  // namespace plain

namespace avx2 {
Hash64Function hash64;
Hash128Function hash128;
}  // namespace avx2

namespace avx512 {
Hash64Function hash64;
Hash128Function hash128;
}  // namespace avx512

}  // namespace ringside
