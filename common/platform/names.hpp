// SPDX-License-Identifier: BSD-3-Clause
// The names of this machine and of users, for messages and for other nodes.
#pragma once

#include <sys/types.h>

#include <string>

namespace ringside {

/// The name of this machine. Throws Error (exit code 3).
std::string host_name();

/// `text` with each %h replaced by the machine's name. Throws Error (exit code 3).
std::string with_host(const std::string& text);

/// "user ringside", or "user 998" if the system has no name for the number.
std::string user_name(uid_t uid);

}  // namespace ringside
