// SPDX-License-Identifier: BSD-3-Clause
#include "common/handoff/handoff_environment.hpp"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "common/platform/core_list.hpp"
#include "common/platform/error.hpp"
#include "common/text/decimal.hpp"
#include "common/text/formatted.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

constexpr const char* kPoolUseVariable = "RINGSIDE_POOL_USE";
constexpr const char* kBuffersVariable = "RINGSIDE_BUFFERS";
constexpr const char* kPeerTimeoutVariable = "RINGSIDE_PEER_TIMEOUT";
constexpr const char* kOnAnalyzerLossVariable = "RINGSIDE_ON_ANALYZER_LOSS";
constexpr const char* kCoordinationVariable = "RINGSIDE_COORDINATION";

// --peer-timeout has the same lower and upper limits.
constexpr double kLeastTimeoutS = 0.1;
constexpr double kMostTimeoutS = 1e6;

template <class Value>
struct Word {
  std::string_view text;
  Value value;
};
constexpr std::array<Word<PoolUse>, 3> kPoolUses = {
    {{"fresh", PoolUse::kFresh}, {"overwrite", PoolUse::kOverwrite}, {"resume", PoolUse::kResume}}};
constexpr std::array<Word<OnAnalyzerLoss>, 3> kLosses = {
    {{"wait", OnAnalyzerLoss::kWait}, {"continue", OnAnalyzerLoss::kContinue}, {"stop", OnAnalyzerLoss::kStop}}};
constexpr std::array<Word<CoordinationKind>, 2> kCoordinations = {
    {{"locks", CoordinationKind::kLocks}, {"messages", CoordinationKind::kMessages}}};
constexpr std::array<Word<bool>, 2> kOnOff = {{{"on", true}, {"off", false}}};

std::optional<std::string> value_in(const Variables& variables, std::string_view variable) {
  for (const auto& [name, value] : variables) {
    if (name == variable) return value;
  }
  return std::nullopt;
}

std::optional<std::string> value_of(const char* variable, const Variables& otherwise = {}) {
  const char* value = std::getenv(variable);
  if (value != nullptr && *value != '\0') return value;
  return value_in(otherwise, variable);
}

/// The variable's value, but nothing in a setuid program, which would act on it with more rights than the user has.
std::optional<std::string> trusted_value_of(const char* variable) {
  return secure_getenv(variable) != nullptr ? value_of(variable) : std::nullopt;
}

Error refusal(const char* variable, const std::string& found, const std::string& expected) {
  return usage_error("{}: found '{}', expected {}, or the variable unset", variable, shortened(found), expected);
}

template <class Words, class Value>
std::optional<Value> chosen_or_word(const std::optional<Value>& chosen, const char* variable, const Words& words,
                                    const Variables& otherwise = {}) {
  if (chosen) return chosen;
  const std::optional<std::string> found = value_of(variable, otherwise);
  if (!found) return std::nullopt;
  std::string expected;
  for (const auto& word : words) {
    if (word.text == *found) return word.value;
    expected += formatted("{}{}", expected.empty() ? "" : ", ", word.text);
  }
  throw refusal(variable, *found, "one of " + expected);
}

std::uint32_t buffers_or(std::uint32_t otherwise, const Variables& variables) {
  const std::optional<std::string> found = value_of(kBuffersVariable, variables);
  if (!found) return otherwise;
  const std::optional<std::uint64_t> number = whole_number(*found);
  if (!number || *number < kMinBuffers || *number > kMaxBuffers) {
    throw refusal(kBuffersVariable, *found, formatted("{} to {}", kMinBuffers, kMaxBuffers));
  }
  return static_cast<std::uint32_t>(*number);
}

double peer_timeout_s_or(double otherwise, const Variables& variables) {
  const std::optional<std::string> found = value_of(kPeerTimeoutVariable, variables);
  if (!found) return otherwise;
  const std::optional<double> seconds = decimal_number(*found);
  if (!seconds || *seconds < kLeastTimeoutS || *seconds > kMostTimeoutS) {
    throw refusal(kPeerTimeoutVariable, *found, formatted("{} to {} seconds", kLeastTimeoutS, kMostTimeoutS));
  }
  return *seconds;
}

