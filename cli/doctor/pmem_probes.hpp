// SPDX-License-Identifier: BSD-3-Clause
// Probes of persistent memory through the kernel's nd bus: regions, namespaces, DIMMs, and which of them hold a pool.
#pragma once

#include <string>

#include "analyzer/pool/pool_device.hpp"
#include "cli/doctor/finding.hpp"

namespace ringside {

/// Whether the node has persistent memory.
bool has_pmem(const std::string& root);

Finding probe_pmem(const std::string& root);

/// The point from which a store survives power loss, in the region behind the pool. Requires device.pmem.
Finding probe_persistence(const PoolDevice& device, const std::string& root);

/// Sectors that the medium lost, in all regions and in the pool's own device.
Finding probe_bad_blocks(const PoolDevice& device, const std::string& root);

/// What the DIMMs report: shutdowns that did not save everything, and failures such as a missing store of energy.
Finding probe_dimms(const std::string& root);

}  // namespace ringside
