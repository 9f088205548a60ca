// SPDX-License-Identifier: BSD-3-Clause
#include "cli/supervision/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include "common/platform/error.hpp"
#include "common/platform/printable.hpp"

namespace ringside {
namespace {

struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;
};

Pipe new_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw system_error("cannot create a pipe: {}", errno_text(errno));
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

/// Runs in the child between fork and exec, where only async-signal-safe calls are allowed.
void report_exec_failure(const std::string& begin, int error) noexcept {
  const char* why = strerrordesc_np(error);
  const char* advice = error == E2BIG ? "; expected fewer and shorter options, and a smaller environment\n"
                                      : "; expected the programs of one release side by side\n";
  for (const std::string_view part :
       {std::string_view(begin), std::string_view(why != nullptr ? why : "unknown error"), std::string_view(advice)}) {
    if (write(STDERR_FILENO, part.data(), part.size()) < 0) return;
  }
}

}  // namespace

Child::Child(const std::string& program, const std::vector<std::string>& arguments) {
  Pipe report = new_pipe();
  Pipe errors = new_pipe();
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.push_back("--report-fd=" + std::to_string(report.write_end.get()));
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  const std::string failed_begin = "ringside: cannot execute '" + printable(program) + "': ";
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) throw system_error("cannot start {}: {}", program, errno_text(errno));
  if (pid_ == 0) {
    // Between fork and exec, only async-signal-safe calls are allowed.
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(127);  // the parent died before the line above took effect
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    fcntl(report.write_end.get(), F_SETFD, 0);
    dup2(errors.write_end.get(), STDERR_FILENO);
    execv(program.c_str(), argv.data());
    report_exec_failure(failed_begin, errno);
    _exit(static_cast<int>(ExitCode::kSystem));
  }
  running_ = true;
  report_ = std::move(report.read_end);
  stderr_ = std::move(errors.read_end);
  pidfd_.reset(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  if (!pidfd_.valid())
    throw system_error("cannot watch {}: {}; Linux 5.3 or newer is needed", program, errno_text(errno));
}

std::string Child::how_it_ended() const {
  return death_signal_ != 0 ? fmt::format("was killed by signal {} ({})", death_signal_, strsignal(death_signal_))
                            : fmt::format("ended with exit code {}", exit_code_);
}

Child::~Child() {
  if (!running_) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void Child::signal(int number) noexcept {
  if (running_) kill(pid_, number);
}

void Child::read_lines(UniqueFd& fd, std::string& partial, const std::function<void(const std::string&)>& on_line) {
  std::array<char, 4096> buffer;
  while (fd.valid()) {
    const ssize_t count = read(fd.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;  // nothing more for now
    if (count == 0) {
      if (!partial.empty()) on_line(partial);
      partial.clear();
      fd.reset();
      return;
    }
    partial.append(buffer.data(), static_cast<std::size_t>(count));
    for (std::size_t end; (end = partial.find('\n')) != std::string::npos; partial.erase(0, end + 1)) {
      on_line(partial.substr(0, end));
    }
  }
}

void Child::reap() noexcept {
  int status = 0;
  if (!running_ || waitpid(pid_, &status, WNOHANG) != pid_) return;
  running_ = false;
  if (WIFEXITED(status)) exit_code_ = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) death_signal_ = WTERMSIG(status);
}

}  // namespace ringside
