// SPDX-License-Identifier: BSD-3-Clause
// The hardware behind the persistence interface: persistent memory through libpmem, or a page cache and fdatasync.
#pragma once

#include <cstddef>
#include <memory>

#include "analyzer/ring/persistence.hpp"
#include "common/files/watched_mapping.hpp"
#include "common/platform/unique_fd.hpp"
#include "common/ring/storage.hpp"

namespace ringside {

/// file: the pool file, opened for writing; `sync` syncs it. base: the address at which the file is mapped. watched:
/// the watch of this mapping, which stores failed syncs.
std::unique_ptr<Persistence> make_pool_persistence(Storage storage, UniqueFd file, const std::byte* base,
                                                   std::shared_ptr<WatchedMapping> watched);

}  // namespace ringside
