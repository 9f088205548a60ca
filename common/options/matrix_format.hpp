// SPDX-License-Identifier: BSD-3-Clause
// The values of `--matrix-format`: the storage formats of the matrix, all of which give the same bits
// (docs/inside/kernels.md). producer/kernels/row_layout.hpp converts to them.
#pragma once

#include <array>
#include <string_view>

namespace ringside {

enum class MatrixFormat {
  kAuto,    // by the computed cost of an iteration and of the conversion (producer/kernels/format_choice.hpp)
  kCsr,     // rows as in the matrix
  kBands,   // rows in bands stored separately, the others as in the matrix
  kPacked,  // rows in bands stored separately, the others packed
  kRanked   // all rows packed, and the vector ordered by how often its elements are read
};

/// In the order of the enumerators.
inline constexpr std::array<std::string_view, 5> kMatrixFormatNames = {"auto", "csr", "bands", "packed", "ranked"};

inline std::string_view to_string(MatrixFormat format) noexcept {
  return kMatrixFormatNames[static_cast<std::size_t>(format)];
}

}  // namespace ringside
