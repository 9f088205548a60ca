// SPDX-License-Identifier: BSD-3-Clause
#include "tests/kill/victim.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <fstream>

#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"

namespace ringside::testing {

Victim::Victim(const std::string& program, const std::vector<std::string>& arguments, const std::string& log) {
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const UniqueFd output(open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!output.valid()) throw system_error("{}: {}", log, errno_text(errno));
  // fork() is not used here, because it would copy the page tables of a process that has mapped many pools.
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.get(), STDERR_FILENO);
  const int failed = posix_spawn(&pid_, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw system_error("cannot start {}: {}", program, errno_text(failed));
  pidfd_.reset(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  if (!pidfd_.valid()) throw system_error("cannot watch {}: {}", program, errno_text(errno));
}

Victim::~Victim() {
  if (ended_) return;
  kill();
  reap(true);
}

void Victim::reap(bool block) {
  int status = 0;
  if (ended_ || waitpid(pid_, &status, block ? 0 : WNOHANG) != pid_) return;
  ended_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool Victim::running() {
  reap(false);
  return !ended_;
}

void Victim::kill() {
  if (!ended_) ::kill(pid_, SIGKILL);
}

std::optional<int> Victim::wait() {
  pollfd watched{pidfd_.get(), POLLIN, 0};
  if (!ended_ && poll(&watched, 1, kHangMs) > 0) reap(true);
  return ended_;
}

std::vector<pid_t> children_of(pid_t parent, const std::string& program) {
  std::vector<pid_t> found;
  std::ifstream children("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children");
  for (pid_t pid = 0; children >> pid;) {
    std::ifstream comm("/proc/" + std::to_string(pid) + "/comm");
    std::string name;
    std::getline(comm, name);
    if (name == program.substr(0, 15)) found.push_back(pid);  // the kernel keeps 15 characters of a name
  }
  return found;
}

bool wait_for_orphans() {
  const std::int64_t deadline = now_ns() + std::int64_t{kHangMs} * 1'000'000;
  while (true) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, WNOHANG);
    if (ended < 0 && errno == ECHILD) return true;
    if (ended > 0) continue;
    if (now_ns() > deadline) {
      for (const char* program : {"ringside-producer", "ringside-analyzer"}) {
        for (const pid_t pid : children_of(getpid(), program)) ::kill(pid, SIGKILL);
      }
      return false;
    }
    poll(nullptr, 0, 1);  // polls, because this process has no pidfd of its grandchildren
  }
}

bool let_work_begin(std::mt19937_64& random, const std::function<bool()>& progress) {
  if (std::uniform_int_distribution<int>(0, 3)(random) == 0) return true;
  for (const std::int64_t deadline = now_ns() + std::int64_t{kHangMs} * 1'000'000; !progress();) {
    if (now_ns() > deadline) return false;
    poll(nullptr, 0, 1);
  }
  return true;
}

void let_time_pass(std::mt19937_64& random, int at_most_ms) {
  const double share = std::uniform_real_distribution<double>(0, 1)(random);
  const auto us = static_cast<long>(share * share * at_most_ms * 1000);
  const timespec time{us / 1'000'000, us % 1'000'000 * 1000};
  ppoll(nullptr, 0, &time, nullptr);
}

std::string either(const char* one, const char* other, std::mt19937_64& random) {
  return std::uniform_int_distribution<int>(0, 1)(random) == 0 ? one : other;
}

bool one_in(int n, std::mt19937_64& random) {
  return std::uniform_int_distribution<int>(1, n)(random) == 1;
}

}  // namespace ringside::testing
