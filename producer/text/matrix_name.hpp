// SPDX-License-Identifier: BSD-3-Clause
// The meaning of the argument of --matrix: a file, a member of an archive, or a generator with its parameters. Nothing
// is opened here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ringside {

/// A random graph (producer/matrix/rmat.hpp).
struct RmatOptions {
  std::uint32_t scale = 10;        // 2^scale rows; 1 to 31
  std::uint32_t edge_factor = 16;  // edges per row before duplicates collapse; 1 to 1024
  std::uint64_t seed = 1;
};

/// A file, or a member of an archive.
struct NamedInput {
  std::string path = {};
  std::string member = {};  // the member's path in the archive, or the last part of that path; empty: no member
};

/// "ARCHIVE:MEMBER" if no file has the whole name, but the part before a colon is the name of a file (if this is so for
/// several colons, the last one counts). In all other cases, the name of a file.
NamedInput named_input(const std::string& name);

struct MatrixName {
  std::optional<std::uint32_t> grid_side = {};  // grid:SIDE, from 1 to 65535 (producer/matrix/grid.hpp)
  std::optional<RmatOptions> rmat = {};         // rmat:SCALE[:EDGEFACTOR[:SEED]]
  NamedInput input = {};                        // all other names

  bool is_generated() const { return grid_side || rmat; }
};

/// Throws Error (exit code 2) for a malformed generator name. A file need not exist.
MatrixName matrix_name(const std::string& matrix);

}  // namespace ringside
