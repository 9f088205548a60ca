// SPDX-License-Identifier: BSD-3-Clause
// How `ringside run -- PROGRAM` tells a program where its analyzer is and how to publish: in environment variables
// (docs/library.md). The names and the words are here only, for the side that sets them and the side that reads them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/handoff/handoff_options.hpp"

namespace ringside {

inline constexpr const char* kSocketVariable = "RINGSIDE_SOCKET";
inline constexpr const char* kCoresVariable = "RINGSIDE_CORES";
/// The path of the analyzer's pool, for what a program reads of it before it attaches.
inline constexpr const char* kPoolVariable = "RINGSIDE_POOL";
/// The rings of an earlier job, from which ranks continue: a folder, or a ranks file.
inline constexpr const char* kResumeFromVariable = "RINGSIDE_RESUME_FROM";
/// Where the analyzer of the service listens.
inline constexpr const char* kServiceSocket = "/run/ringside/analyzer.socket";

/// What a program decides itself.
struct HandoffChoices {
  std::optional<std::string> socket = {};
  std::optional<PoolUse> pool_use = {};
  std::optional<std::uint32_t> buffers = {};
  std::optional<double> peer_timeout_s = {};
  std::optional<OnAnalyzerLoss> on_analyzer_loss = {};
  std::optional<CoordinationKind> coordination = {};
};

/// These choices, and for the others what the environment gives; a variable that is unset or empty gives the default,
/// and without RINGSIDE_SOCKET the socket is the service's. Throws Error (exit code 2) that names a variable with a
/// wrong value, if it is asked for.
HandoffOptions handoff_options_of_environment(const HandoffChoices& chosen = {});

/// The variables from which `handoff_options_of_environment` makes these options: names and values.
std::vector<std::pair<std::string, std::string>> environment_of(const HandoffOptions& options);

}  // namespace ringside
