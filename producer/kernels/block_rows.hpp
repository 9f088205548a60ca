// SPDX-License-Identifier: BSD-3-Clause
// The unit in which threads share and sum rows. It has its own header because kernels need it, too, and kernels must
// not call code of a header (cmake/isa_variants.cmake).
#pragma once

#include <cstdint>

namespace ringside {

/// 1024 rows: 8 kB of doubles, so that a block's results stay in the first-level cache until its second pass.
inline constexpr std::uint64_t kBlockRows = 1024;

constexpr std::uint64_t block_count(std::uint64_t rows) noexcept {
  return (rows + kBlockRows - 1) / kBlockRows;
}

}  // namespace ringside
