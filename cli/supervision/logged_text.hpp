// SPDX-License-Identifier: BSD-3-Clause
// The analyzer logs events as key=value, for services and programs. Whoever sees `ringside run` gets the sentence of
// those that tell the user about the run.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ringside {

/// The text="..." of an event that people must see (records_missing, frozen …); nothing for any other line.
std::optional<std::string> sentence_of(std::string_view log_line);

}  // namespace ringside
