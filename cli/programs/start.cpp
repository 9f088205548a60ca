// SPDX-License-Identifier: BSD-3-Clause
#include "cli/programs/start.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <new>

#include "common/platform/error.hpp"
#include "common/platform/process.hpp"
#include "common/platform/version.hpp"
#include "common/program/program_folder.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

void announce_version() {
  if (setenv(kStartedBy, version(), 1) != 0) throw std::bad_alloc();
}

Error not_started(const std::string& program, const fs::path& path, const std::string& command, int error) {
  return system_error("{}: cannot be started ({}); expected the program of `ringside {}`; {}", printable(path.string()),
                      errno_text(error), command, how_to_get_command_program(program));
}

}  // namespace

std::exception_ptr become_program(const std::string& program, char* const* argv) noexcept {
  try {
    const fs::path path = command_program(program);
    announce_version();
    execv(path.c_str(), argv);
    throw not_started(program, path, argv[1], errno);
  } catch (...) {
    return std::current_exception();
  }
}

std::string output_of_program(const std::string& program, std::vector<std::string> arguments) {
  const fs::path path = command_program(program);
  announce_version();
  Pipe output = new_pipe();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output.write_end.get(), STDOUT_FILENO);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, path.c_str(), &actions, nullptr, exec_list(arguments).data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw not_started(program, path, arguments.at(1), error);
  output.write_end.reset();

  std::string text;
  if (const int failed = read_to_end(output.read_end.get(), text)) {
    throw system_error("pipe: cannot be read ({})", errno_text(failed));
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw system_error("{}: `ringside {}` failed; expected its output", printable(path.string()), arguments.at(1));
  }
  return text;
}

}  // namespace ringside
