// SPDX-License-Identifier: BSD-3-Clause
// From the argument of --matrix to the arrays of a matrix. matrix_source.cpp calls each stage with the previous stage's
// result; stages do not call back:
//
//   named_input, map_file   the file and the member that is named in it, as bytes (producer/text)
//   read_matrix_cache       a cache: its arrays are mapped; this is the last stage (matrix_cache)
//   input_text              the text in the file: unpacked, and taken out of its archive (producer/text)
//   format_of               which reader the text needs: by its name, else by its first bytes
//   read_...                the entries, read twice for a builder (matrix_market, edge_list)
//   CsrBuilder::finish      the arrays: sorted, merged and hashed (csr_builder)
//
// A generated matrix (grid, rmat) has the last stage only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "producer/matrix/csr_matrix.hpp"
#include "producer/matrix/refused_entry.hpp"
#include "producer/matrix/rmat.hpp"
#include "producer/matrix/shared_builder.hpp"
#include "producer/text/input_text.hpp"

namespace ringside {

struct MatrixOptions {
  std::string matrix = {};     // FILE, grid:SIDE, rmat:SCALE[:EDGEFACTOR[:SEED]] (docs/use/run.md)
  bool cache = false;          // map a cache of it if there is a fresh one, else write one
  std::string cache_dir = {};  // where; empty: beside the file, or the current folder for a generated matrix
  std::string columns = {};    // of an edge list (producer/matrix/edge_columns.hpp); empty: not given
};

/// The matrix, in the solver's orientation. Uses all OpenMP threads. Throws `Error` with one line and the exit code: 2
/// for input, 3 for missing resources, 5 for a damaged cache.
CsrMatrix load_matrix(const MatrixOptions& options, Orientation orientation);

/// A generated matrix, and its parameters.
struct Generated {
  std::optional<std::uint32_t> grid_side;
  RmatOptions rmat;  // if there is no side
};

/// Empty for a file. Throws Error (exit code 2) for a malformed generator name.
std::optional<Generated> generator_of(const std::string& matrix);

/// Whether the matrix is a cache, or will be read from one: load_matrix has then checked it, or written it.
bool has_cache(const MatrixOptions& options);

/// Maps that cache (map_matrix_cache), after another process of this machine called load_matrix with these options.
CsrMatrix map_matrix(const MatrixOptions& options, Orientation orientation);

/// The unpacked text of a matrix file that is no cache, in a known format. Throws Error as load_matrix.
InputText open_matrix_text(const MatrixOptions& options);

/// This process's part of it, if each of several reads a share of the text. If it throws Error (exit code 2), all
/// processes do.
CsrMatrix read_matrix_share(InputText& input, const MatrixOptions& options, SharedBuilder::How how);

/// The size of a matrix that is known from its name alone.
struct AnnouncedSize {
  std::uint64_t rows = 0;
  std::uint64_t nonzeros = 0;
  bool exact = false;  // rmat:SCALE announces its edges before duplicates collapse
};

/// Of grid:SIDE and rmat:SCALE; empty for a file. Throws as check_matrix_name.
std::optional<AnnouncedSize> announced_size(const std::string& matrix);

/// Throws Error (exit code 2) for a malformed generator name, for malformed columns or those of a generated matrix,
/// and for a file that does not exist. Opens nothing: a pipe can be read only once.
void check_matrix_name(const std::string& matrix, const std::string& columns = {});

/// The place of an entry that a solver refused, in the text that `options` name; reads the text again. Empty for a
/// generated matrix, for a cache, and if the file can no longer be read.
std::optional<PlaceInText> find_in_text(const MatrixOptions& options, const RefusedEntry& refused);

/// Reads the matrix and writes its cache, even if one is fresh; returns the cache's path.
std::string write_cache(const MatrixOptions& options, Orientation orientation);

}  // namespace ringside
