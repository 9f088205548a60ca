// SPDX-License-Identifier: BSD-3-Clause
#include "cli/supervision/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>

#include "common/platform/error.hpp"
#include "common/platform/process.hpp"
#include "common/program/stop_signal.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

constexpr std::size_t kMostLineBytes = std::size_t{1} << 20;  // the limit of the memory for a line that does not end

Pipe new_pipe_to_poll() {
  Pipe pipe = new_pipe();
  fcntl(pipe.read_end.get(), F_SETFL, O_NONBLOCK);
  return pipe;
}

/// Reports a failed exec. This function runs in the child after fork, where only async-signal-safe calls are allowed.
void report_exec_failure(const std::string& begin, int error) noexcept {
  const char* why = strerrordesc_np(error);
  const char* advice = error == E2BIG ? "; expected fewer and shorter options, and a smaller environment\n"
                                      : "; expected the programs of one release side by side\n";
  for (const std::string_view part :
       {std::string_view(begin), std::string_view(why != nullptr ? why : "unknown error"), std::string_view(advice)}) {
    if (write(STDERR_FILENO, part.data(), part.size()) < 0) return;
  }
}

/// Waits for the exec of a child, which has the other end of the pipe. Returns 0 if exec succeeded, else exec's errno
/// value.
int exec_error(const UniqueFd& read_end) noexcept {
  int error = 0;
  ssize_t count;
  do {
    count = read(read_end.get(), &error, sizeof error);
  } while (count < 0 && errno == EINTR);
  return count == sizeof error ? error : 0;
}

/// Prepares the child between fork and exec, where only async-signal-safe calls are allowed. The child gets a new
/// process group, no blocked signals, and `death_signal` when the parent dies.
void begin_child(pid_t parent, int death_signal) noexcept {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, death_signal);
  if (getppid() != parent) _exit(127);  // the parent died before the line above took effect
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// The environment of this process, in which the variables in `set` have the given values.
std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& set) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const bool replaced = std::any_of(set.begin(), set.end(), [text](const auto& one) {
      return text.starts_with(one.first) && text.substr(one.first.size()).starts_with('=');
    });
    if (!replaced) variables.emplace_back(text);
  }
  for (const auto& [name, value] : set) variables.push_back(name + "=" + value);
  return variables;
}

/// Starts the program `words[0]`, which is searched for in PATH as a shell does, with the other words as its arguments.
/// The child calls `prepare`, and executes the program if this returns true. Returns when exec has succeeded; otherwise
/// throws failed(errno).
template <class Prepare, class Failed>
pid_t executed(std::vector<std::string> words, const std::vector<std::pair<std::string, std::string>>& set,
               int death_signal, const Prepare& prepare, const Failed& failed) {
  const std::vector<char*> argv = exec_list(words);
  std::vector<std::string> variables = environment_with(set);
  const std::vector<char*> environment = exec_list(variables);
  Pipe failure = new_pipe();  // a successful exec closes the pipe; after a failed exec, the pipe contains the error
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) throw system_error("cannot start {}: {}", words.front(), errno_text(errno));
  if (pid == 0) {
    begin_child(parent, death_signal);
    // This process ignores SIGPIPE and SIGXFSZ, as all our programs do. If a shell started it in the background, it
    // also ignores the other two signals, which ask a program to stop.
    for (const int ignored : {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM}) ::signal(ignored, SIG_DFL);
    if (prepare()) execvpe(argv[0], argv.data(), environment.data());
    const int error = errno;
    (void)!write(failure.write_end.get(), &error, sizeof error);
    _exit(127);
  }
  failure.write_end.reset();
  if (const int error = exec_error(failure.read_end); error != 0) {
    waitpid(pid, nullptr, 0);
    throw failed(error);
  }
  return pid;
}

}  // namespace

Child::Child(const std::string& program, const std::vector<std::string>& arguments) {
  Pipe report = new_pipe_to_poll();
  Pipe errors = new_pipe_to_poll();
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.push_back("--report-fd=" + std::to_string(report.write_end.get()));
  const std::vector<char*> argv = exec_list(words);

  const std::string failed_begin = "ringside: cannot execute '" + printable(program) + "': ";
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) throw system_error("cannot start {}: {}", program, errno_text(errno));
  if (pid_ == 0) {
    begin_child(parent, SIGTERM);
    leave_stop_signals_to_parent();
    fcntl(report.write_end.get(), F_SETFD, 0);
    dup2(errors.write_end.get(), STDERR_FILENO);
    execv(program.c_str(), argv.data());
    report_exec_failure(failed_begin, errno);
    _exit(static_cast<int>(ExitCode::kSystem));
  }
  report_ = std::move(report.read_end);
  stderr_ = std::move(errors.read_end);
  watch(program);
}

