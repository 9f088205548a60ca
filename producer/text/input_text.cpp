// SPDX-License-Identifier: BSD-3-Clause
// Which member of a tar archive is the matrix. SuiteSparse's NAME.tar.gz holds a folder NAME with NAME.mtx, and often
// right-hand sides and coordinates beside it (NAME_b.mtx).
#include "producer/text/input_text.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "common/platform/error.hpp"
#include "common/platform/printable.hpp"
#include "producer/text/archive.hpp"
#include "producer/text/packed_text.hpp"

namespace ringside {
namespace {

constexpr std::string_view kMatrixEnding = ".mtx";
constexpr std::size_t kShownNameBytes = 60;

std::string_view after_last_slash(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

/// "web" for "/data/web.tar.gz", "web.tar" and "web.tgz".
std::string_view stem_of_archive(std::string_view path) {
  const std::string_view name = after_last_slash(path);
  const std::size_t ending = name_without_packing(name).rfind('.');
  return name.substr(0, ending);
}

/// True for NAME/NAME.mtx, with any folders before it, and for ARCHIVE.mtx.
bool is_named_like_its_folder_or_archive(std::string_view member, std::string_view archive_stem) {
  const std::string_view base = after_last_slash(member);
  const std::string_view stem = base.substr(0, base.size() - kMatrixEnding.size());
  std::string_view folder = member.substr(0, member.size() - base.size());
  if (!folder.empty()) folder.remove_suffix(1);
  return stem == after_last_slash(folder) || stem == archive_stem;
}

std::string list_of(const std::vector<const TarMember*>& members) {
  constexpr std::size_t kShown = 4;
  std::string list;
  for (std::size_t i = 0; i < std::min(members.size(), kShown); ++i) {
    list += (i > 0 ? ", " : "") + shortened(members[i]->name, kShownNameBytes);
  }
  return list + (members.size() > kShown ? ", ..." : "");
}

const TarMember& matrix_among(const std::vector<TarMember>& members, const std::string& path) {
  std::vector<const TarMember*> files;
  std::vector<const TarMember*> matrices;
  std::vector<const TarMember*> named;
  for (const TarMember& member : members) {
    if (after_last_slash(member.name).starts_with('.')) continue;  // what a file manager adds
    files.push_back(&member);
    if (!member.name.ends_with(kMatrixEnding)) continue;
    matrices.push_back(&member);
    if (is_named_like_its_folder_or_archive(member.name, stem_of_archive(path))) named.push_back(&member);
  }
  for (const auto* const choice : {&named, &matrices, &files}) {
    if (choice->size() == 1) return *choice->front();
    if (!choice->empty()) break;
  }
  if (files.empty()) {
    throw usage_error(
        "{}: found a tar archive without a regular file, expected one that holds a matrix (links, devices and sparse "
        "files are not read)",
        path);
  }
  throw usage_error(
      "{}: found {} {}files in the tar archive ({}), expected one, or one named like its folder or the archive "
      "(NAME/NAME.mtx); unpack the archive and name the file",
      path, matrices.empty() ? files.size() : matrices.size(), matrices.empty() ? "" : ".mtx ",
      list_of(matrices.empty() ? files : matrices));
}

}  // namespace

InputText input_text(Text file, const std::string& path) {
  InputText input{std::move(file), path, path};
  if (is_packed(input.text.text)) input.text = unpack(input.text.text, path);
  input.file_name = name_without_packing(path);
  if (!is_tar(input.text.text)) return input;
  const std::vector<TarMember> members = tar_members(input.text.text, path);
  const TarMember& matrix = matrix_among(members, path);
  input.text.text = matrix.text;
  input.file_name = matrix.name;
  input.name = path + ":" + shortened(matrix.name, kShownNameBytes);
  return input;
}

}  // namespace ringside
