// SPDX-License-Identifier: BSD-3-Clause
// Makes the arrays of a matrix from the options. load_matrix calls each stage once, with the previous stage's result;
// no stage calls an earlier one:
//
//   matrix_name         the argument of --matrix: a generator, a file, or a member of an archive (producer/text)
//   map_file            the file's bytes (producer/text)
//   read_matrix_cache   a cache: its arrays are mapped; this is the last stage (matrix_cache)
//   matrix_text         the text in the file: unpacked, and taken out of its archive (producer/text)
//   format_of           which reader the text needs: by its name, else by its first bytes
//   read_..., make_...  the entries, read or made twice for a builder (matrix_market, edge_list, rmat)
//   CsrBuilder::finish  the arrays: sorted, merged and hashed (csr_builder)
//
// For a generator, the stage read_... or make_... directly follows matrix_name; a grid writes its arrays without a
// builder.
#pragma once

#include <optional>
#include <string>

#include "producer/matrix/csr_matrix.hpp"
#include "producer/matrix/refused_entry.hpp"
#include "producer/matrix/shared_builder.hpp"
#include "producer/text/matrix_name.hpp"
#include "producer/text/matrix_text.hpp"

namespace ringside {

struct MatrixOptions {
  std::string matrix = {};     // FILE, grid:SIDE, rmat:SCALE[:EDGEFACTOR[:SEED]] (docs/use/run.md)
  bool cache = false;          // map a fresh cache of the matrix, or write one
  std::string cache_dir = {};  // the cache's folder; empty: beside the file, or the current folder for a generated
                               // matrix
  std::string columns = {};    // the columns of an edge list (producer/matrix/edge_columns.hpp); empty: not given
};

/// The matrix, in the solver's orientation. Uses all OpenMP threads. Throws `Error` with one line and the exit code: 2
/// for input, 3 for missing resources, 5 for a damaged cache.
CsrMatrix load_matrix(const MatrixOptions& options, Orientation orientation);

/// Reads the matrix and writes its cache, even if a cache is fresh; returns the cache's path.
std::string write_cache(const MatrixOptions& options, Orientation orientation);

/// Whether the matrix is a cache, or will be read from a cache that load_matrix has checked or written before.
bool has_cache(const MatrixOptions& options);

/// Maps the matrix's cache (map_matrix_cache). Call it after another process of this machine has called load_matrix
/// with these options.
CsrMatrix map_matrix(const MatrixOptions& options, Orientation orientation);

/// The unpacked text of a matrix file, which must have a known format and be no cache. Throws Error as load_matrix
/// does.
MatrixText open_matrix_text(const MatrixOptions& options);

/// This process's part of the matrix, if each of several processes reads a share of the text. If one process throws
/// Error (exit code 2), all processes throw it.
CsrMatrix read_matrix_share(const MatrixText& input, const MatrixOptions& options, SharedBuilder::How how);

/// Throws Error (exit code 2) for a malformed generator name, for malformed columns, for columns of a generated matrix,
/// and for a file that does not exist. Opens no file, because a pipe can be read only once.
void check_matrix_name(const std::string& matrix, const std::string& columns = {});

/// The place of an entry that a solver refused, in the text that `options` name; reads the text again. Empty for a
/// generated matrix, for a cache, and if the file can no longer be read.
std::optional<PlaceInText> find_in_text(const MatrixOptions& options, const RefusedEntry& refused);

}  // namespace ringside
