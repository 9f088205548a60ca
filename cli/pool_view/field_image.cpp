// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pool_view/field_image.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>

#include "common/platform/error.hpp"
#include "common/text/decimal.hpp"
#include "common/text/fixed_text.hpp"
#include "common/threads/team.hpp"

namespace ringside {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

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

/// The level of `value` between `min` and `max`. Computes with half of each value, because the difference of two
/// doubles may exceed a double's range.
std::uint8_t level_of(double value, double min, double max) noexcept {
  const double range = max / 2 - min / 2;
  if (!(range > 0)) return FieldImage::kHighest / 2;
  const double share = std::clamp((value / 2 - min / 2) / range, 0.0, 1.0);
  return static_cast<std::uint8_t>(std::lround(share * FieldImage::kHighest));
}

/// Draws a kept step. Returns kOverwritten also if the analyzer is using the slot.
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
  FieldImageMaker maker(grid);
  const HeldStatus status = reader.read_through(
      kept, grid.variable, [&](std::uint64_t, std::span<const std::byte> bytes) { maker.add(bytes); });
  if (status == HeldStatus::kOk) image = maker.image(shows);
  return status;
}

/// SIDE of the matrix grid:SIDE; 0 for any other matrix.
std::uint64_t side_of(std::string_view matrix) {
  constexpr std::string_view kGrid = "grid:";
  if (!matrix.starts_with(kGrid)) return 0;
  const std::uint64_t side = whole_number(matrix.substr(kGrid.size())).value_or(0);
  return side <= 65535 ? side : 0;
}

