// SPDX-License-Identifier: BSD-3-Clause
// Every system call that takes a pointer must give the same result and the same content with ordinary memory and with
// absent memory. Each call runs in its own process, so that a crash is only one failure.
#include "memory/calls/table.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "tests/unit/memory/apart.hpp"
#include "tests/unit/memory/calls/absent.hpp"
#include "tests/unit/memory/calls/room.hpp"

namespace ringside::testing {
namespace {

using memory::Action;
using memory::Call;
using memory::calls_in_table;
using memory::calls_table;

struct Named {
  const char* name;
  long number;
};

constexpr Named kNumbers[] = {
#include "numbers_of_calls.inc"
};

// Calls that have no arguments, or only numbers and descriptors.
const std::set<std::string> kWithoutPointers = {
    "close", "lseek", "sched_yield", "dup", "dup2", "dup3", "pause", "alarm", "getpid", "socket", "shutdown", "listen",
    "fork", "vfork", "exit", "exit_group", "kill", "semget", "msgget", "shmget", "flock", "fsync", "fdatasync",
    "ftruncate", "fchdir", "fchmod", "fchown", "umask", "getuid", "getgid", "setuid", "setgid", "geteuid", "getegid",
    "setpgid", "getppid", "getpgrp", "setsid", "setreuid", "setregid", "setresuid", "setresgid", "getpgid", "setfsuid",
    "setfsgid", "getsid", "personality", "getpriority", "setpriority", "sched_getscheduler", "sched_get_priority_max",
    "sched_get_priority_min", "mlockall", "munlockall", "vhangup", "sync", "iopl", "ioperm", "gettid", "readahead",
    "tkill", "io_destroy", "epoll_create", "epoll_create1", "restart_syscall", "fadvise64", "timer_getoverrun",
    "timer_delete", "tgkill", "ioprio_set", "ioprio_get", "inotify_init", "inotify_init1", "inotify_rm_watch",
    "unshare", "tee", "sync_file_range", "timerfd_create", "eventfd", "eventfd2", "fallocate", "fanotify_init",
    "syncfs", "setns", "kcmp", "userfaultfd", "membarrier", "pkey_alloc", "pkey_free", "pidfd_open", "fsmount",
    "close_range", "pidfd_getfd", "landlock_restrict_self", "memfd_secret", "process_mrelease", "rt_sigreturn"};

// Calls that are neither pinned nor trapped, each with the reason. docs/use/memory_programs.md lists these calls for
// users.
const std::map<std::string, const char*> kExceptions = {
    {"clone", "a thread's stack must be pinned while the thread lives: the C library calls with SIGSYS blocked"},
    {"set_tid_address", "as clone: only kept, and used when the thread ends"},
    {"set_robust_list", "as clone: only kept, and used when the thread ends"},
    {"rseq", "as clone: only kept, and used when the thread moves to another core"},
    {"uretprobe", "only the kernel's code behind a probed function makes it"},
    {"io_uring_enter", "its pointers lie in rings; with no ring but those made before start there is nothing to do"},
    {"brk", "an address, never in the arena"},
    {"shmdt", "an address, never in the arena"},
    {"set_mempolicy_home_node", "an address: a policy of the arena's pages is harmless"},
    {"map_shadow_stack", "an address that is a wish"},
    {"uselib", "removed from x86-64"},
    {"_sysctl", "removed"},
    {"create_module", "removed"},
    {"get_kernel_syms", "removed"},
    {"query_module", "removed"},
    {"nfsservctl", "removed"},
    {"getpmsg", "never existed"},
    {"putpmsg", "never existed"},
    {"afs_syscall", "never existed"},
    {"tuxcall", "never existed"},
    {"security", "never existed"},
    {"vserver", "never existed"},
    {"set_thread_area", "32-bit programs only"},
    {"get_thread_area", "32-bit programs only"},
    {"lookup_dcookie", "removed"},
    {"epoll_ctl_old", "never existed"},
    {"epoll_wait_old", "never existed"}};

// Calls in the table that no test makes, with the reasons.
const std::map<long, const char*> kNotTried = {
    {SYS_reboot, "it would restart the machine"},
    {SYS_kexec_load, "it would replace the kernel"},
    {SYS_kexec_file_load, "it would replace the kernel"},
};

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto& cases : {file_cases(), process_cases(), message_cases()})
    all.insert(all.end(), cases.begin(), cases.end());
  return all;
}

enum class How { kOrdinary, kTrapped, kUntrapped };

