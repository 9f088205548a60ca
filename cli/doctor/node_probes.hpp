// SPDX-License-Identifier: BSD-3-Clause
// Probes of what a node offers apart from its storage: one small function per question.
#pragma once

#include <string>

#include "cli/doctor/finding.hpp"
#include "common/program/topology.hpp"

namespace ringside {

Finding probe_caches(const Machine& machine);
Finding probe_instructions();
Finding probe_memory(const std::string& root);
Finding probe_limits(const std::string& root);
Finding probe_clock(const std::string& root);
Finding probe_frequency(const std::string& root);
Finding probe_kernel(const std::string& root);
Finding probe_pmdk();

}  // namespace ringside
