// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run/attendance.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

#include "cli/supervision/attached_process.hpp"
#include "common/files/lock_holder.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/version.hpp"
#include "common/program/stop_signal.hpp"
#include "common/program/topology.hpp"
#include "common/text/decimal.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

constexpr std::string_view kOption = "--attend=";

/// Closes the descriptors that this process inherited from the program. Otherwise the reader of an inherited pipe would
/// wait for the pipe's end, and an inherited port would stay in use.
void close_others(int own, int pidfd) {
  std::vector<int> found;
  std::error_code none;  // without /proc, the descriptors remain open
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", none)) {
    if (const auto number = whole_number(entry.path().filename().string())) found.push_back(static_cast<int>(*number));
  }
  for (const int fd : found) {
    if (fd > STDERR_FILENO && fd != own && fd != pidfd) close(fd);
  }
}

void run_on(const CoreList& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cores.cpus) {
    if (cpu < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(cpu), &set);
  }
  sched_setaffinity(0, sizeof set, &set);  // the kernel ignores cores that are not allowed
}

/// The command line of a process, each word followed by NUL; empty if the process does not exist.
std::string command_of(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/cmdline", pid), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Whether the process `holder` is an analyzer whose program has ended.
bool outlives_its_program(pid_t holder) {
  constexpr std::string_view kPublisher = "--publisher=";
  const std::string words = command_of(holder);
  const std::size_t at = words.find(kPublisher);
  if (at == std::string::npos) return false;
  const auto publisher = whole_number(words.substr(at + kPublisher.size(), words.find('\0', at) - at - kPublisher.size()));
  return publisher && !AttachedProcess(static_cast<pid_t>(*publisher)).alive();
}

/// Standard output is for the program's data, so our messages go to standard error.
void take_streams() {
  const UniqueFd nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (nothing.valid()) dup2(nothing.get(), STDIN_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
}

}  // namespace

std::optional<std::string> Attendance::asked_in(int argc, const char* const* argv) {
  if (argc < 2 || !std::string_view(argv[1]).starts_with(kOption)) return std::nullopt;
  return std::string(argv[1]).substr(kOption.size());
}

Attendance::Attendance(const std::string& value) : program_(getppid()) {
  const std::size_t colon = value.find(':');
  const auto fd = whole_number(value.substr(0, colon));
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (!fd || colon == std::string::npos || getsockname(static_cast<int>(*fd), reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    throw usage_error(
        "--attend: found '{}', expected the value that libringside gives; this option is not for the command line",
        shortened(value));
  }
  socket_.reset(static_cast<int>(*fd));
  fcntl(socket_.get(), F_SETFD, FD_CLOEXEC);
  pidfd_.reset(static_cast<int>(syscall(SYS_pidfd_open, program_, 0)));
  if (!pidfd_.valid()) {
    refuse(system_error("cannot watch process {}: {}; Linux 5.3 or newer is needed", program_, errno_text(errno)));
    _exit(static_cast<int>(ExitCode::kSystem));
  }
  if (getppid() != program_) _exit(1);  // the program has ended, and its number may belong to another process
  const CoreList cores = colon + 1 < value.size() ? parse_core_list(value.substr(colon + 1), "--attend") : CoreList{};
  if (const pid_t child = fork(); child != 0) _exit(child < 0 ? 1 : 0);
  setsid();
  const sigset_t stop = stop_signals();
  sigprocmask(SIG_BLOCK, &stop, nullptr);  // the program decides when the run ends
  close_others(socket_.get(), pidfd_.get());
  take_streams();
  if (!cores.cpus.empty()) run_on(cores);
  tell("version", version());
  tell("pid", std::to_string(getpid()));
}

std::string Attendance::words() const {
  std::string words = command_of(program_);
  while (!words.empty() && words.back() == '\0') words.pop_back();
  for (char& letter : words) {
    if (letter == '\0') letter = ' ';
  }
  return words.empty() ? fmt::format("process {}", program_) : words;
}

UniqueFd Attendance::copy_of_socket() const {
  UniqueFd copy(fcntl(socket_.get(), F_DUPFD_CLOEXEC, 0));
  if (!copy.valid()) throw system_error("cannot copy a descriptor: {}", errno_text(errno));
  return copy;
}

void Attendance::tell(std::string_view name, std::string_view value) noexcept {
  send(fmt::format("{}={}", name, value));
}

void Attendance::ready(const Variables& variables) noexcept {
  for (const auto& [name, value] : variables) tell(name, value);
  send("ready");
}

void Attendance::refuse(const Error& error) noexcept {
  send(fmt::format("refused={} {}", static_cast<int>(error.code()), error.what()));
}

void Attendance::send(std::string_view record) noexcept {
  const std::string bytes = std::string(record) + '\0';
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t sent = ::send(socket_.get(), bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return;  // the program has ended
    at += static_cast<std::size_t>(sent);
  }
}

void wait_for_predecessor(const std::string& pool, double most_s) {
  constexpr int kSliceMs = 5;
  struct stat file {};
  const std::int64_t until_ns = now_ns() + static_cast<std::int64_t>(most_s * 1e9);
  while (stat(pool.c_str(), &file) == 0 && now_ns() < until_ns) {
    const std::optional<pid_t> holder = flock_holder(file);
    if (!holder || !outlives_its_program(*holder)) return;
    poll(nullptr, 0, kSliceMs);
  }
}

}  // namespace ringside
