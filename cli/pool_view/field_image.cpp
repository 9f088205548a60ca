// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pool_view/field_image.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>

#include "common/platform/error.hpp"
#include "common/platform/fixed_text.hpp"
#include "common/threads/team.hpp"

namespace ringside {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// The finite entries of a block.
struct Block {
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double mean = 0;  // a sum of shares, which cannot overflow
  std::uint64_t finite = 0;
  std::uint64_t not_finite = 0;

  void add(double value, double share) noexcept {
    if (!std::isfinite(value)) {
      ++not_finite;
      return;
    }
    min = std::min(min, value);
    max = std::max(max, value);
    mean += value * share;
    ++finite;
  }
};

template <class T>
double as_double(T value) noexcept {
  return static_cast<double>(value);
}
double as_double(std::complex<float> value) noexcept {
  return std::hypot(static_cast<double>(value.real()), static_cast<double>(value.imag()));
}
double as_double(std::complex<double> value) noexcept {
  return std::hypot(value.real(), value.imag());
}

/// In the order of memory: whole rows, each cut into the columns of cells.
template <class T>
std::vector<Block> blocks_of(const FieldGrid& grid, std::span<const std::byte> bytes, std::uint64_t rows,
                             std::uint64_t columns) {
  std::vector<Block> blocks(rows * columns);
  const std::byte* at = bytes.data();
  for (std::uint64_t r = 0; r < rows; ++r) {
    const std::uint64_t high = piece_begin(grid.rows, r + 1, rows) - piece_begin(grid.rows, r, rows);
    for (std::uint64_t y = 0; y < high; ++y) {
      for (std::uint64_t c = 0; c < columns; ++c) {
        const std::uint64_t wide = piece_begin(grid.columns, c + 1, columns) - piece_begin(grid.columns, c, columns);
        Block block = blocks[r * columns + c];
        const double share = 1.0 / (static_cast<double>(high) * static_cast<double>(wide));
        for (std::uint64_t x = 0; x < wide; ++x, at += sizeof(T)) {
          T value;
          std::memcpy(&value, at, sizeof value);
          block.add(as_double(value), share);
        }
        blocks[r * columns + c] = block;
      }
    }
  }
  return blocks;
}

std::vector<Block> blocks_of(const FieldGrid& grid, std::span<const std::byte> bytes, std::uint64_t rows,
                             std::uint64_t columns) {
  switch (grid.dtype) {
    case DType::kF32: return blocks_of<float>(grid, bytes, rows, columns);
    case DType::kF64: return blocks_of<double>(grid, bytes, rows, columns);
    case DType::kC64: return blocks_of<std::complex<float>>(grid, bytes, rows, columns);
    case DType::kC128: return blocks_of<std::complex<double>>(grid, bytes, rows, columns);
    case DType::kI8: return blocks_of<std::int8_t>(grid, bytes, rows, columns);
    case DType::kI16: return blocks_of<std::int16_t>(grid, bytes, rows, columns);
    case DType::kI32: return blocks_of<std::int32_t>(grid, bytes, rows, columns);
    case DType::kI64: return blocks_of<std::int64_t>(grid, bytes, rows, columns);
    case DType::kU8: return blocks_of<std::uint8_t>(grid, bytes, rows, columns);
    case DType::kU16: return blocks_of<std::uint16_t>(grid, bytes, rows, columns);
    case DType::kU32: return blocks_of<std::uint32_t>(grid, bytes, rows, columns);
    case DType::kU64: return blocks_of<std::uint64_t>(grid, bytes, rows, columns);
  }
  return std::vector<Block>(rows * columns);
}

/// Half values, because the difference of two doubles may exceed a double's range.
std::uint8_t level_of(double value, double min, double max) noexcept {
  const double range = max / 2 - min / 2;
  if (!(range > 0)) return FieldImage::kHighest / 2;
  const double share = std::clamp((value / 2 - min / 2) / range, 0.0, 1.0);
  return static_cast<std::uint8_t>(std::lround(share * FieldImage::kHighest));
}

/// kOverwritten also if the analyzer has the slot now.
HeldStatus draw(const RingReader& reader, const KeptSlot& kept, const FieldGrid& grid, CellShows shows,
                FieldImage& image) {
  HeldStep step;
  switch (reader.hold(kept.header.commit_seq, step)) {
    case HoldOutcome::kNotKept:
    case HoldOutcome::kOverwritten: return HeldStatus::kOverwritten;
    case HoldOutcome::kHeld: {
      SingleThread team;
      const HeldStatus status = step.verify(grid.variable, team);
      if (status != HeldStatus::kOk) return status;
      image = image_of(grid, step.view(grid.variable), shows);
      return step.release();
    }
    case HoldOutcome::kNoLeases: break;
  }
  std::vector<std::byte> copy(grid.entries() * bytes_of(grid.dtype));
  const HeldStatus status = reader.copy(kept, grid.variable, copy.data());
  if (status == HeldStatus::kOk) image = image_of(grid, copy, shows);
  return status;
}

}  // namespace