/// Opens the pidfd of the process. If this fails, kills the process, collects its status, and throws Error.
void Child::watch(const std::string& program) {
  running_ = true;
  pidfd_.reset(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  if (pidfd_.valid()) return;
  const int error = errno;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  throw system_error("cannot watch {}: {}; Linux 5.3 or newer is needed", program, errno_text(error));
}

Child::Child(const UserProgram& program) : is_group_(true) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  for (const int cpu : program.cpus) CPU_SET(static_cast<std::size_t>(cpu), &cpus);
  const bool without_input = program.without_streams || isatty(STDIN_FILENO) == 1;
  const UniqueFd nothing(without_input ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1);
  const auto prepare = [&] {
    if (nothing.valid()) dup2(nothing.get(), STDIN_FILENO);
    if (program.without_streams && nothing.valid()) dup2(nothing.get(), STDOUT_FILENO);
    return sched_setaffinity(0, sizeof cpus, &cpus) == 0;
  };
  pid_ = executed(program.words, program.environment, SIGTERM, prepare, [&](int error) {
    return usage_error("{}: cannot be started: {}; expected a program in PATH or a path",
                       shortened(program.words.front()), errno_text(error));
  });
  watch(program.words.front());
}

Child::Child(const Interpreter& interpreter) : is_group_(true) {
  Pipe report = new_pipe_to_poll();
  Pipe errors = new_pipe_to_poll();
  Pipe commands = new_pipe();
  fcntl(commands.write_end.get(), F_SETFL, O_NONBLOCK);
  std::vector<std::string> words = interpreter.words;
  words.push_back(std::to_string(report.write_end.get()));
  words.push_back(std::to_string(commands.read_end.get()));
  const UniqueFd nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const auto prepare = [&] {
    leave_stop_signals_to_parent();
    fcntl(report.write_end.get(), F_SETFD, 0);
    fcntl(commands.read_end.get(), F_SETFD, 0);
    dup2(nothing.get(), STDIN_FILENO);
    dup2(errors.write_end.get(), STDOUT_FILENO);
    dup2(errors.write_end.get(), STDERR_FILENO);
    return true;
  };
  pid_ = executed(words, interpreter.environment, SIGKILL, prepare, [&](int error) {
    return system_error("{}: cannot be started: {}", shortened(words.front()), errno_text(error));
  });
  report_ = std::move(report.read_end);
  stderr_ = std::move(errors.read_end);
  commands_ = std::move(commands.write_end);
  watch(words.front());
}

Child::Child(AttendedProgram program)
    : pid_(program.pid), is_attended_(true), pidfd_(std::move(program.pidfd)), report_(std::move(program.connection)), running_(true) {
  fcntl(report_.get(), F_SETFL, O_NONBLOCK);
}

std::string Child::how_it_ended() const {
  return death_signal_ != 0 ? fmt::format("was killed by signal {} ({})", death_signal_, strsignal(death_signal_))
                            : fmt::format("ended with exit code {}", exit_code_);
}

Child::~Child() {
  if (is_attended_) return;
  if (running_) signal(SIGKILL);
  if (running_ || is_group_) waitpid(pid_, nullptr, 0);
}

void Child::signal(int number) noexcept {
  if (is_attended_) return;
  if (running_ || is_group_) kill(is_group_ ? -pid_ : pid_, number);
}

bool Child::tell(const std::string& line) noexcept {
  return commands_.valid() &&
         write(commands_.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size());
}

void Child::read_lines(UniqueFd& fd, std::string& partial, const std::function<void(const std::string&)>& on_line) {
  std::array<char, 4096> buffer;
  // The reads take more bytes than a pipe holds, so that everything that an ended process wrote is read. Their number
  // is limited, because a process may write as fast as this one reads.
  constexpr int kMostReads = 64;
  for (int reads = 0; fd.valid() && reads < kMostReads; ++reads) {
    const ssize_t count = read(fd.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;  // no further bytes have arrived
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
    if (partial.size() > kMostLineBytes) on_line(std::exchange(partial, {}));
  }
}

void Child::reap() noexcept {
  if (is_attended_) {
    pollfd ended{pidfd_.get(), POLLIN, 0};
    running_ = running_ && poll(&ended, 1, 0) == 0;
    return;
  }
  siginfo_t ended{};
  const int options = WEXITED | WNOHANG | (is_group_ ? WNOWAIT : 0);
  if (!running_ || waitid(P_PID, static_cast<id_t>(pid_), &ended, options) != 0 || ended.si_pid != pid_) return;
  running_ = false;
  (ended.si_code == CLD_EXITED ? exit_code_ : death_signal_) = ended.si_status;
}

}  // namespace ringside
