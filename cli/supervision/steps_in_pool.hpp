// SPDX-License-Identifier: BSD-3-Clause
// The last steps of an attachment whose analyzer was killed: it has not reported them, and the pool has them.
#pragma once

#include <string>

#include "cli/supervision/program_end.hpp"

namespace ringside {

/// Replaces what was reported of the attachment's steps by what `pool` has of them, if its end was not reported.
void count_in_pool(AttachmentReport& attachment, const std::string& pool);

}  // namespace ringside
