// SPDX-License-Identifier: BSD-3-Clause
// Users by name, for messages.
#pragma once

#include <sys/types.h>

#include <string>

namespace ringside {

/// "user ringside", or "user 998" where the system does not know the name.
std::string user_name(uid_t uid);

}  // namespace ringside
