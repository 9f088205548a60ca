// SPDX-License-Identifier: BSD-3-Clause
#include "common/handoff/handoff_environment.hpp"

#include <array>
#include <cstdlib>
#include <optional>

#include "common/platform/decimal.hpp"
#include "common/platform/error.hpp"
#include "common/platform/formatted.hpp"
#include "common/platform/printable.hpp"

namespace ringside {
namespace {

constexpr const char* kPoolUseVariable = "RINGSIDE_POOL_USE";
constexpr const char* kBuffersVariable = "RINGSIDE_BUFFERS";
constexpr const char* kPeerTimeoutVariable = "RINGSIDE_PEER_TIMEOUT";
constexpr const char* kOnAnalyzerLossVariable = "RINGSIDE_ON_ANALYZER_LOSS";
constexpr const char* kCoordinationVariable = "RINGSIDE_COORDINATION";

// The same limits as those of --peer-timeout.
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

std::optional<std::string> value_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0' ? std::optional<std::string>(value) : std::nullopt;
}

Error refusal(const char* variable, const std::string& found, const std::string& expected) {
  return usage_error("{}: found '{}', expected {}, or the variable unset", variable, shortened(found), expected);
}

template <class Words, class Value>
Value chosen_or_word(const std::optional<Value>& chosen, const char* variable, const Words& words, Value otherwise) {
  if (chosen) return *chosen;
  const std::optional<std::string> found = value_of(variable);
  if (!found) return otherwise;
  std::string expected;
  for (const auto& word : words) {
    if (word.text == *found) return word.value;
    expected += formatted("{}{}", expected.empty() ? "" : ", ", word.text);
  }
  throw refusal(variable, *found, "one of " + expected);
}

std::uint32_t buffers_or(std::uint32_t otherwise) {
  const std::optional<std::string> found = value_of(kBuffersVariable);
  if (!found) return otherwise;
  const std::optional<std::uint64_t> number = whole_number(*found);
  if (!number || *number < kMinBuffers || *number > kMaxBuffers) {
    throw refusal(kBuffersVariable, *found, formatted("{} to {}", kMinBuffers, kMaxBuffers));
  }
  return static_cast<std::uint32_t>(*number);
}

double peer_timeout_s_or(double otherwise) {
  const std::optional<std::string> found = value_of(kPeerTimeoutVariable);
  if (!found) return otherwise;
  const std::optional<double> seconds = decimal_number(*found);
  if (!seconds || *seconds < kLeastTimeoutS || *seconds > kMostTimeoutS) {
    throw refusal(kPeerTimeoutVariable, *found, formatted("{} to {} seconds", kLeastTimeoutS, kMostTimeoutS));
  }
  return *seconds;
}

template <class Words, class Value>
std::string word_of(const Words& words, Value value) {
  for (const auto& word : words) {
    if (word.value == value) return std::string(word.text);
  }
  return {};
}

}  // namespace

HandoffOptions handoff_options_of_environment(const HandoffChoices& chosen) {
  HandoffOptions options;
  options.socket = chosen.socket ? *chosen.socket : value_of(kSocketVariable).value_or(kServiceSocket);
  options.pool_use = chosen_or_word(chosen.pool_use, kPoolUseVariable, kPoolUses, options.pool_use);
  options.buffers = chosen.buffers ? *chosen.buffers : buffers_or(options.buffers);
  options.peer_timeout_s = chosen.peer_timeout_s ? *chosen.peer_timeout_s : peer_timeout_s_or(options.peer_timeout_s);
  options.on_analyzer_loss =
      chosen_or_word(chosen.on_analyzer_loss, kOnAnalyzerLossVariable, kLosses, options.on_analyzer_loss);
  options.coordination =
      chosen_or_word(chosen.coordination, kCoordinationVariable, kCoordinations, options.coordination);
  return options;
}

std::vector<std::pair<std::string, std::string>> environment_of(const HandoffOptions& options) {
  return {{kSocketVariable, options.socket},
          {kPoolUseVariable, word_of(kPoolUses, options.pool_use)},
          {kBuffersVariable, std::to_string(options.buffers)},
          {kPeerTimeoutVariable, formatted("{}", options.peer_timeout_s)},
          {kOnAnalyzerLossVariable, word_of(kLosses, options.on_analyzer_loss)},
          {kCoordinationVariable, word_of(kCoordinations, options.coordination)}};
}

}  // namespace ringside
