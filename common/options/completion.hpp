// Completions of bash, zsh and fish, from the declarations that --help comes from: subcommands, options, the words an
// option takes, files and folders.
//
// A script is written piece by piece: the beginning, one piece for each subcommand (or one for a program without), the
// end. So a subcommand tells its own options, and nobody has to hold all of them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/options/option_text.hpp"

namespace ringside {

enum class Shell { kBash, kZsh, kFish };

std::optional<Shell> shell_named(std::string_view name);

/// subcommands: empty for a program without.
std::string completion_begin(Shell shell, std::string_view program, std::span<const CommandSummary> subcommands);
/// Of a program, or of a subcommand ("ringside run").
std::string completion_of(Shell shell, const CLI::App& app);
std::string completion_end(Shell shell, std::string_view program);

}  // namespace ringside
