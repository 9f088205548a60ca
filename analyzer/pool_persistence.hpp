// The hardware behind the persistence interface: persistent memory through libpmem, or a page cache and fdatasync.
#pragma once

#include <cstddef>
#include <memory>

#include "analyzer/persistence.hpp"
#include "analyzer/storage.hpp"
#include "common/unique_fd.hpp"
#include "common/watched_mapping.hpp"

namespace ringside {

/// file: the pool file, opened for writing; `sync` syncs it. base: where its first byte is mapped. watched: that
/// mapping; failed syncs are noted there.
std::unique_ptr<Persistence> make_pool_persistence(Storage storage, UniqueFd file, const std::byte* base,
                                                   std::shared_ptr<WatchedMapping> watched);

}  // namespace ringside
