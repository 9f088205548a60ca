// SPDX-License-Identifier: BSD-3-Clause
// Probes of huge pages: for memory, and for a pool on DAX.
#pragma once

#include <string>

#include "analyzer/pool/pool_device.hpp"
#include "cli/doctor/finding.hpp"

namespace ringside {

Finding probe_huge_pages(const std::string& root);

/// Whether DAX can map the pool in pages of 2 MiB. Requires device.mount, and device.pmem in fsdax mode.
Finding probe_dax_pages(const PoolDevice& device);

}  // namespace ringside
