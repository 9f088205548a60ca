// Persistent memory, as the kernel's nd bus tells of it: regions, namespaces, DIMMs, and which of them a pool lies on.
#pragma once

#include <string>

#include "analyzer/pool/pool_device.hpp"
#include "cli/doctor/finding.hpp"

namespace ringside {

/// Whether the node has any.
bool has_pmem(const std::string& root);

Finding probe_pmem(const std::string& root);

/// From where on a store survives power loss, in the region behind the pool: requires device.pmem.
Finding probe_persistence(const PoolDevice& device, const std::string& root);

/// Sectors the medium lost, of all regions and of the pool's own device.
Finding probe_bad_blocks(const PoolDevice& device, const std::string& root);

/// What the DIMMs count and complain of: shutdowns that did not save everything, a store of energy that is missing.
Finding probe_dimms(const std::string& root);

}  // namespace ringside
