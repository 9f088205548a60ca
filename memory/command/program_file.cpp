// SPDX-License-Identifier: BSD-3-Clause
// Finds the file of the program that `run` is to start, and checks whether a library can be preloaded.
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string_view>
#include <vector>

#include "common/platform/error.hpp"
#include "common/platform/unique_fd.hpp"
#include "common/text/printable.hpp"
#include "memory/command/commands.hpp"
#include "memory/system/sanitizer.hpp"

namespace ringside {
namespace {

constexpr int kMostInterpreters = 5;  // as in the kernel: a script's interpreter may be a script

/// Returns 0, or the errno value that exec would give.
int exec_error(const std::string& file) {
  struct stat status {};
  if (stat(file.c_str(), &status) != 0) return errno;
  if (!S_ISREG(status.st_mode)) return EACCES;
  return access(file.c_str(), X_OK) == 0 ? 0 : errno;
}

Error cannot_start(const std::string& program, int error) {
  return usage_error("{}: cannot be started: {}; expected a program in PATH or a path", shortened(program),
                     errno_text(error));
}

Error not_preloadable(const std::string& file, std::string_view found) {
  return usage_error(
      "{}: {}; expected a program that is linked dynamically for this machine, keeps its user and has no sanitizer",
      shortened(file), found);
}

void refuse_other_user(const std::string& file) {
  struct stat status {};
  if (stat(file.c_str(), &status) != 0) throw cannot_start(file, errno);
  if ((status.st_mode & S_ISUID) != 0) throw not_preloadable(file, "found a setuid program");
  if ((status.st_mode & S_ISGID) != 0) throw not_preloadable(file, "found a setgid program");
  if (getxattr(file.c_str(), "security.capability", nullptr, 0) > 0)
    throw not_preloadable(file, "found a program with file capabilities");
}

void refuse_static(const std::string& file, int fd, const Elf64_Ehdr& header) {
  if (header.e_ident[EI_CLASS] != ELFCLASS64) throw not_preloadable(file, "found a program of 32 bits");
#if defined(__x86_64__)
  if (header.e_machine != EM_X86_64) throw not_preloadable(file, "found a program for another processor");
#endif
  std::vector<Elf64_Phdr> parts(header.e_phnum);
  const auto bytes = static_cast<ssize_t>(parts.size() * sizeof parts[0]);
  if (header.e_phentsize != sizeof parts[0] ||
      pread(fd, parts.data(), static_cast<size_t>(bytes), static_cast<off_t>(header.e_phoff)) != bytes) {
    throw not_preloadable(file, "found a damaged program");
  }
  for (const Elf64_Phdr& part : parts) {
    if (part.p_type == PT_INTERP) return;
  }
  throw not_preloadable(file, "found a static program");
}

/// The interpreter that a script's first line names.
std::string interpreter_of(const std::string& line) {
  std::istringstream words(line.substr(2, line.find('\n') - 2));
  std::string interpreter;
  words >> interpreter;
  return interpreter;
}

}  // namespace

std::string find_program(const std::string& program) {
  if (program.find('/') != std::string::npos) {
    const int error = exec_error(program);
    if (error != 0) throw cannot_start(program, error);
    return program;
  }
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path);
  int error = ENOENT;
  for (std::string folder; !program.empty() && std::getline(folders, folder, ':');) {
    const std::string file = (folder.empty() ? "." : folder) + "/" + program;
    const int here = exec_error(file);
    if (here == 0) return file;
    if (here == EACCES) error = EACCES;
  }
  throw cannot_start(program, error);
}

void refuse_unless_preloadable(const std::string& file) {
  std::string now = file;
  for (int followed = 0; followed <= kMostInterpreters; ++followed) {
    refuse_other_user(now);
    const UniqueFd fd(open(now.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.valid()) return;  // an executable file that cannot be read: exec reports any error
    char begin[512] = "";
    const ssize_t count = pread(fd.get(), begin, sizeof begin - 1, 0);
    if (count >= static_cast<ssize_t>(sizeof(Elf64_Ehdr)) && std::memcmp(begin, ELFMAG, SELFMAG) == 0) {
      Elf64_Ehdr header;
      std::memcpy(&header, begin, sizeof header);
      refuse_static(now, fd.get(), header);
      if (const char* const sanitizer = memory::sanitizer_of(fd.get()); sanitizer != nullptr)
        throw not_preloadable(now, fmt::format("found a program with {}, which itself replaces malloc", sanitizer));
      return;
    }
    if (count < 3 || begin[0] != '#' || begin[1] != '!') {
      throw not_preloadable(now, "found neither a program nor a script that names its interpreter (#!)");
    }
    now = interpreter_of(begin);
    const int error = exec_error(now);
    if (error != 0) throw cannot_start(now, error);
  }
  throw not_preloadable(file, "found too many scripts, each of which is the interpreter of the one before");
}

void refuse_sanitizers(const std::string& libraries) {
  std::string words = libraries;
  std::replace(words.begin(), words.end(), ':', ' ');
  std::istringstream names(words);
  for (std::string name; names >> name;) {
    // A name without a path cannot be opened here, because the loader searches for such a library in its own folders.
    const UniqueFd fd(open(name.c_str(), O_RDONLY | O_CLOEXEC));
    const bool found = name.find('/') == std::string::npos ? name.find("san.so") != std::string::npos
                                                           : fd.valid() && memory::sanitizer_of(fd.get()) != nullptr;
    if (found) {
      throw usage_error(
          "LD_PRELOAD: found {}, the library of a sanitizer, which itself replaces malloc; expected other libraries",
          shortened(name));
    }
  }
}

}  // namespace ringside
