// SPDX-License-Identifier: BSD-3-Clause
// Probes of the owners of a pool and its folder, of the process that uses the pool now, and of what the services need.
#pragma once

#include <string>

#include "cli/doctor/finding.hpp"

namespace ringside {

/// Whether the effective user can keep a pool at `place`, and no other user can read or replace it.
Finding probe_ownership(const std::string& place);

/// Whether a process has the pool at `place` open as its owner.
Finding probe_pool_owner(const std::string& place, const std::string& root);

/// The system user of the services, and the owner and mode of their state folder.
Finding probe_service(const std::string& root);

}  // namespace ringside
