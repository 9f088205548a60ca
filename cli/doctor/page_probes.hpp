// Huge pages: of memory, and of a pool that is mapped directly.
#pragma once

#include <string>

#include "analyzer/pool/pool_device.hpp"
#include "cli/doctor/finding.hpp"

namespace ringside {

Finding probe_huge_pages(const std::string& root);

/// Whether DAX can map the pool 2 MiB at a time: requires device.pmem, in fsdax mode.
Finding probe_dax_pages(const PoolDevice& device);

}  // namespace ringside
