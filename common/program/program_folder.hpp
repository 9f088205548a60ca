// SPDX-License-Identifier: BSD-3-Clause
// The folders of Ringside's programs, relative to the executable of this process. The programs that users call are in
// one folder, and the programs that implement commands of `ringside` are in ../libexec/ringside; in a build all of them
// are in one folder. So an installation can be moved, and no program contains the path of its build.
#pragma once

#include <filesystem>
#include <string>

namespace ringside {

/// The folder of the programs that users call, even if this process's own program is in another folder. Throws Error
/// (exit code 3) if /proc/self/exe cannot be read.
std::filesystem::path program_folder();

/// The path of a program that implements a command of `ringside`, whether the file exists or not. Throws the errors of
/// program_folder.
std::filesystem::path command_program(const std::string& name);

/// The advice of an error message about that program: "build it: cmake --build FOLDER --target NAME" in a build,
/// otherwise the name of the package to install. Throws the errors of program_folder.
std::string how_to_get_command_program(const std::string& name);

}  // namespace ringside
