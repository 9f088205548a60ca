// SPDX-License-Identifier: BSD-3-Clause
// The files of dashboards/page and Chart.js, which the build embeds in this program (cmake/embed_assets.cmake). The
// page therefore works without a network, and always matches the program's version.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/http/site.hpp"
#include "common/json/json.hpp"

namespace ringside {

struct PageAsset {
  std::string_view path;  // "/app.js"
  std::string_view content;

  std::string_view content_type() const noexcept;
};

/// All assets: cmake/embed_assets.cmake generates this function.
std::span<const PageAsset> page_assets() noexcept;

/// The asset with exactly this path; null if there is none.
const PageAsset* find_page_asset(std::string_view path) noexcept;

/// The asset at `path` as the answer to a request. Throws Error (exit code 3) if no asset has this path.
SiteAnswer page_answer(std::string_view path);

/// The page at `path` as one file: its scripts and style sheets are inlined, and `data` replaces the placeholder
/// RINGSIDE_REPORT_DATA in one of its script elements. Figures and names in `data` never become markup or script.
/// Throws Error (exit code 3) if the page has no placeholder, or if the page or a file that it loads is not an asset.
std::string page_with_data(std::string_view path, const Json& data);

/// The page at `path` with `data` in it, for HttpServer. Unlike in page_with_data, nothing is inlined: the page loads
/// its assets from the server, whose content security policy allows no inline script.
std::string served_page_with_data(std::string_view path, const Json& data);

}  // namespace ringside
