// SPDX-License-Identifier: BSD-3-Clause
// Finds a ring in a file: searches the beginning of the file for superblocks, of every version that this release reads,
// and checks each number in them. Distinguishes interrupted creations from damage and from files of other programs.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/platform/error.hpp"
#include "common/ring/ring_geometry.hpp"

namespace ringside {

/// Exit code 2: the creation of this pool was interrupted. The file holds no iterates. A run with --overwrite or
/// --resume may replace it, unless the creation is still in progress (then the file is locked).
class UnfinishedPoolError : public Error {
 public:
  explicit UnfinishedPoolError(const std::string& message) : Error(ExitCode::kUsage, message) {}
};

/// The error for an empty file, the first state of a creation.
UnfinishedPoolError empty_pool_file(std::string_view name);

/// True for a file that begins like a libpmemobj pool of any layout.
bool is_pmemobj_pool(std::span<const std::byte> file) noexcept;

/// True for a libpmemobj pool whose descriptor names our layout. Checks no more.
bool names_our_layout(std::span<const std::byte> file) noexcept;

struct FoundRing {
  RingGeometry geometry;
  bool superblock_intact[2] = {false, false};  // the copy's hash holds, and its formatted word is present
};

/// file: the whole pool file, from offset 0. Throws Error in one line that begins with `name`, as RingView::parse.
FoundRing find_ring_in(std::span<const std::byte> file, std::string_view name);

}  // namespace ringside
