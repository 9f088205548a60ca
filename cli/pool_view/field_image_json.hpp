// SPDX-License-Identifier: BSD-3-Clause
// Images of fields as JSON, for the page and for reports.
#pragma once

#include <span>
#include <string>

#include "cli/pool_view/field_image.hpp"
#include "common/json/json.hpp"

namespace ringside {

/// {name, unit, dtype, rows, columns, large}
Json to_json(const FieldGrid& grid);

/// The grid's keys and {iteration, commit_seq, cell}. If there is an image, also {image_rows, image_columns, min, max,
/// not_finite, cells}: `cells` has one byte per cell, row-major, in base64. Without an image: {why}.
Json to_json(const FieldGrid& grid, const DrawnField& drawn, CellShows shows);

/// RFC 4648, with padding.
std::string base64(std::span<const std::uint8_t> bytes);

}  // namespace ringside
