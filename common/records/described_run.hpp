// SPDX-License-Identifier: BSD-3-Clause
// What a run says once of its variables and results, as messages, and back. RunStarted and RunDescribed both say it.
#pragma once

#include <string>

#include "common/records/record_layout.hpp"
#include "proto/ringside.pb.h"

namespace ringside {

/// Sets `schema`, `results` and `payload_bytes`.
void describe(wire::RunStarted& message, const RecordLayout& layout);
/// run_id: 16 bytes.
wire::RunDescribed describe_run(const std::string& run_id, const RecordLayout& layout);

/// Null if the message says nothing of results (it is older than results by name), or nothing that can be.
SharedLayout layout_of(const wire::RunStarted& message);
SharedLayout layout_of(const wire::RunDescribed& message);

}  // namespace ringside
