// SPDX-License-Identifier: BSD-3-Clause
// The environment variables with which `ringside run -- PROGRAM` passes the analyzer's socket and pool and the
// publishing options to a program (docs/publish/library.md), and the choice of the analyzer to attach to. Only this
// file defines the variables' names, values and precedence, both for setting and for reading them.
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
inline constexpr const char* kElasticVariable = "RINGSIDE_ELASTIC";
/// The path of the analyzer's pool. Without RINGSIDE_SOCKET, the program itself starts an analyzer for this pool.
inline constexpr const char* kPoolVariable = "RINGSIDE_POOL";
/// The rings of an earlier job, from which the ranks continue: the path of a folder or of a ranks file.
inline constexpr const char* kResumeFromVariable = "RINGSIDE_RESUME_FROM";
/// Options of `ringside run`, written as words of a shell, for an analyzer that the program itself starts.
inline constexpr const char* kRunOptionsVariable = "RINGSIDE_RUN_OPTIONS";
/// The socket on which the service's analyzer listens.
inline constexpr const char* kServiceSocket = "/run/ringside/analyzer.socket";

/// Options that the program itself sets.
struct HandoffChoices {
  std::optional<std::string> socket = {};
  std::optional<std::string> pool = {};
  std::optional<PoolUse> pool_use = {};
  std::optional<std::uint32_t> buffers = {};
  std::optional<double> peer_timeout_s = {};
  std::optional<OnAnalyzerLoss> on_analyzer_loss = {};
  std::optional<CoordinationKind> coordination = {};
  std::optional<std::vector<int>> lent_cores = {};  // empty list: no core is lent
};

/// Names of variables and their values.
using Variables = std::vector<std::pair<std::string, std::string>>;

/// The analyzer that a program attaches to. The first of these that applies: the analyzer at the chosen socket or at
/// RINGSIDE_SOCKET; an analyzer that the program itself starts for the chosen pool or for RINGSIDE_POOL; the analyzer
/// of the service.
struct AnalyzerPlace {
  std::string socket;  // empty: the program starts the analyzer
  std::string pool;    // the pool that the analyzer must have, an absolute path; empty: any
  std::string given_pool = {};  // the pool's path as it was given, if the program starts the analyzer
  bool is_service = false;
};
/// Throws Error (exit code 2) for an empty name.
AnalyzerPlace analyzer_place(const HandoffChoices& chosen = {});
/// The value of RINGSIDE_RUN_OPTIONS, or an empty string.
std::string run_options_of_environment();

/// The chosen options, completed from the environment. A variable that is unset or empty has the value in `otherwise`,
/// or the default. The socket and the pool are the ones that `analyzer_place` returns. If RINGSIDE_ELASTIC is `on`, the
/// cores to lend are those of RINGSIDE_CORES; here `otherwise` takes precedence. Throws Error (exit code 2), with the
/// variable's name, if a variable that is needed has a wrong value.
HandoffOptions handoff_options_of_environment(const HandoffChoices& chosen = {}, const Variables& otherwise = {});

/// The chosen use of the pool, or RINGSIDE_POOL_USE; nothing if neither is given. Throws Error (exit code 2).
std::optional<PoolUse> pool_use_of_environment(const HandoffChoices& chosen);

/// The variables, with values, from which `handoff_options_of_environment` makes these options, except the cores to
/// lend: RINGSIDE_CORES has the producer's cores also if none is lent.
Variables environment_of(const HandoffOptions& options);

}  // namespace ringside
