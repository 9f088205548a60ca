// SPDX-License-Identifier: BSD-3-Clause
// Chooses the reader of a text, by its name or its first bytes, and keeps caches beside the files.
#include "producer/matrix/matrix_source.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "common/platform/error.hpp"
#include "common/text/printable.hpp"
#include "producer/matrix/edge_columns.hpp"
#include "producer/matrix/edge_list.hpp"
#include "producer/matrix/grid.hpp"
#include "producer/matrix/matrix_cache.hpp"
#include "producer/matrix/matrix_market.hpp"
#include "producer/matrix/matrix_market_header.hpp"
#include "producer/matrix/rmat.hpp"
#include "producer/text/matrix_name.hpp"
#include "producer/text/matrix_text.hpp"
#include "producer/text/text_source.hpp"

namespace ringside {
namespace {

struct TextFormat {
  std::string_view name;                    // the format's name in messages
  std::array<std::string_view, 2> endings;  // the endings of files that must be of this format
  bool (*begins)(std::string_view text);    // true for a text that is recognised under any name
  bool has_columns;                         // takes --columns
  CsrMatrix (*read)(std::string_view text, const std::string& name, Orientation orientation, const EdgeColumns&);
  CsrMatrix (*read_share)(std::string_view text, const std::string& name, SharedBuilder::How how, const EdgeColumns&);
  PlaceInText (*find)(std::string_view text, const MatrixPlace& place, IsRefused is_refused, const EdgeColumns&);
};

// The first format that the text fits is used. A text that fits no format in this table is an edge list.
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

/// Throws Error if the content has none of the formats in the table.
const TextFormat& format_of(const MatrixText& input) {
  constexpr std::size_t kLookedAtBytes = 4096;
  const std::string_view text = input.text.text;
  for (const TextFormat& format : kTextFormats) {
    if (is_named(input.file_name, format.endings) || (format.begins != nullptr && format.begins(text))) return format;
  }
  if (is_named(input.file_name, {".graph", ".metis"})) {
    throw usage_error("{}: found the file name of a METIS graph, expected {}", input.name, names_of_formats());
  }
  if (text.substr(0, kLookedAtBytes).find('\0') != std::string_view::npos) {
    throw usage_error("{}: found a binary file, expected text ({}), or a matrix cache", input.name, names_of_formats());
  }
  return *std::rbegin(kTextFormats);
}

/// Throws Error (exit code 2) if --columns is given for an input without columns.
void refuse_columns_of(const std::string& what, const std::string& columns) {
  if (!columns.empty()) throw usage_error("--columns: found with {}, expected it with an edge list only", what);
}

/// The format, and an edge list's columns. Throws Error as format_of and parse_edge_columns do.
std::pair<const TextFormat&, EdgeColumns> format_and_columns(const MatrixText& input, const std::string& columns) {
  const TextFormat& format = format_of(input);
  if (!format.has_columns) refuse_columns_of(fmt::format("{} ({})", printable(input.name), format.name), columns);
  return {format, parse_edge_columns(columns)};
}

/// The meaning of --matrix, and its file: a text, an archive or a cache; empty for a generator.
struct Source {
  MatrixName name;
  Text file;

