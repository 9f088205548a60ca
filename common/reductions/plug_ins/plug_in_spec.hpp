// SPDX-License-Identifier: BSD-3-Clause
// What `--reduce-with FILE:NAME[:KEY=VALUE]...` names: a library, a reduction in it, and its settings.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ringside {

struct PlugInSpec {
  std::string text;  // as given
  std::string path;  // absolute
  std::string name;  // of the reduction in the library; empty: the only one there
  std::string as;    // under which its results are recorded (the setting `as`); empty: its own name
  std::vector<std::pair<std::string, std::string>> settings;  // without `as`, in the order given

  /// The same with an absolute path: it means the same in any folder.
  std::string absolute() const;
};

/// Throws Error (exit code 2). Reads no file.
PlugInSpec parse_plug_in(std::string_view text);

}  // namespace ringside
