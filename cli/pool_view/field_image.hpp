// SPDX-License-Identifier: BSD-3-Clause
// A field of two dimensions as an image of bounded size: at most 256 x 256 cells of one byte, whatever the field's
// size. Each cell stands for a block of neighbouring entries. 256 cells a side are what a panel of a page shows without
// scaling down; a byte a cell has 255 levels, more than a colour map lets an eye tell apart, and makes the largest
// image 64 KiB.
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

/// A variable that is a field of two dimensions.
struct FieldGrid {
  std::size_t variable = 0;  // its index in the schema
  std::string name;
  std::string unit;
  DType dtype = DType::kF64;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;

  std::uint64_t entries() const noexcept { return rows * columns; }
  /// Above this a field is drawn only on request: reading it takes memory bandwidth from the run.
  static constexpr std::uint64_t kLarge = 4'000'000;
  bool is_large() const noexcept { return entries() > kLarge; }
};

/// The variables with a shape of two dimensions, or of three of which one has the length 1; and those of SIDE * SIDE
/// entries in one dimension if `matrix` is grid:SIDE. Fields first, then states, each in the order of the schema.
std::vector<FieldGrid> grids_of(const Schema& schema, std::string_view matrix);

/// What a cell shows of its block.
enum class CellShows {
  kExtreme,  // the entry that is farthest from the field's mean: a single one that stands out is not lost
  kMean
};
std::string_view to_string(CellShows shows) noexcept;
std::optional<CellShows> cell_shows_named(std::string_view name) noexcept;

struct FieldImage {
  static constexpr std::uint64_t kMostSide = 256;
  static constexpr std::uint8_t kHighest = 254;     // the level of `max`; that of `min` is 0
  static constexpr std::uint8_t kNotFinite = 255;   // the block has an entry that is not finite

  std::uint32_t rows = 0;  // of the image: cells
  std::uint32_t columns = 0;
  double min = 0;  // of the field's finite entries; NaN if there is none
  double max = 0;
  std::uint64_t not_finite = 0;     // entries
  std::vector<std::uint8_t> cells;  // row-major
};

/// Makes an image of entries that come in pieces.
class FieldImageMaker {
 public:
  /// Throws Error if the grid has no entry.
  explicit FieldImageMaker(const FieldGrid& grid);

  /// bytes: the next entries, row-major, whole ones. Throws Error if there are more than the grid has.
  void add(std::span<const std::byte> bytes);

  /// Throws Error unless all entries were added.
  FieldImage image(CellShows shows) const;

 private:
  /// The finite entries that a cell stands for.
  struct Block {
    double min = std::numeric_limits<double>::infinity();
    double max = -std::numeric_limits<double>::infinity();
    double mean = 0;  // a sum of shares, which cannot overflow
    std::uint64_t finite = 0;
    std::uint64_t not_finite = 0;

    void add(double value, double share) noexcept;
  };
  template <class T>
  void add_entries(const std::byte* at, std::uint64_t count) noexcept;
  std::uint64_t entries_added() const noexcept { return row_ * grid_.columns + column_; }

  FieldGrid grid_;
  std::uint64_t rows_;  // of the image: cells
  std::uint64_t columns_;
  std::vector<Block> blocks_;
  std::uint64_t row_ = 0;  // of the grid, where the next entry has its place
  std::uint64_t column_ = 0;
  std::uint64_t cell_row_ = 0;  // of the image, where that is
  std::uint64_t cell_column_ = 0;
};

/// bytes: the entries of `grid`, row-major. A complex entry counts with its modulus; if that exceeds a double's range
/// the entry is not finite.
FieldImage image_of(const FieldGrid& grid, std::span<const std::byte> bytes, CellShows shows);

/// A step of a pool as an image.
struct DrawnField {
  std::optional<FieldImage> image;
  std::uint64_t iteration = 0;
  std::uint64_t commit_seq = 0;
  std::string why;  // there is no image
};

/// Of the newest step that can be had: while the analyzer reduces a step, it is the one before. Holds it with a lease,
/// confirms the variable's hashes, and reads it in place. Where the file system has no leases, reads it chunk by chunk and
/// confirms each, without a copy of the field. The analyzer waits for neither.
DrawnField draw_newest(const RingReader& reader, const FieldGrid& grid, CellShows shows);

/// The grids of the pool's newest step.
std::vector<FieldGrid> grids_in(const RingReader& reader);

}  // namespace ringside
