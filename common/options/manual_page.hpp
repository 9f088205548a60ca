// Manual pages in the macros of man(7), from the declarations that --help comes from.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "common/options/option_text.hpp"
#include "common/platform/error.hpp"

namespace ringside {

/// What the programs' exit codes mean: one table for --help and for every page.
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

/// Where a program that runs as a service finds its options; empty for any other.
std::string_view service_settings(std::string_view program);

/// The page of a program, or of a subcommand ("ringside run"), whose options `app` declares.
std::string manual_page(const CLI::App& app);

/// The page of a program that has nothing but subcommands.
std::string manual_page(std::string_view program, std::string_view description,
                        std::span<const CommandSummary> subcommands);

}  // namespace ringside
