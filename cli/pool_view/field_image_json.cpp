// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pool_view/field_image_json.hpp"

#include <cmath>

namespace ringside {
namespace {

Json finite_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

}  // namespace

Json to_json(const FieldGrid& grid) {
  return {{"name", grid.name}, {"unit", grid.unit},       {"dtype", std::string(to_string(grid.dtype))},
          {"rows", grid.rows}, {"columns", grid.columns}, {"large", grid.is_large()}};
}

Json to_json(const FieldGrid& grid, const DrawnField& drawn, CellShows shows) {
  Json object = to_json(grid);
  if (!drawn.image) {
    object["why"] = drawn.why;
    return object;
  }
  const FieldImage& image = *drawn.image;
  object.update(Json{{"iteration", drawn.iteration},
                     {"commit_seq", drawn.commit_seq},
                     {"cell", std::string(to_string(shows))},
                     {"image_rows", image.rows},
                     {"image_columns", image.columns},
                     {"min", finite_or_null(image.min)},
                     {"max", finite_or_null(image.max)},
                     {"not_finite", image.not_finite},
                     {"cells", base64(image.cells)}});
  return object;
}

std::string base64(std::span<const std::uint8_t> bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t there = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < there ? bytes[i + k] : 0u);
    for (std::size_t digit = 0; digit < 4; ++digit) {
      text += digit <= there ? kDigits[bits >> (18 - 6 * digit) & 63] : '=';
    }
  }
  return text;
}

}  // namespace ringside
