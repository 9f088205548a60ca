// SPDX-License-Identifier: BSD-3-Clause
#include "cli/node/configuration_text.hpp"

#include <fmt/format.h>

namespace ringside {

const char* reduce_word(const Configuration& configuration) noexcept {
  return configuration.reduce_on_transfer ? "transfer" : "slot";
}

std::string in_words(const Configuration& configuration) {
  return fmt::format("{} + {} cores, --reduce {}, --elastic {}", configuration.producer_threads,
                     configuration.analyzer_threads, reduce_word(configuration), configuration.elastic ? "on" : "off");
}

}  // namespace ringside