int run(const Case& one, How how) {
  char folder[] = "/tmp/ringside-calls-XXXXXX";
  if (mkdtemp(folder) == nullptr || chdir(folder) != 0) return 2;
  const int file = open("f", O_CREAT | O_RDWR, 0600);
  char content[10000];
  for (size_t i = 0; i < sizeof content; ++i) content[i] = static_cast<char>(i * 7 % 251);
  if (write(file, content, sizeof content) != sizeof content || mkdir("d", 0700) != 0 || symlink("f", "l") != 0)
    return 2;
  close(file);
  ringside_memory_options options = small_options();
  options.system_calls = how == How::kTrapped ? 1 : 0;
  if (how != How::kOrdinary && ringside_memory_start(&options) != 0) return 5;
  alarm(60);
  Room room(how == How::kOrdinary ? Where::kOrdinary : Where::kArena, one.compare);
  try {
    one.run(room);
  } catch (const FailedWithEfault&) {
  }
  std::string outcome = room.outcome();
  if (how == How::kTrapped) {
    struct ringside_memory_stats stats {};
    stats.struct_bytes = sizeof stats;
    ringside_memory_stats(&stats);
    if (stats.pinned_bytes != 0) outcome += " but " + std::to_string(stats.pinned_bytes) + " bytes stay pinned";
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  if (write(2, outcome.data(), outcome.size()) != static_cast<ssize_t>(outcome.size())) return 2;
  return 0;
}

std::string outcome_of(const Case& one, How how) {
  const Ending ending = in_process([&] { return run(one, how); });
  if (ending.signal != 0) return ending.lines + "died by signal " + std::to_string(ending.signal);
  return ending.code != 0 ? ending.lines + "exit " + std::to_string(ending.code) : ending.lines;
}

bool says(const std::string& outcome, int error) {
  return (" " + outcome).find(" " + std::to_string(-error) + " ") != std::string::npos;
}

void compare(const std::vector<Case>& cases) {
  NEED_RANDOM_ADDRESSES();
  { START_ARENA(arena, small_options()); }
  int judged = 0;
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    const std::string ordinary = outcome_of(one, How::kOrdinary);
    EXPECT_EQ(ordinary.find("died"), std::string::npos) << ordinary;
    ASSERT_EQ(ordinary.find("exit"), std::string::npos) << ordinary;
    EXPECT_EQ(outcome_of(one, How::kTrapped), ordinary);
    // A call that is missing in this kernel or not permitted fails for another reason than memory.
    if ((one.compare & kForgives) != 0 || says(ordinary, ENOSYS) || says(ordinary, EPERM) || says(ordinary, EACCES) ||
        says(ordinary, EOPNOTSUPP)) {
      continue;
    }
    EXPECT_NE(outcome_of(one, How::kUntrapped), ordinary) << "the call does not depend on the memory being there";
    ++judged;
  }
  EXPECT_GT(judged, static_cast<int>(cases.size()) / 2) << "most calls are possible here";
}

TEST(EveryCall, OnFilesGivesTheSameInAbsentMemory) {
  compare(file_cases());
}

TEST(EveryCall, OnProcessesGivesTheSameInAbsentMemory) {
  compare(process_cases());
}

TEST(EveryCall, ThatWaitsOrPassesMessagesGivesTheSameInAbsentMemory) {
  compare(message_cases());
}

TEST(TableOfCalls, EveryNumberOfTheKernelsHeaderHasItsPlace) {
  std::set<long> in_table;
  for (size_t i = 0; i < calls_in_table; ++i) {
    EXPECT_TRUE(in_table.insert(calls_table[i].number).second) << calls_table[i].number << " is there twice";
    EXPECT_LT(calls_table[i].number, memory::kMostNumber);
  }
  ASSERT_GT(std::size(kNumbers), 300u);
  for (const Named& call : kNumbers) {
    const int places = static_cast<int>(in_table.count(call.number)) +
                       static_cast<int>(kWithoutPointers.count(call.name)) +
                       static_cast<int>(kExceptions.count(call.name));
    EXPECT_EQ(places, 1) << call.name << " (" << call.number
                         << ") belongs into memory/calls/table.cpp or one of the lists of this test";
  }
}

TEST(TableOfCalls, EveryLineHasACaseOrAReasonForNone) {
  std::set<long> tried;
  for (const Case& one : all_cases()) tried.insert(one.number);
  for (size_t i = 0; i < calls_in_table; ++i) {
    const Call& call = calls_table[i];
    if (call.action == Action::kMapping || call.action == Action::kRefused || call.action == Action::kExecute)
      continue;  // other tests cover these
    EXPECT_EQ(tried.count(call.number) + kNotTried.count(call.number), 1u) << call.number;
  }
}

}  // namespace
}  // namespace ringside::testing
