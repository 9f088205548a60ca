// SPDX-License-Identifier: BSD-3-Clause
// `ringside-memory probe`: measures the caches before the memory, and prints a table or JSON.
#pragma once

#include <string>

#include "memory/probe/probes.hpp"

namespace ringside {

int probe_command(int argc, const char* const* argv);

/// For people: one line per question.
std::string probe_table(const probe::ProbeReport& report);

/// For programs: {"version", "memory_ns", "levels", "remark", "answers": [{question, level, answer, value, confidence,
/// evidence}]}.
std::string probe_json(const probe::ProbeReport& report);

}  // namespace ringside
