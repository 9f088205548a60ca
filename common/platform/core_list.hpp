// SPDX-License-Identifier: BSD-3-Clause
// Lists of cores as text, as options, environment variables and the kernel's files have them: "0-3,8".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ringside {

/// A list of logical CPUs by the kernel's numbers: ascending, each once.
struct CoreList {
  std::vector<int> cpus;
  bool operator==(const CoreList&) const = default;
};

/// Parses a text such as "0-3,8,10-11". Throws Error (exit code 2), which contains `option` and the offending piece.
CoreList parse_core_list(std::string_view text, std::string_view option);

/// The shortest text that `parse_core_list` reads as the same list; "none" for an empty one.
std::string to_string(const CoreList& list);

}  // namespace ringside
