// SPDX-License-Identifier: BSD-3-Clause
#include "common/files/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include "common/files/own_descriptor.hpp"
#include "common/files/regular_file.hpp"
#include "common/platform/error.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

bool is_written_in_place(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) return false;
  if (!S_ISREG(status.st_mode)) return true;
  return faccessat(AT_FDCWD, folder_of(path).c_str(), W_OK | X_OK, AT_EACCESS) != 0;
}

}  // namespace

void check_output(const std::string& path, const std::string& option, const std::vector<KeptFile>& kept) {
  refuse_output(path, option, kept);
  const auto refuse = [&](int error, const char* expected) {
    throw system_error("{}: cannot write '{}': {}; expected a file {}", option, path, errno_text(error), expected);
  };
  if (const auto own = descriptor_of_output(path)) {
    const int flags = fcntl(*own, F_GETFL);
    // If standard output was closed, hold_standard_descriptors has opened it read-only.
    if (is_standard_output(path) && (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)) {
      throw system_error("standard output: cannot be written: it is closed; expected one that accepts all output");
    }
    if (flags < 0) refuse(errno, "or a descriptor that is open");
    return;
  }
  // ENOENT: there is no file yet, or a link to a file that does not exist; opening will make it.
  if (faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0 && errno != ENOENT) {
    refuse(errno, "that can be written");
  }
  if (is_written_in_place(path)) return;
  if (faccessat(AT_FDCWD, folder_of(path).c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    refuse(errno, "in a writable folder");
  }
}

void refuse_other_endings(const std::string& path, const std::string& option, const std::vector<std::string>& accepted,
                          const std::string& hint) {
  const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return;
  const std::string_view ending = name.substr(dot);
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const bool is_ending = ending.size() > 1 && is_letter(ending[1]) &&
                         std::all_of(ending.begin() + 2, ending.end(),
                                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
  if (!is_ending || std::find(accepted.begin(), accepted.end(), ending) != accepted.end() || !is_made_anew(path)) return;
  throw usage_error("{}: found '{}', expected a name that ends with {}, or has no ending{}{}", option, shortened(path),
                    fmt::format("{}", fmt::join(accepted, ", ")), hint.empty() ? "" : "; ", hint);
}

bool is_made_anew(const std::string& path) {
  return !descriptor_of_output(path) && !is_written_in_place(path);
}

OutputFile::OutputFile(std::string path, std::string option, std::vector<KeptFile> kept, NewFile::Until until_finished)
    : path_(std::move(path)), option_(std::move(option)), kept_(std::move(kept)) {
  refuse_output(path_, option_, kept_);
  if (is_standard_output(path_)) {
    file_.reset(stdout);
    return;
  }
  const std::optional<int> own = descriptor_of_output(path_);
  UniqueFd fd;
  if (own) {
    fd = duplicate(*own);
  } else if (is_written_in_place(path_)) {
    fd = open_in_place();
  } else {
    new_file_.emplace(path_, kOutputMode, until_finished);
    if (new_file_->fd().valid()) {
      fd = duplicate(new_file_->fd().get());
      direct_.emplace(new_file_->fd().get());
    }
  }
  if (!fd.valid()) fail(errno);
  file_.reset(fdopen(fd.get(), "wb"));
  if (!file_) fail(errno);
  fd.release();
}

/// Checks the opened file again before it is truncated, because the name may lead to another file by now.
UniqueFd OutputFile::open_in_place() const {
  UniqueFd fd = open_without_waiting(path_, O_WRONLY | O_CREAT, kOutputMode);
  struct stat opened {};
  if (!fd.valid() || fstat(fd.get(), &opened) != 0) fail(errno);
  if (S_ISREG(opened.st_mode)) {
    refuse_output(path_, option_, kept_);
    struct stat named {};
    if (stat(path_.c_str(), &named) != 0) fail(errno);
    if (named.st_dev != opened.st_dev || named.st_ino != opened.st_ino) fail(ESTALE);
    if (ftruncate(fd.get(), 0) != 0) fail(errno);
  }
  const int flags = fcntl(fd.get(), F_GETFL);
  if (flags < 0 || fcntl(fd.get(), F_SETFL, flags & ~O_NONBLOCK) != 0) fail(errno);
  return fd;
}

/// The duplicate has the same offset and flags.
UniqueFd OutputFile::duplicate(int descriptor) const {
  if (std::fflush(stdout) != 0) fail(errno);
  return UniqueFd(fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
}

void OutputFile::write(const void* data, std::size_t bytes) {
  const std::span<const std::byte> all(static_cast<const std::byte*>(data), bytes);
  if (direct_ && bytes >= kManyBytes) {
    put_many(all);
  } else {
    put(all);
  }
}

void OutputFile::put(std::span<const std::byte> bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) fail(errno);
}

/// The bytes before the first multiple of DirectFile's alignment and after the last one go through the page cache.
void OutputFile::put_many(std::span<const std::byte> bytes) {
  constexpr std::size_t kAligned = DirectFile::kAlignment;
  const off_t begin = ftello(file_.get());
  if (begin < 0) fail(errno);
  const std::size_t before = (kAligned - static_cast<std::size_t>(begin) % kAligned) % kAligned;
  put(bytes.first(before));
  if (std::fflush(file_.get()) != 0) fail(errno);
  const off_t offset = begin + static_cast<off_t>(before);
  const std::span<const std::byte> whole = bytes.subspan(before, (bytes.size() - before) / kAligned * kAligned);
  if (const int error = direct_->write(static_cast<std::uint64_t>(offset), whole)) fail(error);
  if (fseeko(file_.get(), offset + static_cast<off_t>(whole.size()), SEEK_SET) != 0) fail(errno);
  put(bytes.subspan(before + whole.size()));
}

int OutputFile::descriptor() {
  if (std::fflush(file_.get()) != 0) fail(errno);
  return fileno(file_.get());
}

void OutputFile::finish() {
  if (std::fflush(file_.get()) != 0) fail(errno);
  if (file_.get() == stdout) return;
  if (std::fclose(file_.release()) != 0) fail(errno);
  if (!new_file_) return;
  refuse_output(path_, option_, kept_);
  if (const int error = new_file_->publish()) fail(error);
}

void OutputFile::fail(int error) const {
  if (is_standard_output(path_)) throw std::system_error(error, std::generic_category());
  // ENXIO: a pipe without a reader.
  throw system_error("{}: cannot write '{}': {}", option_, path_,
                     error == ENXIO ? "no process reads it" : errno_text(error));
}

}  // namespace ringside
