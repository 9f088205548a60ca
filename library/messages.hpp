// SPDX-License-Identifier: BSD-3-Clause
// `--coordination messages` for the library, which does not link ZeroMQ: it loads libringside-messages when a run asks
// for it. A program that is linked statically, with common/messages, names its own instead.
#pragma once

#include <memory>
#include <string>

#include "common/handoff/coordination.hpp"

namespace ringside::library {

/// What libringside-messages exports under the name `ringside_messages`. The two libraries share classes of C++, so
/// both must be of one version.
struct MessagesEntry {
  const char* version;
  MakeMessages make;
};

/// The messages of this process. Throws Error: exit code 2 if libringside-messages is not there or is of another
/// version; 3 as `make`.
std::unique_ptr<Messages> load_messages(const std::string& socket);

/// The folder of the file that this code is in, with a slash at its end: what belongs to this library lies beside it. Empty if it
/// is not known.
std::string own_folder();

/// From now on load_messages calls `make`, and loads nothing.
void link_messages(MakeMessages make) noexcept;

}  // namespace ringside::library
