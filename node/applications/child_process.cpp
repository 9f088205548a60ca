// SPDX-License-Identifier: BSD-3-Clause
#include "node/applications/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "common/platform/process.hpp"
#include "common/program/stop_signal.hpp"

namespace ringside {
namespace {

std::vector<std::string> environment_with(const std::vector<std::string>& settings) {
  std::vector<std::string> all;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view here(*at);
    const auto same_name = [&](const std::string& setting) {
      return here.starts_with(std::string_view(setting).substr(0, setting.find('=') + 1));
    };
    if (std::none_of(settings.begin(), settings.end(), same_name)) all.emplace_back(here);
  }
  all.insert(all.end(), settings.begin(), settings.end());
  return all;
}

/// Starts the program. Returns the child's number, or throws Error.
pid_t started(const ChildCommand& command, const sigset_t& signals) {
  std::vector<std::string> words = command.words;
  std::vector<std::string> environment = environment_with(command.environment);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setsigmask(&attributes, &signals);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  const auto stream_to = [&](int stream, const std::string& file) {
    posix_spawn_file_actions_addopen(&files, stream, file.empty() ? "/dev/null" : file.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
  };
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  stream_to(STDOUT_FILENO, command.output);
  stream_to(STDERR_FILENO, command.messages);
  int error = 0;
  if (!command.folder.empty()) error = posix_spawn_file_actions_addchdir_np(&files, command.folder.c_str());
  pid_t child = -1;
  if (error == 0) {
    error = posix_spawn(&child, words.front().c_str(), &files, &attributes, exec_list(words).data(),
                        exec_list(environment).data());
  }
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) throw system_error("cannot start {}: {}", words.front(), errno_text(error));
  return child;
}

double seconds_of(const timeval& time) noexcept {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

bool ChildEnd::done() const noexcept {
  return !timed_out && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::string how_it_ended(const ChildEnd& end) {
  if (end.timed_out) return fmt::format("it was stopped after {:.0f} s", end.wall_s);
  if (WIFSIGNALED(end.status)) return fmt::format("signal {} ended it", WTERMSIG(end.status));
  return fmt::format("it ended with exit code {}", WEXITSTATUS(end.status));
}

HeldSignals::HeldSignals() {
  const sigset_t held = stop_signals();
  stops_ = UniqueFd(signalfd(-1, &held, SFD_CLOEXEC));
  if (!stops_.valid()) throw system_error("signalfd: {}", errno_text(errno));
  sigprocmask(SIG_BLOCK, &held, &before_);
}

HeldSignals::~HeldSignals() {
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

/// Waits for the child's end. Returns whether a signal requested a stop.
bool HeldSignals::wait_for(pid_t child, const ChildCommand& command, ChildEnd& end) const {
  const UniqueFd ended(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  const std::int64_t begin_ns = now_ns();
  bool stop = false;
  while (ended.valid()) {
    const double left_s = command.limit_s - seconds(now_ns() - begin_ns);
    if (command.limit_s > 0 && left_s <= 0 && !end.timed_out) {
      end.timed_out = true;
      kill(-child, SIGKILL);
    }
    const bool limited = command.limit_s > 0 && !end.timed_out;
    constexpr double kLongestWaitS = 3600;
    std::array<pollfd, 2> awaited{{{ended.get(), POLLIN, 0}, {stops_.get(), POLLIN, 0}}};
    const int wait_ms = limited ? static_cast<int>(std::min(left_s, kLongestWaitS) * 1000) + 1 : -1;
    if (poll(awaited.data(), awaited.size(), wait_ms) < 0 && errno != EINTR) break;
    if ((awaited[0].revents & POLLIN) != 0) break;
    if ((awaited[1].revents & POLLIN) != 0) {
      signalfd_siginfo taken{};
      stop = read(stops_.get(), &taken, sizeof taken) > 0 || stop;
      kill(command.group ? -child : child, SIGTERM);
    }
  }
  return stop;
}

ChildEnd HeldSignals::run(const ChildCommand& command) const {
  ChildEnd end;
  const std::int64_t begin_ns = now_ns();
  const pid_t child = started(command, before_);
  const bool stop = wait_for(child, command, end);
  siginfo_t left{};
  while (waitid(P_PID, static_cast<id_t>(child), &left, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  end.wall_s = seconds(now_ns() - begin_ns);
  if (command.group) kill(-child, SIGKILL);  // ends the group's remaining processes; the child's number is not free yet
  rusage used{};
  wait4(child, &end.status, 0, &used);
  if (stop) throw Error(ExitCode::kInterrupted, "stopped by a signal");
  end.cpu_s = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
  end.peak_resident_bytes = static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
  return end;
}

}  // namespace ringside
