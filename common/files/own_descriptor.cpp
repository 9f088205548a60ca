// SPDX-License-Identifier: BSD-3-Clause
#include "common/files/own_descriptor.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <system_error>

#include "common/files/standard_streams.hpp"
#include "common/text/decimal.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

bool is_one_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && (S_ISREG(a.st_mode) || S_ISFIFO(a.st_mode));
}

/// Whether an output to `path` goes to the file or pipe that `descriptor` has open.
bool goes_to(const std::string& path, int descriptor) {
  const std::optional<int> through = descriptor_of_output(path);
  if (!through) return false;
  struct stat output {};
  struct stat other {};
  return *through == descriptor ||
         (fstat(*through, &output) == 0 && fstat(descriptor, &other) == 0 && is_one_file(output, other));
}

}  // namespace

std::optional<int> descriptor_named(const std::string& path) {
  constexpr int kMostLinks = 40;  // the kernel's limit
  std::error_code error;
  const fs::path own = fs::canonical("/proc/self/fd", error);
  if (error) return std::nullopt;
  fs::path at = fs::absolute(path, error);
  for (int links = 0; links < kMostLinks && !error; ++links) {
    const std::optional<std::uint64_t> number = whole_number(at.filename().string());
    const bool fits = number && *number <= std::numeric_limits<int>::max();
    if (fits && fs::weakly_canonical(at.parent_path(), error) == own) return static_cast<int>(*number);
    if (!fs::is_symlink(fs::symlink_status(at, error))) return std::nullopt;
    const fs::path target = fs::read_symlink(at, error);
    at = target.is_absolute() ? target : at.parent_path() / target;
  }
  return std::nullopt;
}

bool is_standard_output(std::string_view path) noexcept {
  return path == "-";
}

std::string output_name(const std::string& path) {
  return is_standard_output(path) ? "standard output" : path;
}

std::optional<int> descriptor_of_output(const std::string& path) {
  if (is_standard_output(path)) return STDOUT_FILENO;
  struct stat there {};
  const bool exists = stat(path.c_str(), &there) == 0;
  if (const std::optional<int> named = descriptor_named(path)) {
    // Only a regular file or a pipe is written through the descriptor: a device has no offset and nothing to truncate.
    if (!exists || S_ISREG(there.st_mode) || S_ISFIFO(there.st_mode)) return named;
    return std::nullopt;
  }
  for (const int standard : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat open {};
    if (exists && fstat(standard, &open) == 0 && is_one_file(there, open)) return standard;
  }
  return std::nullopt;
}

void write_beside_output(const std::string& path, std::string_view text) noexcept {
  try {
    if (!goes_to(path, STDOUT_FILENO)) {
      write_standard_output(text);
    } else if (!goes_to(path, STDERR_FILENO)) {
      write_standard_error(text);
    }
  } catch (const std::bad_alloc&) {  // this loses only a line for the user
  }
}

}  // namespace ringside
