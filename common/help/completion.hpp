// SPDX-License-Identifier: BSD-3-Clause
// Completion scripts for bash, zsh and fish, generated from the same declarations as --help: subcommands, options, the
// words that an option accepts, files and folders.
//
// A script is written in pieces: the beginning, one piece for each subcommand (or one for a program without
// subcommands), and the end. Each subcommand writes its own piece, so that no code needs all declarations.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/help/command_description.hpp"

namespace ringside {

enum class Shell { kBash, kZsh, kFish };

std::optional<Shell> shell_named(std::string_view name);

/// subcommands: empty for a program that has none.
std::string completion_begin(Shell shell, std::string_view program, std::span<const CommandSummary> subcommands);
/// The piece for a program, or for a subcommand ("ringside run").
std::string completion_of(Shell shell, const CommandDescription& command);
std::string completion_end(Shell shell, std::string_view program);

}  // namespace ringside