std::vector<std::uint64_t> plane_of(const std::vector<std::uint64_t>& shape, std::uint64_t side) {
  if (shape.size() == 1 && side > 0 && shape[0] == side * side) return {side, side};
  if (shape.size() == 2) return shape;
  if (shape.size() != 3) return {};
  std::vector<std::uint64_t> plane = shape;
  const auto flat = std::find(plane.begin(), plane.end(), std::uint64_t{1});
  if (flat == plane.end()) return {};
  plane.erase(flat);
  return plane;
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

FieldImageMaker::FieldImageMaker(const FieldGrid& grid)
    : grid_(grid),
      rows_(std::min(grid.rows, FieldImage::kMostSide)),
      columns_(std::min(grid.columns, FieldImage::kMostSide)),
      blocks_(rows_ * columns_) {
  if (grid.entries() == 0) throw system_error("{}: found no entry, expected at least one", grid.name);
}

void FieldImageMaker::Block::add(double value, double share) noexcept {
  if (!std::isfinite(value)) {
    ++not_finite;
    return;
  }
  min = std::min(min, value);
  max = std::max(max, value);
  mean += value * share;
  ++finite;
}

void FieldImageMaker::add(std::span<const std::byte> bytes) {
  const std::uint64_t count = bytes.size() / bytes_of(grid_.dtype);
  if (count * bytes_of(grid_.dtype) != bytes.size() || count > grid_.entries() - entries_added()) {
    throw system_error("{}: found {} bytes after {} entries, expected the bytes of {} x {} entries", grid_.name,
                       bytes.size(), entries_added(), grid_.rows, grid_.columns);
  }
  switch (grid_.dtype) {
    case DType::kF32: return add_entries<float>(bytes.data(), count);
    case DType::kF64: return add_entries<double>(bytes.data(), count);
    case DType::kC64: return add_entries<std::complex<float>>(bytes.data(), count);
    case DType::kC128: return add_entries<std::complex<double>>(bytes.data(), count);
    case DType::kI8: return add_entries<std::int8_t>(bytes.data(), count);
    case DType::kI16: return add_entries<std::int16_t>(bytes.data(), count);
    case DType::kI32: return add_entries<std::int32_t>(bytes.data(), count);
    case DType::kI64: return add_entries<std::int64_t>(bytes.data(), count);
    case DType::kU8: return add_entries<std::uint8_t>(bytes.data(), count);
    case DType::kU16: return add_entries<std::uint16_t>(bytes.data(), count);
    case DType::kU32: return add_entries<std::uint32_t>(bytes.data(), count);
    case DType::kU64: return add_entries<std::uint64_t>(bytes.data(), count);
  }
}

/// Adds the entries of a piece, which may begin and end within a row. Each row is divided among the columns of cells.
template <class T>
void FieldImageMaker::add_entries(const std::byte* at, std::uint64_t count) noexcept {
  while (count > 0) {
    const std::uint64_t row_end = piece_begin(grid_.rows, cell_row_ + 1, rows_);
    const std::uint64_t high = row_end - piece_begin(grid_.rows, cell_row_, rows_);
    const std::uint64_t column_end = piece_begin(grid_.columns, cell_column_ + 1, columns_);
    const std::uint64_t wide = column_end - piece_begin(grid_.columns, cell_column_, columns_);
    const std::uint64_t entries = std::min(count, column_end - column_);
    Block& place = blocks_[cell_row_ * columns_ + cell_column_];
    Block block = place;
    const double share = 1.0 / (static_cast<double>(high) * static_cast<double>(wide));
    for (std::uint64_t i = 0; i < entries; ++i, at += sizeof(T)) {
      T value;
      std::memcpy(&value, at, sizeof value);
      block.add(as_double(value), share);
    }
    place = block;
    count -= entries;
    column_ += entries;
    if (column_ < column_end) continue;
    if (++cell_column_ < columns_) continue;
    column_ = cell_column_ = 0;
    if (++row_ == row_end) ++cell_row_;
  }
}

FieldImage FieldImageMaker::image(CellShows shows) const {
  if (entries_added() != grid_.entries()) {
    throw system_error("{}: found {} entries, expected {} x {}", grid_.name, entries_added(), grid_.rows,
                       grid_.columns);
  }
  FieldImage image;
  image.rows = static_cast<std::uint32_t>(rows_);
  image.columns = static_cast<std::uint32_t>(columns_);
  std::vector<Block> blocks = blocks_;

  Block all;
  double finite_share = 0;
  for (Block& block : blocks) {
    image.not_finite += block.not_finite;
    if (block.finite == 0) continue;
    const double entries = static_cast<double>(block.finite + block.not_finite);
    const double finite = static_cast<double>(block.finite);
    all.mean += block.mean * (entries / static_cast<double>(grid_.entries()));
    finite_share += finite / static_cast<double>(grid_.entries());
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

FieldImage image_of(const FieldGrid& grid, std::span<const std::byte> bytes, CellShows shows) {
  FieldImageMaker maker(grid);
  maker.add(bytes);
  return maker.image(shows);
}

DrawnField draw_newest(const RingReader& reader, const FieldGrid& grid, CellShows shows) {
  // The analyzer uses the slot of the newest step while it reduces that step, and may overwrite older steps during the
  // drawing.
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
  return {.image = {}, .why = "the analyzer overwrote the iterates while they were read; give the run more --slots"};
}

std::vector<FieldGrid> grids_in(const RingReader& reader) {
  const std::optional<KeptSlot> newest = reader.find(kNewestCommit);
  if (!newest) return {};
  const std::optional<RunDescription> run = reader.ring().run(newest->header.run_id);
  return grids_of(reader.ring().geometry().schema(), run ? text_of(run->matrix) : std::string_view());
}

std::vector<FieldGrid> grids_of(const Schema& schema, std::string_view matrix) {
  std::vector<FieldGrid> grids;
  for (const Role role : {Role::kField, Role::kState}) {
    for (std::size_t i = 0; i < schema.size(); ++i) {
      const Variable& variable = schema.variables()[i];
      if (variable.role != role) continue;
      const std::vector<std::uint64_t> plane = plane_of(variable.shape, side_of(matrix));
      if (plane.empty()) continue;
      grids.push_back({i, variable.name, variable.unit, variable.dtype, plane[0], plane[1]});
    }
  }
  return grids;
}

}  // namespace ringside
