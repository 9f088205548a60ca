// SPDX-License-Identifier: BSD-3-Clause
// Distinguishes the kinds of input, by their first bytes if these are distinctive, and keeps caches beside them.
#include "producer/matrix/matrix_source.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "common/platform/error.hpp"
#include "common/text/decimal.hpp"
#include "common/text/printable.hpp"
#include "producer/matrix/edge_columns.hpp"
#include "producer/matrix/edge_list.hpp"
#include "producer/matrix/grid.hpp"
#include "producer/matrix/matrix_cache.hpp"
#include "producer/matrix/matrix_market.hpp"
#include "producer/matrix/rmat.hpp"
#include "producer/text/input_text.hpp"
#include "producer/text/text_source.hpp"

namespace ringside {
namespace {

constexpr std::string_view kGrid = "grid:";
constexpr std::string_view kRmat = "rmat:";

bool is_generated(std::string_view matrix) {
  return matrix.starts_with(kGrid) || matrix.starts_with(kRmat);
}

// The whole number that is all of `word`, a part of the generator's name `matrix`.
template <class Number>
Number number_of(std::string_view word, const std::string& matrix, std::string_view expected) {
  const std::optional<std::uint64_t> number = whole_number(word);
  if (!number || *number > std::numeric_limits<Number>::max()) {
    throw usage_error("--matrix {}: found '{}', expected {}", shortened(matrix), shortened(word), expected);
  }
  return static_cast<Number>(*number);
}

Generated generated(const std::string& matrix) {
  const std::string_view text = matrix;
  if (text.starts_with(kGrid)) {
    constexpr std::string_view kExpected = "grid:SIDE with a side from 1 to 65535";
    const auto side = number_of<std::uint32_t>(text.substr(kGrid.size()), matrix, kExpected);
    if (side < 1 || side > 65535) throw usage_error("--matrix {}: found side {}, expected {}", matrix, side, kExpected);
    return {side, {}};
  }
  constexpr std::string_view kExpected =
      "rmat:SCALE[:EDGEFACTOR[:SEED]] with a scale from 1 to 31, a factor from 1 to 1024, a seed up to "
      "18446744073709551615";
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
  check_rmat(options);
  return {std::nullopt, options};
}

CsrMatrix generate(const std::string& matrix, Orientation orientation) {
  const Generated options = generated(matrix);
  return options.grid_side ? make_grid(*options.grid_side, orientation) : make_rmat(options.rmat, orientation);
}

struct TextFormat {
  std::string_view name;                    // in messages
  std::array<std::string_view, 2> endings;  // of files that must be of this format
  bool (*begins)(std::string_view text);    // true for a text that is recognised under any name
  bool has_columns;                         // takes --columns
  CsrMatrix (*read)(std::string_view text, const std::string& name, Orientation orientation, const EdgeColumns&);
  CsrMatrix (*read_share)(std::string_view text, const std::string& name, SharedBuilder::How how, const EdgeColumns&);
  PlaceInText (*find)(std::string_view text, const MatrixPlace& place, IsRefused is_refused, const EdgeColumns&);
};

// The first that fits is taken. A text that fits none is an edge list.
constexpr TextFormat kTextFormats[] = {
    {"MatrixMarket",
     {".mtx", ".mm"},
     has_matrix_market_banner,
     false,
     [](std::string_view text, const std::string& name, Orientation orientation, const EdgeColumns&) {
       return read_matrix_market(text, name, orientation);
     },
     [](std::string_view text, const std::string& name, SharedBuilder::How how, const EdgeColumns&) {
       return read_matrix_market_share(text, name, how);
     },
     [](std::string_view text, const MatrixPlace& place, IsRefused is_refused, const EdgeColumns&) {
       return find_in_matrix_market(text, place, is_refused);
     }},
    {"an edge list", {}, nullptr, true, read_edge_list, read_edge_list_share, find_in_edge_list},
};

std::string names_of_formats() {
  std::string names;
  for (const TextFormat& format : kTextFormats) names += (names.empty() ? "" : " or ") + std::string(format.name);
  return names;
}

bool is_named(std::string_view file_name, const std::array<std::string_view, 2>& endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](std::string_view ending) { return !ending.empty() && file_name.ends_with(ending); });
}

