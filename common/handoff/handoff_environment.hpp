// SPDX-License-Identifier: BSD-3-Clause
// The variables in which `ringside run -- PROGRAM` passes the analyzer's place and the options of publishing to a
// program (docs/publish/library.md), and which analyzer a program attaches to. Only this file defines the names, the
// values and their precedence, for the side that sets them and the side that reads them.
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
/// The path of the analyzer's pool. Without RINGSIDE_SOCKET: of the pool for which the program starts an analyzer itself.
inline constexpr const char* kPoolVariable = "RINGSIDE_POOL";
/// The rings of an earlier job, from which ranks continue: a folder, or a ranks file.
inline constexpr const char* kResumeFromVariable = "RINGSIDE_RESUME_FROM";
/// Options of `ringside run`, as words of a shell, for an analyzer that the program starts itself.
inline constexpr const char* kRunOptionsVariable = "RINGSIDE_RUN_OPTIONS";
/// Where the analyzer of the service listens.
inline constexpr const char* kServiceSocket = "/run/ringside/analyzer.socket";

/// What a program decides itself.
struct HandoffChoices {
  std::optional<std::string> socket = {};
  std::optional<std::string> pool = {};
  std::optional<PoolUse> pool_use = {};
  std::optional<std::uint32_t> buffers = {};
  std::optional<double> peer_timeout_s = {};
  std::optional<OnAnalyzerLoss> on_analyzer_loss = {};
  std::optional<CoordinationKind> coordination = {};
};

/// Names of variables and their values.
using Variables = std::vector<std::pair<std::string, std::string>>;

/// The analyzer that a program attaches to. In this order: at the chosen socket or RINGSIDE_SOCKET; one that it starts
/// itself for the chosen pool or RINGSIDE_POOL; the service's.
struct AnalyzerPlace {
  std::string socket;  // empty: the program starts the analyzer
  std::string pool;    // the pool that the analyzer must have, an absolute path; empty: any
  std::string given_pool = {};  // as it was given, if the program starts the analyzer
  bool is_service = false;
};
/// Throws Error (exit code 2) for an empty name.
AnalyzerPlace analyzer_place(const HandoffChoices& chosen = {});
/// RINGSIDE_RUN_OPTIONS, or nothing.
std::string run_options_of_environment();

/// The chosen options, completed from the environment. A variable that is unset or empty has the value in `otherwise`,
/// or the default. The socket and the pool are those of `analyzer_place`. If a variable that is needed has a wrong
/// value, throws Error (exit code 2), which names it.
HandoffOptions handoff_options_of_environment(const HandoffChoices& chosen = {}, const Variables& otherwise = {});

/// The chosen use of the pool, or RINGSIDE_POOL_USE; nothing if neither is given. Throws Error (exit code 2).
std::optional<PoolUse> pool_use_of_environment(const HandoffChoices& chosen);

/// The variables, with values, from which `handoff_options_of_environment` makes these options.
Variables environment_of(const HandoffOptions& options);

}  // namespace ringside
