// SPDX-License-Identifier: BSD-3-Clause
// Wraps long texts to the width of the terminal. Without a terminal, a text stays on one line, so that `grep` finds all
// of it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ringside {

/// `text` in lines of at most `columns`. The first line begins at column `indent`; further lines are indented by that
/// many blanks. A command between backticks is not divided. If `columns` is 0, the result is one line.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t columns);

/// The width of the terminal on standard output; 0 if standard output is not a terminal.
std::size_t columns_of_output();

}  // namespace ringside
