// SPDX-License-Identifier: BSD-3-Clause
// Manual pages in the macros of man(7), generated from the same declarations as --help.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "common/help/command_description.hpp"
#include "common/platform/error.hpp"

namespace ringside {

/// The meanings of the programs' exit codes: one table for --help and every page.
struct ExitMeaning {
  ExitCode code;
  std::string_view meaning;
};
inline constexpr std::array kExitMeanings = {
    ExitMeaning{ExitCode::kDone, "done"},
    ExitMeaning{ExitCode::kUsage, "usage or bad input"},
    ExitMeaning{ExitCode::kSystem, "the system lacks something: space, permission, cores"},
    ExitMeaning{ExitCode::kPeerLost, "a peer was lost"},
    ExitMeaning{ExitCode::kDamaged, "data failed verification"},
    ExitMeaning{ExitCode::kInterrupted, "interrupted, after a clean stop"},
};

/// The settings file of a program that runs as a service; empty for any other program.
std::string_view service_settings(std::string_view program);

/// The page of a program, or of a subcommand ("ringside run"), whose options `command` declares.
std::string manual_page(const CommandDescription& command);

/// The page of a program that consists of subcommands only.
std::string manual_page(std::string_view program, std::string_view description,
                        std::span<const CommandSummary> subcommands);

}  // namespace ringside
