// Whose a pool and its folder are, who uses the pool now, and whether the services have what they need.
#pragma once

#include <string>

#include "cli/doctor/finding.hpp"

namespace ringside {

/// Whether the effective user can keep a pool at `place`, and nobody else can read or replace it.
Finding probe_ownership(const std::string& place);

/// Whether a process has the pool at `place` open as its owner.
Finding probe_pool_owner(const std::string& place, const std::string& root);

/// The system user of the services and the folder of their state.
Finding probe_service(const std::string& root);

}  // namespace ringside
