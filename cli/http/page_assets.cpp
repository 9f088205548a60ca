// SPDX-License-Identifier: BSD-3-Clause
#include "cli/http/page_assets.hpp"

#include <algorithm>
#include <array>

#include "cli/run_history/history_json.hpp"
#include "common/platform/error.hpp"

namespace ringside {
namespace {

const PageAsset& asset_at(std::string_view path) {
  const PageAsset* const asset = find_page_asset(path);
  if (asset == nullptr)
    throw system_error("this program was built without its asset {}; build the program again", path);
  return *asset;
}

/// A tag of our pages that loads a file; the file's name is between `begin` and `end`. Inlining replaces the tag by the
/// file's content between `open` and `close`.
struct LoadingTag {
  std::string_view begin;
  std::string_view end;
  std::string_view open;
  std::string_view close;
};
constexpr std::array kLoadingTags = {
    LoadingTag{"<link rel=\"stylesheet\" href=\"", "\">", "<style>\n", "</style>"},
    LoadingTag{"<script defer src=\"", "\"></script>", "<script>\n", "</script>"},
};

std::string inlined(std::string_view page, const LoadingTag& tag) {
  std::string out;
  for (std::size_t at = page.find(tag.begin); at != std::string_view::npos; at = page.find(tag.begin)) {
    const std::size_t name_begin = at + tag.begin.size();
    const std::size_t name_end = page.find(tag.end, name_begin);
    const std::string name = "/" + std::string(page.substr(name_begin, name_end - name_begin));
    out.append(page.substr(0, at)).append(tag.open).append(asset_at(name).content).append(tag.close);
    page.remove_prefix(name_end + tag.end.size());
  }
  return out.append(page);
}

/// JSON text for a script element. "</script" ends the element even within a string, so each < is written as its code
/// point, which JSON allows.
std::string as_script_data(const Json& object) {
  std::string text;
  for (const char c : dump(object)) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

/// The page, with `data` instead of its placeholder.
std::string filled(std::string page, std::string_view path, const Json& data) {
  constexpr std::string_view kDataMark = "RINGSIDE_REPORT_DATA";
  const std::size_t mark = page.find(kDataMark);
  if (mark == std::string::npos)
    throw system_error("this program's asset {} has no place for the figures; build the program again", path);
  return page.replace(mark, kDataMark.size(), as_script_data(data));
}

}  // namespace

std::string_view PageAsset::content_type() const noexcept {
  if (path.ends_with(".html")) return "text/html; charset=utf-8";
  if (path.ends_with(".css")) return "text/css; charset=utf-8";
  if (path.ends_with(".js")) return "text/javascript; charset=utf-8";
  return "application/octet-stream";
}

const PageAsset* find_page_asset(std::string_view path) noexcept {
  const auto assets = page_assets();
  const auto found = std::ranges::find(assets, path, &PageAsset::path);
  return found == assets.end() ? nullptr : &*found;
}

SiteAnswer page_answer(std::string_view path) {
  const PageAsset& page = asset_at(path);
  return {200, std::string(page.content_type()), std::string(page.content)};
}

std::string page_with_data(std::string_view path, const Json& data) {
  std::string page(asset_at(path).content);
  for (const LoadingTag& tag : kLoadingTags) page = inlined(page, tag);
  return filled(std::move(page), path, data);
}

std::string served_page_with_data(std::string_view path, const Json& data) {
  std::string page(asset_at(path).content);
  constexpr std::string_view kPolicy = "<meta http-equiv=\"Content-Security-Policy\"";
  if (const std::size_t begin = page.find(kPolicy); begin != std::string::npos) {
    page.erase(begin, page.find('>', begin) + 1 - begin);
  }
  return filled(std::move(page), path, data);
}

}  // namespace ringside
