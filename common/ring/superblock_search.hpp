// SPDX-License-Identifier: BSD-3-Clause
// Finds a ring in a file: searches the front of the file for superblocks and checks each number in them, of every
// version that is read. What an interrupted creation leaves is told apart from damage and from files of other programs.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/platform/error.hpp"
#include "common/ring/ring_geometry.hpp"

namespace ringside {

/// Exit code 2: the creation of this pool was interrupted. The file holds no iterates. A run that may overwrite may
/// replace it, unless its creation is still under way (then it is locked).
class UnfinishedPoolError : public Error {
 public:
  explicit UnfinishedPoolError(const std::string& message) : Error(ExitCode::kUsage, message) {}
};

/// The error for a file of no bytes, which is the first moment of a creation.
UnfinishedPoolError empty_pool_file(std::string_view name);

/// True for a file that begins like a libpmemobj pool, of any layout.
bool is_pmemobj_pool(std::span<const std::byte> file) noexcept;

/// True for one whose descriptor names our layout, whatever the rest of it holds.
bool names_our_layout(std::span<const std::byte> file) noexcept;

struct FoundRing {
  RingGeometry geometry;
  bool superblock_intact[2] = {false, false};  // its hash holds, and its formatted word is there
};

/// file: the whole pool file, from offset 0. Throws Error in one line that begins with `name`, as RingView::parse.
FoundRing find_ring_in(std::span<const std::byte> file, std::string_view name);

}  // namespace ringside
