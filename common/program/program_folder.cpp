// SPDX-License-Identifier: BSD-3-Clause
#include "common/program/program_folder.hpp"

#include <system_error>

#include "common/platform/error.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

fs::path own_folder() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) throw system_error("/proc/self/exe: cannot be read ({}); expected a mounted /proc", error.message());
  return self.parent_path();
}

bool is_of_libexec(const fs::path& folder) {
  return folder.filename() == "ringside" && folder.parent_path().filename() == "libexec";
}

bool is_of_build(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder.parent_path() / "CMakeCache.txt", ignored);
}

}  // namespace

fs::path program_folder() {
  const fs::path own = own_folder();
  return is_of_libexec(own) ? own.parent_path().parent_path() / "bin" : own;
}

fs::path command_program(const std::string& name) {
  const fs::path folder = program_folder();
  return (is_of_build(folder) ? folder : folder.parent_path() / "libexec" / "ringside") / name;
}

std::string how_to_get_command_program(const std::string& name) {
  const fs::path folder = program_folder();
  if (!is_of_build(folder)) return "install Ringside (Debian: the package ringside) again";
  return formatted("build it: cmake --build {} --target {}", printable(folder.parent_path().string()), name);
}

}  // namespace ringside
