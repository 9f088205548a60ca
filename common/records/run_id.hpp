// SPDX-License-Identifier: BSD-3-Clause
// Which run a record belongs to.
#pragma once

#include <string>

#include "proto/ringside.pb.h"

namespace ringside {

/// The id of the run that a record belongs to, 16 bytes; empty if it belongs to none.
const std::string& run_id_of(const wire::Record& record);

}  // namespace ringside