  bool has_cache() const { return is_cache(file.text); }
};

Source open_source(const MatrixOptions& options) {
  if (options.matrix.empty()) throw usage_error("--matrix: found nothing, expected FILE, grid:SIDE or rmat:SCALE");
  Source source{matrix_name(options.matrix), {}};
  const NamedInput& input = source.name.input;
  if (source.name.is_generated()) {
    refuse_columns_of(options.matrix, options.columns);
    return source;
  }
  source.file = map_file(input.path);
  if (!input.member.empty() && source.has_cache()) {
    throw usage_error("{}: found a matrix cache, which has no member '{}'", printable(input.path),
                      shortened(input.member));
  }
  return source;
}

/// The matrix in `source`, which the options name.
CsrMatrix read_source(const Source& source, const MatrixOptions& options, Orientation orientation) {
  if (source.name.grid_side) return make_grid(*source.name.grid_side, orientation);
  if (source.name.rmat) return make_rmat(*source.name.rmat, orientation);
  if (source.has_cache()) {
    refuse_columns_of(fmt::format("{} (a matrix cache)", printable(options.matrix)), options.columns);
    return read_matrix_cache(source.file, options.matrix, orientation);
  }
  const MatrixText input = matrix_text(source.file, source.name.input);
  const auto [format, columns] = format_and_columns(input, options.columns);
  return format.read(input.text.text, input.name, orientation, columns);
}

std::string_view last_part(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

std::string cache_path(const MatrixName& matrix, const MatrixOptions& options, Orientation orientation) {
  std::string folder;
  std::string name = options.matrix;
  if (matrix.is_generated()) {
    std::replace(name.begin(), name.end(), ':', '-');
  } else {
    const auto& [path, member] = matrix.input;
    name = last_part(path);
    folder = path.substr(0, path.size() - name.size());
    if (!member.empty()) name.append(":").append(last_part(member));
  }
  if (!options.cache_dir.empty()) folder = options.cache_dir + '/';
  return folder + name + (orientation == Orientation::kRows ? ".rows.rsm" : ".in-links.rsm");
}

/// The bytes are hashed before they are read. If they change in between, the new cache counts as stale.
CacheSource cache_source(const Source& source, const MatrixOptions& options) {
  if (source.name.is_generated()) return {.text = options.matrix};
  // Apart from the bytes themselves, the text contains everything that decides how the bytes are read.
  const auto& [path, member] = source.name.input;
  std::string text(last_part(path));
  if (!member.empty()) text += ":" + member;
  if (!options.columns.empty()) text += " --columns " + options.columns;
  if (text.size() > sizeof(CacheHeader::source)) text = to_string(hash128(text.data(), text.size()));
  const std::string_view bytes = source.file.text;
  return {.text = std::move(text), .bytes = bytes.size(), .hash = hash128_parallel(bytes.data(), bytes.size())};
}

}  // namespace

CsrMatrix load_matrix(const MatrixOptions& options, Orientation orientation) {
  const Source source = open_source(options);
  if (!options.cache || source.has_cache()) return read_source(source, options, orientation);
  const CacheSource made_from = cache_source(source, options);
  const std::string path = cache_path(source.name, options, orientation);
  if (access(path.c_str(), F_OK) == 0) {
    const Text file = map_file(path);
    if (is_fresh_cache(file.text, path, orientation, made_from)) return read_matrix_cache(file, path, orientation);
  }
  CsrMatrix matrix = read_source(source, options, orientation);
  write_matrix_cache(matrix, made_from, path);
  return matrix;
}

std::string write_cache(const MatrixOptions& options, Orientation orientation) {
  const Source source = open_source(options);
  if (source.has_cache()) throw usage_error("{}: found a matrix cache, expected a matrix to cache", options.matrix);
  const CacheSource made_from = cache_source(source, options);
  const std::string path = cache_path(source.name, options, orientation);
  if (access(path.c_str(), F_OK) == 0 && !is_cache(map_file(path).text)) {
    throw usage_error(
        "{}: found a file that has the cache's name, but is not a matrix cache; move it, or choose another --cache-dir",
        path);
  }
  write_matrix_cache(read_source(source, options, orientation), made_from, path);
  return path;
}

bool has_cache(const MatrixOptions& options) {
  return options.cache || open_source(options).has_cache();
}

CsrMatrix map_matrix(const MatrixOptions& options, Orientation orientation) {
  const Source source = open_source(options);
  if (source.has_cache()) return map_matrix_cache(source.file, options.matrix, orientation);
  const std::string path = cache_path(source.name, options, orientation);
  return map_matrix_cache(map_file(path), path, orientation);
}

MatrixText open_matrix_text(const MatrixOptions& options) {
  const Source source = open_source(options);
  MatrixText input = matrix_text(source.file, source.name.input);
  (void)format_and_columns(input, options.columns);
  return input;
}

CsrMatrix read_matrix_share(const MatrixText& input, const MatrixOptions& options, SharedBuilder::How how) {
  const auto [format, columns] = format_and_columns(input, options.columns);
  return format.read_share(input.text.text, input.name, how, columns);
}

void check_matrix_name(const std::string& matrix, const std::string& columns) {
  (void)parse_edge_columns(columns);
  const MatrixName name = matrix_name(matrix);
  if (name.is_generated()) {
    refuse_columns_of(matrix, columns);
  } else if (access(name.input.path.c_str(), F_OK) != 0 && errno == ENOENT) {
    throw usage_error("--matrix {}: cannot be opened ({}), expected a readable file, grid:SIDE or rmat:SCALE",
                      printable(matrix), errno_text(ENOENT));
  }
}

std::optional<PlaceInText> find_in_text(const MatrixOptions& options, const RefusedEntry& refused) {
  try {
    const Source source = open_source(options);
    if (source.name.is_generated() || source.has_cache()) return std::nullopt;
    const MatrixText input = matrix_text(source.file, source.name.input);
    const auto [format, columns] = format_and_columns(input, options.columns);
    PlaceInText place = format.find(input.text.text, refused.place(), refused.is_refused(), columns);
    place.name = input.name;
    return place;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace ringside
