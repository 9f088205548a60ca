// SPDX-License-Identifier: BSD-3-Clause
// What `ringside plan` says of a matrix that is larger than the DRAM it may take. It says which way pays, from what was
// measured (docs/inside/memory_mode.md, "When far memory pays"), and predicts no time: the node file has no figures for
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ringside {

struct MatrixMemoryFacts {
  std::uint64_t rows = 0;
  std::uint64_t nonzeros = 0;
  std::string far_folder;              // of --matrix-memory far:DIR; empty: DRAM
  std::uint64_t dram_limit_bytes = 0;  // with a far folder
  std::uint64_t memory_bytes = 0;      // of the node; 0: not known
};

/// Nothing if the matrix is in DRAM and fits it.
std::optional<std::string> matrix_memory_advice(const MatrixMemoryFacts& facts);

}  // namespace ringside
