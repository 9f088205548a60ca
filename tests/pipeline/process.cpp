// SPDX-License-Identifier: BSD-3-Clause
#include "tests/pipeline/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <stdexcept>

namespace ringside::testing {

Process::Process(const std::string& program, const std::vector<std::string>& arguments,
                 const std::function<void()>& in_child) {
  std::array<int, 2> out{};
  std::array<int, 2> err{};
  if (pipe2(out.data(), O_CLOEXEC) != 0 || pipe2(err.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  const std::string path = std::string(RINGSIDE_BIN_DIR) + "/" + program;
  Words words = joined({path}, arguments);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork");
  if (pid_ == 0) {
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    setenv("XDG_CACHE_HOME", "/nonexistent", 1);  // a calibration of this user would change how runs reduce
    if (in_child) in_child();
    execv(path.c_str(), argv.data());
    _exit(127);
  }
  close(out[1]);
  close(err[1]);
  out_ = out[0];
  err_ = err[0];
}

Process::~Process() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (out_ >= 0) close(out_);
  if (err_ >= 0) close(err_);
}

void Process::signal(int number) const {
  kill(pid_, number);
}

bool Process::running() const {
  siginfo_t ended{};
  waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT);
  return ended.si_pid == 0;
}

bool Process::read_some() {
  std::array<pollfd, 2> open = {{{out_, POLLIN, 0}, {err_, POLLIN, 0}}};
  if (out_ < 0 && err_ < 0) return false;
  poll(open.data(), open.size(), -1);
  const auto drain = [](const pollfd& ready, int& fd, std::string& text) {
    if (fd < 0 || ready.revents == 0) return;
    std::array<char, 4096> buffer;
    const ssize_t count = read(fd, buffer.data(), buffer.size());
    if (count > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(count));
    } else {
      close(fd);
      fd = -1;
    }
  };
  drain(open[0], out_, finished_.out);
  drain(open[1], err_, finished_.err);
  return true;
}

bool Process::wait_for(const std::string& text, int times, const std::string& read, const int& fd) {
  for (std::size_t from = 0; times > 0; --times) {
    std::size_t at = 0;
    while ((at = read.find(text, from)) == std::string::npos) {
      if (fd < 0 || !read_some()) return false;
    }
    from = at + text.size();
  }
  return true;
}

bool Process::wait_for_err(const std::string& text) {
  return wait_for(text, 1, finished_.err, err_);
}

bool Process::wait_for_out(const std::string& text, int times) {
  return wait_for(text, times, finished_.out, out_);
}

Finished Process::finish() {
  while (read_some()) {
  }
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  if (WIFEXITED(status)) finished_.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) finished_.death_signal = WTERMSIG(status);
  return finished_;
}

Finished run(const std::string& program, const std::vector<std::string>& arguments,
             const std::function<void()>& in_child) {
  return Process(program, arguments, in_child).finish();
}

}  // namespace ringside::testing
