// SPDX-License-Identifier: BSD-3-Clause
#include "cli/http/page_assets.hpp"

#include <array>
#include <vector>

#include "cli/history/history_json.hpp"
#include "cli/http/embedded_files.hpp"
#include "common/platform/error.hpp"

namespace ringside {
namespace {

std::string_view content_type_of(std::string_view path) {
  if (path.ends_with(".html")) return "text/html; charset=utf-8";
  if (path.ends_with(".css")) return "text/css; charset=utf-8";
  if (path.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (path.ends_with(".svg")) return "image/svg+xml";
  return "application/octet-stream";
}

std::vector<PageAsset> make_assets() {
  std::vector<PageAsset> assets;
  for (const EmbeddedFile& file : embedded_files()) {
    assets.push_back({file.name, content_type_of(file.name), file.content});
  }
  return assets;
}

/// A tag of our pages that loads a file: `begin` and `end` surround the file's name. Inlining replaces the tag by the
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
    std::string name(page.substr(name_begin, name_end - name_begin));
    name.insert(name.begin(), '/');
    const PageAsset* asset = find_page_asset(name);
    if (asset == nullptr) throw system_error("this program lacks its asset {}; build it again", name);
    out.append(page.substr(0, at)).append(tag.open).append(asset->content).append(tag.close);
    page.remove_prefix(name_end + tag.end.size());
  }
  return out.append(page);
}

/// A script element ends at "</script", even in a string: each < is therefore written by its number, as JSON allows.
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

/// The page with `data` at its mark.
std::string filled(std::string page, std::string_view path, const Json& data) {
  constexpr std::string_view kDataMark = "RINGSIDE_REPORT_DATA";
  const std::size_t mark = page.find(kDataMark);
  if (mark == std::string::npos) throw system_error("this program's asset {} lacks the place for the figures", path);
  return page.replace(mark, kDataMark.size(), as_script_data(data));
}

}  // namespace

const PageAsset* find_page_asset(std::string_view path) noexcept {
  static const std::vector<PageAsset> assets = make_assets();
  for (const PageAsset& asset : assets) {
    if (asset.path == path) return &asset;
  }
  return nullptr;
}

std::string with_assets_inlined(std::string_view path) {
  const PageAsset* page = find_page_asset(path);
  if (page == nullptr) throw system_error("this program lacks its asset {}; build it again", path);
  std::string out(page->content);
  for (const LoadingTag& tag : kLoadingTags) out = inlined(out, tag);
  return out;
}

std::string page_with_data(std::string_view path, const Json& data) {
  return filled(with_assets_inlined(path), path, data);
}

std::string served_page_with_data(std::string_view path, const Json& data) {
  const PageAsset* asset = find_page_asset(path);
  if (asset == nullptr) throw system_error("this program lacks its asset {}; build it again", path);
  std::string page(asset->content);
  constexpr std::string_view kPolicy = "<meta http-equiv=\"Content-Security-Policy\"";
  if (const std::size_t begin = page.find(kPolicy); begin != std::string::npos) {
    page.erase(begin, page.find('>', begin) + 1 - begin);
  }
  return filled(std::move(page), path, data);
}

}  // namespace ringside
