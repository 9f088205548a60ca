// SPDX-License-Identifier: BSD-3-Clause
// The specimens: pools and journals that real runs made, and the right values of their iterates and records.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/kernels/hash.hpp"
#include "common/ring/ring_geometry.hpp"

namespace ringside::testing {

using Bytes = std::vector<std::byte>;

/// The bytes of a pool and of its journal.
struct Files {
  Bytes pool;
  std::array<Bytes, 2> journal;  // empty: the file does not exist
};

struct Specimen {
  std::string name;
  std::vector<std::string> problem;  // as options of `run`
  std::uint64_t iterations = 0;      // of the run
  std::uint64_t slots = 0;
  Files files;
  Files earlier;  // the same pool before its run was resumed; empty: never resumed
  RingGeometry geometry{RingShape::x_only(1)};
  std::vector<std::uint64_t> kept;          // iterations
  std::vector<Id128> truth;                 // hash of x_k at index k, for a few more k than `iterations`
  std::map<std::string, std::string> told;  // step records as `tail --json` prints them, by number
};

/// Further iterations that a resumed run may add.
inline constexpr std::uint64_t kMoreIterations = 4;

Bytes read_bytes(const std::string& path);
/// Writes the bytes to a file, with holes in place of zeros.
void write_bytes(const std::string& path, const Bytes& bytes);
Files read_files(const std::string& pool);
/// Writes these files to `pool` and its journal, and removes files that `files` does not have.
void write_files(const std::string& pool, const Files& files);

/// Makes all specimens with the programs in `programs`, in `folder`. Some have wrapped their ring or rotated their
/// journal, some have no journal, one was resumed; two differ only in their problem.
std::vector<Specimen> make_specimens(const std::string& folder, const std::string& programs);

}  // namespace ringside::testing