/// The cores to lend with RINGSIDE_ELASTIC; empty if no variable has any. If the program has started its own analyzer,
/// RINGSIDE_CORES of the environment would be that of another run.
std::vector<int> producer_cores(const Variables& otherwise) {
  std::optional<std::string> found = value_in(otherwise, kCoresVariable);
  if (!found) found = value_of(kCoresVariable);
  return found ? parse_core_list(*found, kCoresVariable).cpus : std::vector<int>();
}

template <class Words, class Value>
std::string word_of(const Words& words, Value value) {
  for (const auto& word : words) {
    if (word.value == value) return std::string(word.text);
  }
  return {};
}

}  // namespace

std::string run_options_of_environment() {
  return trusted_value_of(kRunOptionsVariable).value_or("");
}

AnalyzerPlace analyzer_place(const HandoffChoices& chosen) {
  const auto absolute = [](const std::optional<std::string>& pool) {
    return pool ? std::filesystem::absolute(*pool).string() : std::string();
  };
  if (chosen.socket) {
    if (chosen.socket->empty()) throw usage_error("socket: found an empty name, expected a path, or none");
    return {.socket = *chosen.socket, .pool = absolute(chosen.pool)};
  }
  const std::optional<std::string> socket = value_of(kSocketVariable);
  const std::optional<std::string> pool = chosen.pool ? chosen.pool : trusted_value_of(kPoolVariable);
  if (socket || pool) return {.socket = socket.value_or(""), .pool = absolute(pool), .given_pool = pool.value_or("")};
  return {.socket = kServiceSocket, .pool = "", .is_service = true};
}

std::optional<PoolUse> pool_use_of_environment(const HandoffChoices& chosen) {
  return chosen_or_word(chosen.pool_use, kPoolUseVariable, kPoolUses);
}

HandoffOptions handoff_options_of_environment(const HandoffChoices& chosen, const Variables& otherwise) {
  HandoffOptions options;
  AnalyzerPlace place = analyzer_place(chosen);
  options.socket = std::move(place.socket);
  options.pool = std::move(place.pool);
  options.pool_use = pool_use_of_environment(chosen).value_or(options.pool_use);
  options.buffers = chosen.buffers ? *chosen.buffers : buffers_or(options.buffers, otherwise);
  options.peer_timeout_s =
      chosen.peer_timeout_s ? *chosen.peer_timeout_s : peer_timeout_s_or(options.peer_timeout_s, otherwise);
  options.on_analyzer_loss = chosen_or_word(chosen.on_analyzer_loss, kOnAnalyzerLossVariable, kLosses, otherwise)
                                 .value_or(options.on_analyzer_loss);
  options.coordination = chosen_or_word(chosen.coordination, kCoordinationVariable, kCoordinations, otherwise)
                             .value_or(options.coordination);
  if (chosen.lent_cores) {
    options.cores = *chosen.lent_cores;
    options.elastic = !options.cores.empty();
  } else if (chosen_or_word(std::optional<bool>(), kElasticVariable, kOnOff, otherwise).value_or(false)) {
    options.cores = producer_cores(otherwise);
    options.elastic = true;
  }
  return options;
}

Variables environment_of(const HandoffOptions& options) {
  return {{kSocketVariable, options.socket},
          {kPoolUseVariable, word_of(kPoolUses, options.pool_use)},
          {kBuffersVariable, std::to_string(options.buffers)},
          {kPeerTimeoutVariable, formatted("{}", options.peer_timeout_s)},
          {kOnAnalyzerLossVariable, word_of(kLosses, options.on_analyzer_loss)},
          {kCoordinationVariable, word_of(kCoordinations, options.coordination)},
          {kElasticVariable, word_of(kOnOff, options.elastic)}};
}

}  // namespace ringside