/// Removes a byte-order mark. Throws Error for content of no format in the table.
const TextFormat& format_of(InputText& input) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  constexpr std::size_t kLookedAtBytes = 4096;
  std::string_view& text = input.text.text;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  for (const TextFormat& format : kTextFormats) {
    if (is_named(input.file_name, format.endings) || (format.begins != nullptr && format.begins(text))) return format;
  }
  if (is_named(input.file_name, {".graph", ".metis"})) {
    throw usage_error("{}: found a METIS graph by its name, expected {}", input.name, names_of_formats());
  }
  if (text.substr(0, kLookedAtBytes).find('\0') != std::string_view::npos) {
    throw usage_error("{}: found a binary file, expected text ({}), or a matrix cache", input.name, names_of_formats());
  }
  return *std::rbegin(kTextFormats);
}

/// Throws Error (exit code 2) if --columns is given for an input without columns.
void refuse_columns_of(const std::string& what, const std::string& columns) {
  if (!columns.empty()) throw usage_error("--columns: found it with {}, expected an edge list", what);
}

/// The format, and an edge list's columns. Throws Error as format_of and parse_edge_columns do.
std::pair<const TextFormat&, EdgeColumns> format_and_columns(InputText& input, const std::string& columns) {
  const TextFormat& format = format_of(input);
  if (!format.has_columns) refuse_columns_of(fmt::format("{} ({})", printable(input.name), format.name), columns);
  return {format, parse_edge_columns(columns)};
}

/// The file of --matrix, and the member named in it; a matrix cache has no members.
struct Source {
  NamedInput named;
  Text file;
};
Source map_source(const std::string& matrix) {
  Source source{named_input(matrix), {}};
  source.file = map_file(source.named.path);
  if (!source.named.member.empty() && is_cache(source.file.text)) {
    throw usage_error("{}: found a matrix cache, which has no member '{}'", printable(source.named.path),
                      shortened(source.named.member));
  }
  return source;
}

/// The source that the options name; empty for a generator.
Source open_source(const MatrixOptions& options) {
  if (options.matrix.empty()) throw usage_error("--matrix: found nothing, expected FILE, grid:SIDE or rmat:SCALE");
  if (!is_generated(options.matrix)) return map_source(options.matrix);
  refuse_columns_of(printable(options.matrix), options.columns);
  return {};
}

/// The matrix in `source`, which the options name.
CsrMatrix read_source(const Source& source, const MatrixOptions& options, Orientation orientation) {
  if (is_generated(options.matrix)) return generate(options.matrix, orientation);
  if (is_cache(source.file.text)) {
    refuse_columns_of(fmt::format("{} (a matrix cache)", printable(options.matrix)), options.columns);
    return read_matrix_cache(source.file, options.matrix, orientation);
  }
  InputText input = input_text(source.file, source.named);
  const auto [format, columns] = format_and_columns(input, options.columns);
  return format.read(input.text.text, input.name, orientation, columns);
}

std::string_view last_part(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

std::string cache_path(const MatrixOptions& options, Orientation orientation) {
  std::string folder;
  std::string name = options.matrix;
  if (is_generated(options.matrix)) {
    std::replace(name.begin(), name.end(), ':', '-');
  } else {
    const NamedInput named = named_input(options.matrix);
    name = last_part(named.path);
    folder = named.path.substr(0, named.path.size() - name.size());
    if (!named.member.empty()) name.append(":").append(last_part(named.member));
  }
  if (!options.cache_dir.empty()) folder = options.cache_dir + '/';
  return folder + name + (orientation == Orientation::kRows ? ".rows.rsm" : ".in-links.rsm");
}

/// The bytes are hashed before they are read: if they change meanwhile, the cache is already stale.
CacheSource cache_source(const Source& source, const MatrixOptions& options) {
  if (is_generated(options.matrix)) return {.text = options.matrix};
  // Everything except the bytes that decides how they are read.
  std::string text(last_part(source.named.path));
  if (!source.named.member.empty()) text += ":" + source.named.member;
  if (!options.columns.empty()) text += " --columns " + options.columns;
  if (text.size() > sizeof(CacheHeader::source)) text = to_string(hash128(text.data(), text.size()));
  const std::string_view bytes = source.file.text;
  return {.text = std::move(text), .bytes = bytes.size(), .hash = hash128_parallel(bytes.data(), bytes.size())};
}

bool is_cache_file(const std::string& matrix) {
  return !is_generated(matrix) && is_cache(map_source(matrix).file.text);
}

}  // namespace

