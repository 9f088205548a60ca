// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/memory/apart.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace ringside::testing {
namespace {

constexpr int kMostSilenceMs = 120'000;

bool write_file(const char* path, const std::string& text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  const bool done = file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (file >= 0) close(file);
  return done;
}

std::string failed(const char* what) {
  return std::string(what) + ": " + std::strerror(errno);
}

/// Gives this process a separate mount namespace. A user other than root needs a user namespace for this. Returns an
/// empty text, or the reason for a failure.
std::string own_mounts() {
  const uid_t user = getuid();
  const gid_t group = getgid();
  if (user == 0) {
    if (unshare(CLONE_NEWNS) != 0) return failed("a mount namespace is not permitted");
  } else {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return failed("a user namespace is not permitted");
    if (!write_file("/proc/self/setgroups", "deny") ||
        !write_file("/proc/self/uid_map", "0 " + std::to_string(user) + " 1") ||
        !write_file("/proc/self/gid_map", "0 " + std::to_string(group) + " 1")) {
      return failed("a user namespace has no users");
    }
  }
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return failed("mounts cannot be made private");
  return {};
}

}  // namespace

size_t Ending::count() const {
  return static_cast<size_t>(std::count(lines.begin(), lines.end(), '\n'));
}

Ending in_process(const std::function<int()>& act) {
  Ending ending;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {0, 99, failed("pipe")};
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 2);
    close(ends[0]);
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // ends with its parent, which may itself be a child of in_process
    _exit(act());
  }
  close(ends[1]);
  char part[512];
  pollfd lines{ends[0], POLLIN, 0};
  for (;;) {
    const int ready = poll(&lines, 1, kMostSilenceMs);
    if (ready == 0) {  // SIGKILL, because a thread that waits in a fault blocks all other signals
      ending.lines += "ended after two minutes without a line\n";
      kill(child, SIGKILL);
      break;
    }
    const ssize_t got = ready < 0 ? -1 : read(ends[0], part, sizeof part);
    if (got == 0 || (got < 0 && errno != EINTR)) break;
    if (got > 0) ending.lines.append(part, static_cast<size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  ending.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  ending.code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  return ending;
}

std::string mount_own_tmpfs(uint64_t bytes) {
  const std::string private_mounts = own_mounts();
  if (!private_mounts.empty()) return private_mounts;
  const std::string size = "size=" + std::to_string(bytes);
  if (mount("tmpfs", kOwnFolder, "tmpfs", 0, size.c_str()) != 0) return failed("tmpfs cannot be mounted");
  return {};
}

std::string mount_own_disk(uint64_t disk_bytes, uint64_t tmpfs_bytes) {
  if (getuid() != 0) return "a loop device needs root";
  const std::string none = mount_own_tmpfs(tmpfs_bytes);
  if (!none.empty()) return none;
  const std::string image = std::string(kOwnFolder) + "/disk";
  // Without a journal, because otherwise an error of the device would also stop the file system.
  const std::string commands = "truncate -s " + std::to_string(disk_bytes) + " " + image +
                               " && mkfs.ext4 -q -F -m 0 -O ^has_journal " + image + " && mount -o loop " + image +
                               " " + kOwnDiskFolder + " && rmdir " + kOwnDiskFolder + "/lost+found";
  if (std::system(("(" + commands + ") > /dev/null 2>&1").c_str()) != 0)
    return "ext4 cannot be made and mounted on a loop device";
  return {};
}

bool fail_calls(std::initializer_list<int> numbers, int error) {
  std::vector<sock_filter> program{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const int number : numbers) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(number), 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<uint32_t>(error)));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog all{static_cast<unsigned short>(program.size()), program.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &all) == 0;
}

}  // namespace ringside::testing
