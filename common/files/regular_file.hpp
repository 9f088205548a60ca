// SPDX-License-Identifier: BSD-3-Clause
// Opens files whose names other users may have made, without waiting. Also has functions that read or write a range of
// a file completely. An ordinary open(2) of a named pipe without a writer, a device or a leased file can wait without
// limit. open_regular refuses anything but a regular file.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "common/platform/unique_fd.hpp"

namespace ringside {

/// The result of `open_regular`: a descriptor with its status, or the reason why the file was not opened.
struct RegularFile {
  UniqueFd fd;
  struct stat status {};
  int error = 0;     // an errno value if `fd` is invalid and `kind` is empty
  std::string kind;  // if not a regular file was found: its kind, as `kind_of` names it

  bool valid() const noexcept { return fd.valid(); }
  /// Why `fd` is invalid: "No such file or directory", "found a named pipe".
  std::string why() const;
};

/// Opens a regular file without waiting for another process, with one exception: if a process has leased the file
/// (fcntl F_SETLEASE: a Samba oplock, an NFS delegation), the open is repeated for up to a second. flags, mode: as for
/// open(2); O_CLOEXEC, O_NONBLOCK and O_NOCTTY are added. Follows symbolic links unless `flags` contains O_NOFOLLOW.
/// Throws only std::bad_alloc.
RegularFile open_regular(const std::string& path, int flags, mode_t mode = 0);

/// Like open_regular, adds these flags to open(2) and repeats the call, but opens a file of any kind. If it fails, the
/// result is invalid and errno is set.
UniqueFd open_without_waiting(const std::string& path, int flags, mode_t mode = 0);

/// Like open_regular for reading, but also opens a pipe that is one of this process's own descriptors (`<(COMMAND)`,
/// /dev/stdin), because the user has made such a pipe, and not a stranger. Reading from the pipe waits for its writer.
RegularFile open_input(const std::string& path);

/// The word for a kind of file: "regular file", "folder", "named pipe", "socket", "device", "symbolic link".
const char* kind_of(mode_t mode) noexcept;

/// Reads from `offset` on until `to` is full or the file ends, and continues after a signal. Returns the number of
/// bytes read. If these do not fill `to`, errno is 0 if the file ended, and otherwise has the reason.
std::size_t read_whole(int fd, std::span<std::byte> to, std::uint64_t offset) noexcept;
/// Writes the bytes from `offset` on, and continues after a signal. Returns the number of bytes written; errno has the
/// reason if these are not all.
std::size_t write_whole(int fd, std::span<const std::byte> bytes, std::uint64_t offset) noexcept;

}  // namespace ringside