std::optional<Generated> generator_of(const std::string& matrix) {
  return is_generated(matrix) ? std::optional(generated(matrix)) : std::nullopt;
}

bool has_cache(const MatrixOptions& options) {
  return options.cache || is_cache_file(options.matrix);
}

CsrMatrix map_matrix(const MatrixOptions& options, Orientation orientation) {
  const std::string path = is_cache_file(options.matrix) ? options.matrix : cache_path(options, orientation);
  return map_matrix_cache(map_file(path), path, orientation);
}

InputText open_matrix_text(const MatrixOptions& options) {
  const Source source = map_source(options.matrix);
  InputText input = input_text(source.file, source.named);
  (void)format_and_columns(input, options.columns);
  return input;
}

CsrMatrix read_matrix_share(InputText& input, const MatrixOptions& options, SharedBuilder::How how) {
  const auto [format, columns] = format_and_columns(input, options.columns);
  return format.read_share(input.text.text, input.name, how, columns);
}

std::optional<AnnouncedSize> announced_size(const std::string& matrix) {
  if (!is_generated(matrix)) return std::nullopt;
  const Generated made = generated(matrix);
  if (made.grid_side) {
    const std::uint64_t side = *made.grid_side;
    return AnnouncedSize{side * side, grid_links_above(*made.grid_side, *made.grid_side), true};
  }
  const std::uint64_t rows = std::uint64_t{1} << made.rmat.scale;
  return AnnouncedSize{rows, rows * made.rmat.edge_factor, false};
}

void check_matrix_name(const std::string& matrix, const std::string& columns) {
  (void)parse_edge_columns(columns);
  if (is_generated(matrix)) {
    generated(matrix);
    refuse_columns_of(matrix, columns);
  } else if (access(named_input(matrix).path.c_str(), F_OK) != 0 && errno == ENOENT) {
    throw usage_error("--matrix {}: cannot be opened ({}), expected a readable file, grid:SIDE or rmat:SCALE",
                      printable(matrix), errno_text(ENOENT));
  }
}

CsrMatrix load_matrix(const MatrixOptions& options, Orientation orientation) {
  const Source source = open_source(options);
  if (!options.cache || is_cache(source.file.text)) return read_source(source, options, orientation);
  const CacheSource made_from = cache_source(source, options);
  const std::string path = cache_path(options, orientation);
  if (access(path.c_str(), F_OK) == 0) {
    const Text file = map_file(path);
    if (is_fresh_cache(file.text, path, orientation, made_from)) return read_matrix_cache(file, path, orientation);
  }
  CsrMatrix matrix = read_source(source, options, orientation);
  write_matrix_cache(matrix, made_from, path);
  return matrix;
}

std::optional<PlaceInText> find_in_text(const MatrixOptions& options, const RefusedEntry& refused) {
  if (is_generated(options.matrix)) return std::nullopt;
  try {
    const Source source = map_source(options.matrix);
    if (is_cache(source.file.text)) return std::nullopt;
    InputText input = input_text(source.file, source.named);
    const auto [format, columns] = format_and_columns(input, options.columns);
    PlaceInText place = format.find(input.text.text, refused.place(), refused.is_refused(), columns);
    place.name = input.name;
    return place;
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string write_cache(const MatrixOptions& options, Orientation orientation) {
  const Source source = open_source(options);
  if (is_cache(source.file.text))
    throw usage_error("{}: found a matrix cache, expected a matrix to cache", options.matrix);
  const CacheSource made_from = cache_source(source, options);
  const std::string path = cache_path(options, orientation);
  if (access(path.c_str(), F_OK) == 0 && !is_cache(map_file(path).text)) {
    throw usage_error("{}: found a file that is no matrix cache under the cache's name; move it, or choose --cache-dir",
                      path);
  }
  write_matrix_cache(read_source(source, options, orientation), made_from, path);
  return path;
}

}  // namespace ringside
