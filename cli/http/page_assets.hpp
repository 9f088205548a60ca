// The files of dashboards/page and Chart.js, which the build puts into this program (cmake/embed_assets.cmake): the
// page works where there is no network, and shows what this version speaks.
#pragma once

#include <string>
#include <string_view>

namespace ringside {

struct PageAsset {
  std::string_view path;  // "/app.js"
  std::string_view content_type;
  std::string_view content;
};

/// Nothing if there is none of this exact path.
const PageAsset* find_page_asset(std::string_view path) noexcept;

/// The page at `path` with its scripts and style sheets in it, so that it can be opened as a file. Throws Error (exit
/// code 3) if it names what is not here.
std::string with_assets_inlined(std::string_view path);

}  // namespace ringside
