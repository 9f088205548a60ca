// SPDX-License-Identifier: BSD-3-Clause
// Probes of the cores and of their distance to the memory that holds a pool.
#pragma once

#include "analyzer/pool/pool_device.hpp"
#include "cli/doctor/finding.hpp"
#include "common/program/topology.hpp"

namespace ringside {

Finding probe_cores(const Machine& machine);

/// Whether the cores that a run would give its analyzer are on the NUMA node of the pool's device. A store into
/// another node's persistent memory takes several times as long.
Finding probe_numa(const Machine& machine, const PoolDevice& device, const std::string& root);

}  // namespace ringside
