// SPDX-License-Identifier: BSD-3-Clause
// Draws a two-dimensional field as an image of bounded size: at most 256 x 256 cells of one byte, whatever the field's
// size. Each cell represents a block of neighbouring entries. A panel of the page shows 256 cells per side without
// scaling them down. One byte represents 255 levels, which are more than the eye can distinguish in a colour map. The
// largest image takes 64 KiB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/pool_reader/ring_reader.hpp"
#include "common/schema/schema.hpp"

namespace ringside {

/// A variable that is a two-dimensional field.
struct FieldGrid {
  std::size_t variable = 0;  // its index in the schema
  std::string name;
  std::string unit;
  DType dtype = DType::kF64;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;

  std::uint64_t entries() const noexcept { return rows * columns; }
  /// A field with more entries is drawn only on request, because reading it takes memory bandwidth from the run.
  static constexpr std::uint64_t kLarge = 4'000'000;
  bool is_large() const noexcept { return entries() > kLarge; }
};

/// The variables with two dimensions, and those with three dimensions of which one has length 1. If `matrix` is
/// grid:SIDE, also those with SIDE * SIDE entries in one dimension. Fields precede states; both are in the order of the
/// schema.
std::vector<FieldGrid> grids_of(const Schema& schema, std::string_view matrix);

/// The value that a cell shows of its block.
enum class CellShows {
  kExtreme,  // the entry that is farthest from the field's mean, so that single outliers stay visible
  kMean
};
std::string_view to_string(CellShows shows) noexcept;
std::optional<CellShows> cell_shows_named(std::string_view name) noexcept;

struct FieldImage {
  static constexpr std::uint64_t kMostSide = 256;
  static constexpr std::uint8_t kHighest = 254;     // the level of `max`; the level of `min` is 0
  static constexpr std::uint8_t kNotFinite = 255;   // the block has an entry that is not finite

  std::uint32_t rows = 0;  // rows of the image, in cells
  std::uint32_t columns = 0;
  double min = 0;  // over the field's finite entries; NaN if it has no such entry
  double max = 0;
  std::uint64_t not_finite = 0;     // number of entries that are not finite
  std::vector<std::uint8_t> cells;  // row-major
};

/// Makes an image of entries that arrive in pieces.
class FieldImageMaker {
 public:
  /// Throws Error if the grid has no entry.
  explicit FieldImageMaker(const FieldGrid& grid);

  /// bytes: the next entries, each of them whole, in row-major order. Throws Error if these are more entries than the
  /// grid has.
  void add(std::span<const std::byte> bytes);

  /// Throws Error unless all entries were added.
  FieldImage image(CellShows shows) const;

 private:
  /// The finite entries of one cell.
  struct Block {
    double min = std::numeric_limits<double>::infinity();
    double max = -std::numeric_limits<double>::infinity();
    double mean = 0;  // computed as a sum of shares, so that no overflow is possible
    std::uint64_t finite = 0;
    std::uint64_t not_finite = 0;

    void add(double value, double share) noexcept;
  };
  template <class T>
  void add_entries(const std::byte* at, std::uint64_t count) noexcept;
  std::uint64_t entries_added() const noexcept { return row_ * grid_.columns + column_; }

  FieldGrid grid_;
  std::uint64_t rows_;  // rows of the image, in cells
  std::uint64_t columns_;
  std::vector<Block> blocks_;
  std::uint64_t row_ = 0;  // row of the next entry in the grid
  std::uint64_t column_ = 0;
  std::uint64_t cell_row_ = 0;  // row of the next entry in the image
  std::uint64_t cell_column_ = 0;
};

/// bytes: the entries of `grid`, row-major. For a complex entry, its modulus is used; if the modulus exceeds a double's
/// range, the entry is not finite.
FieldImage image_of(const FieldGrid& grid, std::span<const std::byte> bytes, CellShows shows);

/// A step of a pool as an image.
struct DrawnField {
  std::optional<FieldImage> image;
  std::uint64_t iteration = 0;
  std::uint64_t commit_seq = 0;
  std::string why;  // why there is no image
};

/// Draws the newest available step; while the analyzer reduces the newest step, this is the step before it. Holds the
/// step with a lease, confirms the variable's hashes, and reads the variable in place. If the file system has no
/// leases, reads and confirms chunk by chunk, without a copy of the field. In both cases, the analyzer never waits.
DrawnField draw_newest(const RingReader& reader, const FieldGrid& grid, CellShows shows);

/// The grids of the pool's newest step.
std::vector<FieldGrid> grids_in(const RingReader& reader);

}  // namespace ringside
