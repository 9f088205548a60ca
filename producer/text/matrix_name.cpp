// SPDX-License-Identifier: BSD-3-Clause
#include "producer/text/matrix_name.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

#include "common/platform/error.hpp"
#include "common/text/decimal.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

constexpr std::string_view kGrid = "grid:";
constexpr std::string_view kRmat = "rmat:";

// The whole number that `word` consists of. word: a part of the generator's name `matrix`.
template <class Number>
Number number_of(std::string_view word, const std::string& matrix, std::string_view expected) {
  const std::optional<std::uint64_t> number = whole_number(word);
  if (!number || *number > std::numeric_limits<Number>::max()) {
    throw usage_error("--matrix {}: found '{}', expected {}", shortened(matrix), shortened(word), expected);
  }
  return static_cast<Number>(*number);
}

std::uint32_t grid_side(const std::string& matrix) {
  constexpr std::string_view kExpected = "grid:SIDE with a side from 1 to 65535";
  const auto side = number_of<std::uint32_t>(std::string_view(matrix).substr(kGrid.size()), matrix, kExpected);
  if (side < 1 || side > 65535) throw usage_error("--matrix {}: found side {}, expected {}", matrix, side, kExpected);
  return side;
}

RmatOptions rmat_options(const std::string& matrix) {
  constexpr std::string_view kExpected =
      "rmat:SCALE[:EDGEFACTOR[:SEED]] with a scale from 1 to 31, a factor from 1 to 1024, a seed up to "
      "18446744073709551615";
  const std::string_view text = matrix;
  std::vector<std::string_view> words;
  for (std::size_t begin = kRmat.size(); begin <= text.size();) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (words.size() > 3)
    throw usage_error("--matrix {}: found {} numbers, expected {}", matrix, words.size(), kExpected);
  RmatOptions options;
  options.scale = number_of<std::uint32_t>(words[0], matrix, kExpected);
  if (words.size() > 1) options.edge_factor = number_of<std::uint32_t>(words[1], matrix, kExpected);
  if (words.size() > 2) options.seed = number_of<std::uint64_t>(words[2], matrix, kExpected);
  if (options.scale < 1 || options.scale > 31) {
    throw usage_error("rmat:{}: found scale {}, expected a scale from 1 to 31", options.scale, options.scale);
  }
  if (options.edge_factor < 1 || options.edge_factor > 1024) {
    throw usage_error("rmat:{}:{}: found edge factor {}, expected an edge factor from 1 to 1024", options.scale,
                      options.edge_factor, options.edge_factor);
  }
  return options;
}

}  // namespace

NamedInput named_input(const std::string& name) {
  struct stat found {};
  if (stat(name.c_str(), &found) == 0) return {name, {}};
  for (std::size_t colon = name.rfind(':'); colon != std::string::npos && colon > 0;
       colon = name.rfind(':', colon - 1)) {
    const std::string path = name.substr(0, colon);
    if (colon + 1 < name.size() && stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode)) {
      return {path, name.substr(colon + 1)};
    }
  }
  return {name, {}};
}

MatrixName matrix_name(const std::string& matrix) {
  if (matrix.starts_with(kGrid)) return {.grid_side = grid_side(matrix)};
  if (matrix.starts_with(kRmat)) return {.rmat = rmat_options(matrix)};
  return {.input = named_input(matrix)};
}

}  // namespace ringside
