// SPDX-License-Identifier: BSD-3-Clause
#include "cli/node/matrix_memory_advice.hpp"

#include <fmt/format.h>

#include "cli/terminal/format.hpp"

namespace ringside {

std::optional<std::string> matrix_memory_advice(const MatrixMemoryFacts& facts) {
  // The bytes of the row offsets and of the columns. Whether the matrix also has values is unknown here.
  const std::uint64_t bytes = (facts.rows + 1) * sizeof(std::uint64_t) + facts.nonzeros * sizeof(std::uint32_t);
  const std::string size =
      fmt::format("the matrix takes at least {}, and 8 more bytes per entry if it has values", megabytes(bytes));
  if (facts.far_folder.empty()) {
    if (facts.memory_bytes == 0 || bytes <= facts.memory_bytes) return std::nullopt;
    return fmt::format(
        "{}, but the node has {}. The times here assume a matrix in DRAM. --matrix-memory far:DIR --dram-limit SIZE "
        "can run this matrix, and was measured to be faster than a mapped --cache that does not fit "
        "(docs/inside/memory_mode.md, When far memory pays)",
        size, megabytes(facts.memory_bytes));
  }
  if (bytes <= facts.dram_limit_bytes) {
    return fmt::format(
        "{}; a matrix without values fits into --dram-limit {}, so its times are those of a matrix in DRAM", size,
        megabytes(facts.dram_limit_bytes));
  }
  return fmt::format(
      "{}, which is {:.1f} times --dram-limit. The times here assume a matrix in DRAM; far memory is slower for a "
      "matrix that does not fit. If the kernel has enough DRAM for a mapped --cache of csr or bands, this cache is as "
      "fast as DRAM. Otherwise, far memory was measured to be faster than the cache (docs/inside/memory_mode.md, When "
      "far memory pays)",
      size, static_cast<double>(bytes) / static_cast<double>(facts.dram_limit_bytes));
}

}  // namespace ringside
