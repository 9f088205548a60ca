// Logging (spdlog): one key=value line on a state change, to standard error. The per-step path counts, it never logs.
#pragma once

#include <string>

namespace ringside {

/// Sets up the process's logger. `program` begins each line; `level` is trace, debug, info, warning, error or off
/// (others: Error, exit code 2).
void start_log(const std::string& program, const std::string& level);

}  // namespace ringside
