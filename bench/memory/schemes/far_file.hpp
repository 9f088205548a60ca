// SPDX-License-Identifier: BSD-3-Clause
// The files for the arrays of the peer schemes. The files are reused, so that their blocks are allocated and written
// before the measurement: the first write-back of a new file would include the file system's allocation.
#pragma once

#include <string>

#include "common/platform/unique_fd.hpp"

namespace ringside::bench {

/// Opens DIR/far.NUMBER for reading and writing, with additional `flags` (O_DIRECT). The file has at least `bytes`
/// bytes of zeros, none of them in the page cache. Throws Error (exit code 3).
UniqueFd far_file(const std::string& folder, int number, std::size_t bytes, int flags);

}  // namespace ringside::bench
