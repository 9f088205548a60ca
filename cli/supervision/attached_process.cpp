// SPDX-License-Identifier: BSD-3-Clause
#include "cli/supervision/attached_process.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <system_error>

#include "common/platform/system_files.hpp"

namespace ringside {

AttachedProcess::AttachedProcess(pid_t pid)
    : pid_(pid), pidfd_(pid > 0 ? static_cast<int>(syscall(SYS_pidfd_open, pid, 0)) : -1) {}

bool AttachedProcess::alive() const noexcept {
  pollfd watched{pidfd_.get(), POLLIN, 0};
  return pidfd_.valid() && poll(&watched, 1, 0) == 0;
}

void AttachedProcess::signal(int number) const noexcept {
  if (pidfd_.valid()) syscall(SYS_pidfd_send_signal, pidfd_.get(), number, nullptr, 0);
}

std::vector<int> AttachedProcess::cores() const {
  std::set<int> cores;
  std::error_code ended;
  const std::string threads = "/proc/" + std::to_string(pid_) + "/task";
  for (const auto& thread : std::filesystem::directory_iterator(threads, ended)) {
    const auto id = number_of(thread.path().filename().string());
    cpu_set_t allowed;
    if (!id || sched_getaffinity(static_cast<pid_t>(*id), sizeof allowed, &allowed) != 0) continue;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(static_cast<std::size_t>(cpu), &allowed)) cores.insert(cpu);
    }
  }
  return {cores.begin(), cores.end()};
}

Handling handling_of(pid_t pid, int number) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    const bool caught = line.starts_with("SigCgt:");
    if (!caught && !line.starts_with("SigIgn:")) continue;
    const std::uint64_t set = std::strtoull(line.c_str() + std::strlen("SigCgt:"), nullptr, 16);
    if ((set >> (number - 1) & 1) != 0) return caught ? Handling::kCaught : Handling::kIgnored;
  }
  return Handling::kDefault;
}

void adopt_orphans() noexcept {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

std::vector<pid_t> orphans(const std::vector<pid_t>& own) {
  std::vector<pid_t> found;
  // This process has one thread. Kernels without CONFIG_PROC_CHILDREN do not have this file; this process then does not
  // notice orphans.
  for (const std::string& word : words(first_line("/proc/thread-self/children").value_or(""))) {
    const auto pid = static_cast<pid_t>(number_of(word).value_or(0));
    if (pid > 0 && std::find(own.begin(), own.end(), pid) == own.end()) found.push_back(pid);
  }
  return found;
}

}  // namespace ringside
