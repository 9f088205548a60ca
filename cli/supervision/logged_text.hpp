// SPDX-License-Identifier: BSD-3-Clause
// The analyzer logs events as key=value, for services and programs. `ringside run` prints only the sentence of those
// events that concern the user.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ringside {

/// The text="..." of an event for the user (records_missing, frozen …); empty for any other line.
std::optional<std::string> sentence_of(std::string_view log_line);

}  // namespace ringside
