// SPDX-License-Identifier: BSD-3-Clause
// `--coordination messages` in the library. The library does not link ZeroMQ; it loads libringside-messages when a run
// requests messages. A program that is linked statically with common/messages passes its own function instead.
#pragma once

#include <memory>
#include <string>

#include "common/handoff/coordination.hpp"

namespace ringside::library {

/// The struct that libringside-messages exports under the name `ringside_messages`. The two libraries share C++
/// classes, so both must be of the same version.
struct MessagesEntry {
  const char* version;
  MakeMessages make;
};

/// The messages of this process. Throws Error: exit code 2 if libringside-messages does not exist or is of another
/// version; 3 as `make` does.
std::unique_ptr<Messages> load_messages(const std::string& socket);

/// The folder of the file that contains this code, with a slash at its end. Other files of the library are found
/// relative to it. Empty if it is not known.
std::string own_folder();

/// From now on, load_messages calls `make` and loads no library.
void link_messages(MakeMessages make) noexcept;

}  // namespace ringside::library
