// SPDX-License-Identifier: BSD-3-Clause
// The folders of Ringside's programs, relative to the executable of this process. Programs that users call are in one
// folder, those with commands of `ringside` in ../libexec/ringside; in a build all are in one folder. So an
// installation can be moved, and no program contains the path of its build.
#pragma once

#include <filesystem>
#include <string>

namespace ringside {

/// The folder of the programs that users call, even if this process's own program is in another folder. Throws Error
/// (exit code 3) if /proc/self/exe cannot be read.
std::filesystem::path program_folder();

/// The path of a program with commands of `ringside`, whether the file exists or not. Throws as above.
std::filesystem::path command_program(const std::string& name);

/// The advice of an error message about that program: "build it: cmake --build FOLDER --target NAME" in a build, else
/// the package to install. Throws as above.
std::string how_to_get_command_program(const std::string& name);

}  // namespace ringside
