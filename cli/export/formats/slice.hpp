// SPDX-License-Identifier: BSD-3-Clause
// `--slice '0:10,5'`: a part of an array, in NumPy's notation, and the bytes that it selects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/export/formats/chunks.hpp"
#include "common/node_rings/assembly.hpp"
#include "common/schema/variable.hpp"

namespace ringside {

/// A part of an array: one range for each of its dimensions.
struct Region {
  std::vector<std::uint64_t> whole_shape;
  std::vector<IndexRange> ranges;

  /// The shape without the dropped dimensions.
  std::vector<std::uint64_t> shape() const;
  std::uint64_t entries() const noexcept;
  bool operator==(const Region&) const = default;
};

/// The indices that a chunk of the region has in the whole array: a range for each dimension of the array.
std::vector<IndexRange> indices_of(const Region& region, const ChunkPlace& place);

/// A parsed --slice: one part for each dimension of the array, from the first dimension on; later parts may be missing.
class Slice {
 public:
  Slice() = default;  // selects everything
  /// text: for each dimension "5" (one index, which drops the dimension) or "start:stop[:step]", in which each number
  /// may be omitted; separated by commas. Throws Error (exit code 2).
  explicit Slice(const std::string& text);

  /// The region that the slice selects; dimensions without a part are whole. Throws Error (exit code 2) if the variable
  /// has fewer dimensions than the slice, or if a part lies outside of its dimension. The error's text names the
  /// variable and what would be accepted.
  Region of(const Variable& variable) const;

 private:
  struct Dimension {
    std::string text;
    bool is_index = false;
    std::optional<std::uint64_t> start;
    std::optional<std::uint64_t> stop;
    std::uint64_t step = 1;
  };
  std::vector<Dimension> dimensions_;
};

/// The region's entries, in row-major order. whole: the array's entries, of `entry_bytes` bytes each. If the entries
/// are contiguous, they are not copied. Otherwise they are copied to `buffer`, which must outlive the result.
std::span<const std::byte> select(const Region& region, std::size_t entry_bytes, std::span<const std::byte> whole,
                                  std::vector<std::byte>& buffer);

}  // namespace ringside
