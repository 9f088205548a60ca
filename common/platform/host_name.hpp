// SPDX-License-Identifier: BSD-3-Clause
// The name of this machine, as its node is known to others.
#pragma once

#include <string>

namespace ringside {

/// Throws Error (exit code 3).
std::string host_name();

/// `text` with each %h replaced by that name. Throws Error (exit code 3).
std::string with_host(const std::string& text);

}  // namespace ringside
