// SPDX-License-Identifier: BSD-3-Clause
// The files behind the peers' arrays. They are kept and reused, so that their blocks are allocated before the
// measurement: a new file's first write-back would include the file system's allocation.
#pragma once

#include <string>

#include "common/platform/unique_fd.hpp"

namespace ringside::bench {

/// DIR/far.NUMBER with at least `bytes` bytes of zeros, none of them in the page cache, opened to read and write with
/// `flags` besides (O_DIRECT). Throws Error (exit code 3).
UniqueFd far_file(const std::string& folder, int number, std::size_t bytes, int flags);

}  // namespace ringside::bench
