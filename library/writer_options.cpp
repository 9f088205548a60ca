// SPDX-License-Identifier: BSD-3-Clause
#include "library/writer_options.hpp"

#include <errno.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <span>
#include <string>

#include "common/handoff/attach_request.hpp"
#include "common/handoff/handoff_environment.hpp"
#include "common/kernels/hash.hpp"
#include "common/kernels/id_bytes.hpp"
#include "common/platform/clock.hpp"
#include "common/text/formatted.hpp"
#include "common/text/printable.hpp"
#include "common/threads/core_loan.hpp"
#include "library/handle.hpp"
#include "library/loan.hpp"
#include "library/messages.hpp"

namespace ringside::library {
namespace {

std::atomic<bool> has_guests{false};

constexpr std::size_t kSolverBytes = sizeof(RunDescription::solver) - 1;
constexpr std::size_t kProblemBytes = sizeof(RunDescription::matrix) - 1;
constexpr std::size_t kParametersBytes = sizeof(RunDescription::parameters) - 1;

std::string text_or(const char* text, const char* otherwise) {
  return text != nullptr ? text : otherwise;
}

std::string checked(std::string text, std::size_t most, const char* what) {
  if (text.size() > most) throw usage_error("{}: found {} bytes, expected at most {}", what, text.size(), most);
  return text;
}

/// The choice with the number `value`; empty for 0.
template <class Enum>
std::optional<Enum> chosen_of(std::uint32_t value, std::span<const Enum> choices, const char* what) {
  if (value == 0) return std::nullopt;
  if (value > choices.size()) throw usage_error("{}: found {}, expected 1 to {}, or 0", what, value, choices.size());
  return choices[value - 1];
}

/// The id of a problem: the hash of everything on which the iterates depend, except the variables, which the attachment
/// adds.
Id128 problem_id(const std::string& solver, const std::string& problem, const std::string& parameters,
                 const void* bytes, std::size_t count) {
  if (bytes == nullptr && count > 0) throw usage_error("problem_bytes: found NULL, expected {} bytes", count);
  const Id128 content = hash128(bytes, count);
  std::string all = solver + '\0' + problem + '\0' + parameters + '\0';
  all.append(reinterpret_cast<const char*>(&content), sizeof(content));
  return hash128(all.data(), all.size());
}

/// The cores that a claim lends. If the caller's list is empty but not NULL, none is lent, whatever the environment
/// has.
std::optional<std::vector<int>> lent_cores_of(const ringside_writer_options& given) {
  if (given.lent_cores == nullptr) {
    if (given.lent_core_count == 0) return std::nullopt;
    throw usage_error("lent_cores: found NULL, expected {} cores", given.lent_core_count);
  }
  std::vector<int> cores(given.lent_cores, given.lent_cores + given.lent_core_count);
  for (const int core : cores) {
    if (core >= 0 && core < LentCores::kMaxCpus) continue;
    throw usage_error("lent_cores: found core {}, expected 0 to {}", core, LentCores::kMaxCpus - 1);
  }
  return cores;
}

HandoffChoices choices_of(const ringside_writer_options& given) {
  constexpr PoolUse kUses[] = {PoolUse::kFresh, PoolUse::kOverwrite, PoolUse::kResume};
  constexpr CoordinationKind kCoordinations[] = {CoordinationKind::kLocks, CoordinationKind::kMessages};
  // With RINGSIDE_LOSS_CONTINUE and RINGSIDE_LOSS_SKIP, the hand-off returns no buffer if there is no analyzer. The
  // writer handles the difference between these two choices.
  constexpr OnAnalyzerLoss kLosses[] = {OnAnalyzerLoss::kWait, OnAnalyzerLoss::kContinue, OnAnalyzerLoss::kStop,
                                        OnAnalyzerLoss::kContinue};
  constexpr double kLeastTimeoutS = 0.001;
  constexpr double kMostTimeoutS = 1e6;
  const double timeout_s = given.peer_timeout_s;
  if (!(timeout_s == 0 || (timeout_s >= kLeastTimeoutS && timeout_s <= kMostTimeoutS))) {
    throw usage_error("peer_timeout_s: found {}, expected {} to {}, or 0", timeout_s, kLeastTimeoutS, kMostTimeoutS);
  }
  HandoffChoices chosen;
  if (given.socket != nullptr) chosen.socket = given.socket;
  if (given.pool != nullptr) {
    if (*given.pool == '\0') throw usage_error("pool: found an empty name, expected a path, or NULL");
    chosen.pool = given.pool;
  }
  if (given.buffers != 0) chosen.buffers = given.buffers;
  if (timeout_s > 0) chosen.peer_timeout_s = timeout_s;
  chosen.pool_use = chosen_of<PoolUse>(given.pool_use, kUses, "pool_use");
  chosen.on_analyzer_loss = chosen_of<OnAnalyzerLoss>(given.on_analyzer_loss, kLosses, "on_analyzer_loss");
  chosen.coordination = chosen_of<CoordinationKind>(given.coordination, kCoordinations, "coordination");
  chosen.lent_cores = lent_cores_of(given);
  return chosen;
}

/// How a run that starts its own analyzer uses the pool: it continues kept steps of the same problem, unless the
/// options or the environment contain another choice.
PoolUse use_of_own_pool(const HandoffChoices& chosen, const std::vector<std::string>& run_options) {
  const bool overwrites = std::ranges::find(run_options, "--overwrite") != run_options.end();
  return pool_use_of_environment(chosen).value_or(overwrites ? PoolUse::kOverwrite : PoolUse::kResume);
}

std::vector<std::string> run_options_of(const ringside_writer_options& given) {
  return words_of(given.run_options != nullptr ? given.run_options : run_options_of_environment(), "run_options");
}

}  // namespace

void borrow_cores() noexcept {
  has_guests.store(true, std::memory_order_relaxed);
}

std::unique_ptr<OwnAnalyzer> own_analyzer_for(const ringside_writer_options& given) {
  const HandoffChoices chosen = choices_of(given);
  const AnalyzerPlace place = analyzer_place(chosen);
  if (!place.socket.empty()) return nullptr;
  if (place.pool.size() >= sizeof(AttachRequestHead::pool)) {
    throw usage_error("pool: found a path of {} bytes, expected at most {}", place.pool.size(), sizeof(AttachRequestHead::pool) - 1);
  }
  (void)handoff_options_of_environment(chosen);  // refuses wrong values before a process is started
  std::vector<std::string> options = run_options_of(given);
  const PoolUse use = use_of_own_pool(chosen, options);
  std::erase_if(options, [](const std::string& word) { return word == "--overwrite" || word == "--resume"; });
  if (given.peer_timeout_s > 0) options.push_back(formatted("--peer-timeout={}", std::max(given.peer_timeout_s, 0.1)));
  return std::make_unique<OwnAnalyzer>(
      OwnAnalyzerOptions{.pool = place.given_pool, .pool_use = use, .run_options = options, .stop = StopFlag(given.stop)});
}

HandoffOptions handoff_options_of(const ringside_writer_options& given, const OwnAnalyzer* own) {
  HandoffChoices chosen = choices_of(given);
  if (own != nullptr) {
    chosen.pool_use = use_of_own_pool(chosen, run_options_of(given));
    for (const auto& [name, value] : own->variables()) {
      if (name == kSocketVariable) chosen.socket = value;
    }
  }
  const AnalyzerPlace place = analyzer_place(chosen);
  if (place.socket.empty()) {
    throw usage_error("pool: found {} without RINGSIDE_SOCKET for several ranks; expected `ringside run --ranks` or --per-node, which "
                      "starts an analyzer on each node", shortened(place.pool));
  }
  const bool is_service = place.is_service;
  HandoffOptions options = handoff_options_of_environment(chosen, own != nullptr ? own->variables() : Variables());
  if (is_service) {
    options.while_waiting = formatted(
        "ringside: no analyzer listens at {}, the service's socket; waiting up to {} s for it. RINGSIDE_POOL=FILE "
        "(`pool` in the call) or `ringside run --pool FILE -- PROGRAM` starts an analyzer with this program\n",
        options.socket, options.peer_timeout_s);
  }
  options.messages = load_messages;
  if (given.shares_core != 0) options.spin_ns = 0;
  if (options.elastic && options.cores.empty()) {
    throw usage_error(
        "{}: found 'on' without {}, expected `ringside run --elastic -- PROGRAM`, which sets both, or off",
        kElasticVariable, kCoresVariable);
  }
  options.lends_only = !has_guests.load(std::memory_order_relaxed);
  options.stop = StopFlag(given.stop);
  return options;
}

RunDescription run_of(const ringside_writer_options& given) {
  const std::string own_name = std::string(program_invocation_short_name).substr(0, kSolverBytes);
  const std::string solver = checked(text_or(given.solver, own_name.c_str()), kSolverBytes, "the solver's name");
  const std::string problem = checked(text_or(given.problem, ""), kProblemBytes, "the problem");
  const std::string parameters = checked(text_or(given.parameters, ""), kParametersBytes, "the parameters");
  RunDescription run;
  run.run_id = random_id();
  if (given.problem_id != nullptr && given.problem_bytes_count > 0) {
    throw usage_error("problem_bytes: found {} bytes, although problem_id is set; expected only one of the two",
                      given.problem_bytes_count);
  }
  if (given.problem_id != nullptr) {
    run.problem_id = id_at(given.problem_id);
  } else {
    run.problem_id = problem_id(solver, problem, parameters, given.problem_bytes, given.problem_bytes_count);
  }
  run.nonzeros = given.work;
  run.started_realtime_ns = realtime_ns();
  assign(run.solver, solver);
  assign(run.matrix, problem);
  assign(run.parameters, parameters);
  return run;
}

std::vector<Variable> variables_of(const ringside_variable* variables, std::size_t count) {
  if (count > kMostVariables) {
    throw usage_error("variables: found {} variables, expected 1 to {}", count, kMostVariables);
  }
  if (count > 0 && variables == nullptr) throw usage_error("variables: found NULL, expected {} variables", count);
  std::vector<Variable> made;
  for (const ringside_variable& given : taken(variables, count, "ringside_variable")) {
    if (given.dims > RINGSIDE_MOST_DIMS) {
      throw usage_error("variables: variable '{}': found {} dimensions; expected 0 to 8", text_or(given.name, ""),
                        given.dims);
    }
    if (given.reserved != 0) {
      throw usage_error("variables: variable '{}': reserved is {}; expected 0", text_or(given.name, ""),
                        given.reserved);
    }
    made.push_back({.name = text_or(given.name, ""),
                    .dtype = static_cast<DType>(given.dtype),
                    .shape = {given.shape, given.shape + given.dims},
                    .role = given.role == 0 ? Role::kField : static_cast<Role>(given.role),
                    .unit = text_or(given.unit, "")});
  }
  return made;
}

Schema schema_of(const ringside_variable* variables, std::size_t count) {
  return Schema::of(variables_of(variables, count));
}

std::vector<Scalar> scalars_of(const ringside_scalar* scalars, std::size_t count) {
  if (count > 0 && scalars == nullptr) throw usage_error("scalars: found NULL, expected {} scalars", count);
  if (count > kMostScalars) throw usage_error("scalars: found {} scalars, expected at most {}", count, kMostScalars);
  std::vector<Scalar> made;
  for (const ringside_scalar& given : taken(scalars, count, "ringside_scalar")) {
    made.push_back({.name = text_or(given.name, ""),
                    .type = given.type == 0 ? ValueType::kF64 : static_cast<ValueType>(given.type),
                    .unit = text_or(given.unit, "")});
  }
  return made;
}

}  // namespace ringside::library
