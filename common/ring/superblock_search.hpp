// SPDX-License-Identifier: BSD-3-Clause
// Finds a ring in a file: searches the beginning of the file for superblocks of every version that this release reads,
// and checks each number in them. The search distinguishes interrupted creations from damage and from files of other
// programs.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "common/platform/error.hpp"
#include "common/ring/ring_geometry.hpp"

namespace ringside {

/// The Error with exit code 2 for a pool whose creation was interrupted. The file contains no iterates. A run with
/// --overwrite or --resume may replace the file, unless the creation is still in progress (then it is locked).
class UnfinishedPoolError : public Error {
 public:
  explicit UnfinishedPoolError(const std::string& message) : Error(ExitCode::kUsage, message) {}
};

/// The error for an empty file, which is the first state of a creation.
UnfinishedPoolError empty_pool_file(std::string_view name);

/// Whether the file begins like a libpmemobj pool, of any layout.
bool is_pmemobj_pool(std::span<const std::byte> file) noexcept;

/// Whether the file is a libpmemobj pool whose descriptor contains the name of our layout. Checks nothing else.
bool names_our_layout(std::span<const std::byte> file) noexcept;

struct FoundRing {
  RingGeometry geometry;
  bool superblock_intact[2] = {false, false};  // whether the hash of the copy matches and its formatted word is present
};

/// file: the whole pool file, from offset 0. Throws Error with one line that begins with `name`, like RingView::parse.
FoundRing find_ring_in(std::span<const std::byte> file, std::string_view name);

}  // namespace ringside
