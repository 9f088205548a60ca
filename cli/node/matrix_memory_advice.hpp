// SPDX-License-Identifier: BSD-3-Clause
// The advice of `ringside plan` for a matrix that is larger than its DRAM limit. The advice names the alternative that
// costs least, according to measurements (docs/inside/memory_mode.md, "When far memory pays"). It predicts no time,
// because the node file lacks figures for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ringside {

struct MatrixMemoryFacts {
  std::uint64_t rows = 0;
  std::uint64_t nonzeros = 0;
  std::string far_folder;              // from --matrix-memory far:DIR; empty: DRAM
  std::uint64_t dram_limit_bytes = 0;  // only with a far folder
  std::uint64_t memory_bytes = 0;      // the memory of the node; 0: unknown
};

/// The advice as text; empty if the matrix is to be in DRAM and fits there.
std::optional<std::string> matrix_memory_advice(const MatrixMemoryFacts& facts);

}  // namespace ringside
