// SPDX-License-Identifier: BSD-3-Clause
// Finds the archive's member that is the matrix. SuiteSparse's NAME.tar.gz holds a folder NAME with NAME.mtx, and often
// also right-hand sides and coordinates (NAME_b.mtx).
#include "producer/text/matrix_text.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "common/platform/error.hpp"
#include "common/text/printable.hpp"
#include "producer/text/archive.hpp"
#include "producer/text/packed_text.hpp"

namespace ringside {
namespace {

constexpr std::string_view kMatrixEnding = ".mtx";
constexpr std::size_t kShownNameBytes = 40;

/// A member's name as a message shows it. Escaped characters count with their escaped length, so a line with a few
/// names stays short.
std::string shown(std::string_view name) {
  return shortened(printable(name), kShownNameBytes);
}

std::string_view after_last_slash(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

/// Returns "web" for "/data/web.tar.gz", "web.tar" and "web.tgz".
std::string_view stem_of_archive(std::string_view path) {
  const std::string_view name = after_last_slash(path);
  const std::size_t ending = name_without_packing(name).rfind('.');
  return name.substr(0, ending);
}

/// True for NAME/NAME.mtx, which may be in further folders, and for ARCHIVE.mtx.
bool is_named_like_its_folder_or_archive(std::string_view member, std::string_view archive_stem) {
  const std::string_view base = after_last_slash(member);
  const std::string_view stem = base.substr(0, base.size() - kMatrixEnding.size());
  std::string_view folder = member.substr(0, member.size() - base.size());
  if (!folder.empty()) folder.remove_suffix(1);
  return stem == after_last_slash(folder) || stem == archive_stem;
}

std::string list_of(const std::vector<std::string_view>& members) {
  constexpr std::size_t kShown = 4;
  std::string list;
  for (std::size_t i = 0; i < std::min(members.size(), kShown); ++i) {
    list += (i > 0 ? ", " : "") + shown(members[i]);
  }
  return list + (members.size() > kShown ? ", ..." : "");
}

/// The named member; or the member that is the matrix, if no member was named. kind: such as "tar archive".
template <class Member>
const Member& chosen_of(const std::vector<Member>& members, const NamedInput& named, std::string_view kind) {
  std::vector<const Member*> files;
  std::vector<const Member*> matrices;
  std::vector<const Member*> like_folder;
  std::vector<const Member*> of_path;
  std::vector<const Member*> of_end;
  for (const Member& member : members) {
    const std::string_view name = member.name;
    if (name == named.member || name == "./" + named.member) of_path.push_back(&member);
    if (name.ends_with("/" + named.member)) of_end.push_back(&member);
    if (after_last_slash(name).starts_with('.')) continue;  // added by a file manager
    files.push_back(&member);
    if (!name.ends_with(kMatrixEnding)) continue;
    matrices.push_back(&member);
    if (is_named_like_its_folder_or_archive(name, stem_of_archive(named.path))) like_folder.push_back(&member);
  }
  const std::vector<const Member*>& fitting = !named.member.empty()  ? (of_path.empty() ? of_end : of_path)
                                              : !like_folder.empty() ? like_folder
                                              : !matrices.empty()    ? matrices
                                                                     : files;
  if (fitting.size() == 1) return *fitting.front();
  const std::vector<const Member*>& among = !named.member.empty() && !fitting.empty()   ? fitting
                                            : !named.member.empty() || matrices.empty() ? files
                                                                                        : matrices;
  std::vector<std::string_view> names;
  for (const Member* const member : among) names.emplace_back(member->name);
  if (names.empty()) {
    throw usage_error(
        "{}: found a {} without a regular file, expected one that holds a matrix (links, devices and sparse files are "
        "not read)",
        named.path, kind);
  }
  if (!named.member.empty()) {
    throw usage_error("{}: found {} '{}' in the {}, expected the path of one of these files: {}", named.path,
                      fitting.empty() ? "no" : "more than one", shown(named.member), kind, list_of(names));
  }
  throw usage_error(
      "{}: found {} {}files in the {} ({}), expected one, or one named like its folder or the archive (NAME/NAME.mtx); "
      "name the intended file, as in {}:{}",
      named.path, names.size(), matrices.empty() ? "" : ".mtx ", kind, list_of(names), named.path,
      shown(names.front()));
}

}  // namespace

MatrixText matrix_text(Text file, const NamedInput& named) {
  const std::string& path = named.path;
  MatrixText input{std::move(file), path, path};
  std::string_view& text = input.text.text;
  if (is_packed(text)) input.text = unpack(text, path);
  input.file_name = name_without_packing(path);
  const auto is_in_archive = [&](const std::string& member) {
    input.file_name = member;
    input.name = path + ":" + shown(member);
  };
  if (is_zip(text)) {
    const std::vector<ZipMember> members = zip_members(text, path);
    const ZipMember& member = chosen_of(members, named, "zip archive");
    input.text = unzip(text, member, path);
    is_in_archive(member.name);
  } else if (is_tar(text)) {
    const std::vector<TarMember> members = tar_members(text, path);
    const TarMember& member = chosen_of(members, named, "tar archive");
    text = member.text;
    is_in_archive(member.name);
  } else if (!named.member.empty()) {
    throw usage_error("{}: found no archive of which '{}' could be a member, expected a tar or zip archive", path,
                      shown(named.member));
  }
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return input;
}

}  // namespace ringside
