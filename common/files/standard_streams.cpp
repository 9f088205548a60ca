// SPDX-License-Identifier: BSD-3-Clause
#include "common/files/standard_streams.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <iostream>

namespace ringside {
namespace {

// The errno value of the first failed write: the C library discards this value and the text it could not write.
std::atomic<int> first_error{0};

void note_error(int error) noexcept {
  int none = 0;
  first_error.compare_exchange_strong(none, error);
}

class Buffer final : public std::streambuf {
  int_type overflow(int_type c) override {
    const char character = traits_type::to_char_type(c);
    return xsputn(&character, 1) == 1 ? c : traits_type::eof();
  }
  std::streamsize xsputn(const char* text, std::streamsize bytes) override {
    return write_standard_output({text, static_cast<std::size_t>(bytes)}) ? bytes : 0;
  }
};

}  // namespace

NotedOutput::NotedOutput() {
  static Buffer buffer;
  before_ = std::cout.rdbuf(&buffer);
}

NotedOutput::~NotedOutput() {
  std::cout.rdbuf(before_);
}

void hold_standard_descriptors() noexcept {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // open returns the lowest free number, which is `fd`. Standard output is opened read-only, so that writes fail.
    [[maybe_unused]] const int held = open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
  }
}

bool write_standard_output(std::string_view text) noexcept {
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!written) note_error(errno);
  return written && std::ferror(stdout) == 0;
}

int finish_standard_output() noexcept {
  errno = 0;
  if (std::fflush(stdout) != 0) note_error(errno);
  if (std::ferror(stdout) == 0) return 0;
  note_error(EIO);
  return first_error;
}

void write_standard_error(std::string_view text) noexcept {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void end_by_broken_pipe() noexcept {
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  signal(SIGPIPE, SIG_DFL);
  sigprocmask(SIG_UNBLOCK, &pipe, nullptr);
  raise(SIGPIPE);
}

}  // namespace ringside