std::string_view to_string(CellShows shows) noexcept {
  return shows == CellShows::kMean ? "mean" : "extreme";
}

std::optional<CellShows> cell_shows_named(std::string_view name) noexcept {
  for (const CellShows shows : {CellShows::kExtreme, CellShows::kMean}) {
    if (name == to_string(shows)) return shows;
  }
  return std::nullopt;
}

FieldImage image_of(const FieldGrid& grid, std::span<const std::byte> bytes, CellShows shows) {
  if (grid.entries() == 0 || bytes.size() / bytes_of(grid.dtype) != grid.entries()) {
    throw system_error("{}: found {} bytes, expected those of {} x {} entries", grid.name, bytes.size(), grid.rows,
                       grid.columns);
  }
  FieldImage image;
  image.rows = static_cast<std::uint32_t>(std::min(grid.rows, FieldImage::kMostSide));
  image.columns = static_cast<std::uint32_t>(std::min(grid.columns, FieldImage::kMostSide));
  std::vector<Block> blocks = blocks_of(grid, bytes, image.rows, image.columns);

  Block all;
  double finite_share = 0;
  for (Block& block : blocks) {
    image.not_finite += block.not_finite;
    if (block.finite == 0) continue;
    const double entries = static_cast<double>(block.finite + block.not_finite);
    const double finite = static_cast<double>(block.finite);
    all.mean += block.mean * (entries / static_cast<double>(grid.entries()));
    finite_share += finite / static_cast<double>(grid.entries());
    block.mean *= entries / finite;
    all.min = std::min(all.min, block.min);
    all.max = std::max(all.max, block.max);
  }
  const bool any = finite_share > 0;
  image.min = any ? all.min : kNone;
  image.max = any ? all.max : kNone;
  const double mean = any ? all.mean / finite_share : kNone;

  image.cells.reserve(blocks.size());
  for (const Block& block : blocks) {
    if (block.not_finite > 0) {
      image.cells.push_back(FieldImage::kNotFinite);
      continue;
    }
    const double extreme = block.max / 2 - mean / 2 >= mean / 2 - block.min / 2 ? block.max : block.min;
    image.cells.push_back(level_of(shows == CellShows::kMean ? block.mean : extreme, image.min, image.max));
  }
  return image;
}

DrawnField draw_newest(const RingReader& reader, const FieldGrid& grid, CellShows shows) {
  // The analyzer has the newest step while it reduces it, and may overwrite others meanwhile.
  constexpr std::size_t kMostTried = 4;
  const std::vector<KeptSlot> kept = reader.recover().kept;
  if (kept.empty()) return {.image = {}, .why = "the ring keeps no iterate"};
  for (std::size_t i = 0; i < std::min(kept.size(), kMostTried); ++i) {
    const KeptSlot& one = kept[kept.size() - 1 - i];
    FieldImage image;
    switch (draw(reader, one, grid, shows, image)) {
      case HeldStatus::kOk: return {std::move(image), one.header.iteration, one.header.commit_seq, {}};
      case HeldStatus::kOverwritten: continue;
      case HeldStatus::kDamaged:
        return {.image = {}, .why = "the newest iterate is damaged: its bytes are not those that were committed"};
    }
  }
  return {.image = {}, .why = "the analyzer needs every slot; more --slots would leave one to be read"};
}

std::vector<FieldGrid> grids_in(const RingReader& reader) {
  const std::optional<KeptSlot> newest = reader.find(kNewestCommit);
  if (!newest) return {};
  const std::optional<RunDescription> run = reader.ring().run(newest->header.run_id);
  return grids_of(reader.ring().geometry().schema(), run ? text_of(run->matrix) : std::string_view());
}

}  // namespace ringside
