// SPDX-License-Identifier: BSD-3-Clause
// The files that cmake/embed_assets.cmake puts into the program.
#pragma once

#include <span>
#include <string_view>

namespace ringside {

struct EmbeddedFile {
  std::string_view name;
  std::string_view content;
};

std::span<const EmbeddedFile> embedded_files() noexcept;

}  // namespace ringside
