// SPDX-License-Identifier: BSD-3-Clause
// System calls on processes, signals, time, scheduling, limits and the system.
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstring>

#include "tests/unit/memory/calls/room.hpp"

namespace ringside::testing {
namespace {

struct KernelAction {
  uint64_t handler, flags, restorer, mask;
};

uint64_t bit_of(int signal) {
  return uint64_t{1} << (signal - 1);
}

// A child process that has ended, but for which no process has waited yet.
pid_t ended_child() {
  const pid_t child = fork();
  if (child == 0) _exit(7);
  siginfo_t ignored;
  waitid(P_PID, static_cast<id_t>(child), &ignored, WEXITED | WNOWAIT);
  return child;
}

// Makes a signal pending: blocks the signal, and sends it to this process.
void pending_signal() {
  const uint64_t mask = bit_of(SIGUSR1);
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, &mask, nullptr, 8);
  signal(SIGUSR1, [](int) {});
  kill(getpid(), SIGUSR1);
}

pid_t stopped_child() {
  const pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGSTOP);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  return child;
}

}  // namespace

std::vector<Case> process_cases() {
  std::vector<Case> all;
  CASE(rt_sigaction, kVolatile, [](Room& r) {
    r.call(SYS_rt_sigaction, SIGUSR2, r.value(KernelAction{1, 0, 0, 0}), r.zeros(32), 8);
    struct sigaction now {};
    sigaction(SIGUSR2, nullptr, &now);
    r.note(now.sa_handler == SIG_IGN);
  });
  CASE(rt_sigprocmask, kSame, [](Room& r) {
    r.call(SYS_rt_sigprocmask, SIG_BLOCK, r.value(bit_of(SIGUSR1)), r.zeros(8), 8);
    sigset_t now;
    sigprocmask(SIG_BLOCK, nullptr, &now);
    r.note(sigismember(&now, SIGUSR1));  // the mask must outlive the handler of the trap
  });
  CASE(mincore, kVolatile, [](Room& r) {
    void* const pages = mmap(nullptr, 40960, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    r.call(SYS_mincore, pages, 40960, r.zeros(10));
  });
  CALL(nanosleep, r.array<long>({0, 1000}), r.zeros(16));
  CALL(getitimer, ITIMER_VIRTUAL, r.zeros(32));
  CALL(setitimer, ITIMER_VIRTUAL, r.array<long>({0, 0, 100, 0}), r.zeros(32));
  CASE(wait4, kVolatile | kSign, [](Room& r) { r.call(SYS_wait4, ended_child(), r.zeros(4), 0, r.zeros(144)); });
  CASE(waitid, kVolatile, [](Room& r) {
    char* const about = r.zeros(128);
    r.call(SYS_waitid, P_PID, ended_child(), about, WEXITED, r.zeros(144));
    r.note(reinterpret_cast<siginfo_t*>(about)->si_status);
  });
  CALL_OF(uname, kVolatile, r.zeros(390));
  CALL_OF(gettimeofday, kVolatile, r.zeros(16), r.zeros(8));
  CALL(getrlimit, RLIMIT_NOFILE, r.zeros(16));
  CALL_OF(getrusage, kVolatile, RUSAGE_SELF, r.zeros(144));
  CALL_OF(sysinfo, kVolatile, r.zeros(112));
  CALL_OF(times, kVolatile | kSign, r.zeros(32));
  CASE(ptrace, kVolatile, [](Room& r) {
    const pid_t child = stopped_child();
    r.call(SYS_ptrace, PTRACE_GETREGS, child, 0, r.zeros(216));
    char* const registers = r.zeros(216);
    char* const area = reinterpret_cast<char*>(r.links<iovec>({{registers, 216}}));
    r.call(SYS_ptrace, PTRACE_GETREGSET, child, 1, area);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  });
  CALL_OF(syslog, kVolatile | kSign | kForgives, 3, r.zeros(100), 100);
  CASE(setgroups, kSame, [](Room& r) {
    r.call(SYS_setgroups, 2, r.array<gid_t>({3, 4}));
    r.call(SYS_getgroups, 2, r.zeros(8));
  });
  CASE(getgroups, kVolatile | kSign, [](Room& r) {
    if (getgroups(0, nullptr) == 0) return r.note(-EPERM);
    r.call(SYS_getgroups, getgroups(0, nullptr), r.zeros(4 * 512));
  });
  CALL(getresuid, r.zeros(4), r.zeros(4), r.zeros(4));
  CALL(getresgid, r.zeros(4), r.zeros(4), r.zeros(4));
  CALL(capget, r.array<uint32_t>({_LINUX_CAPABILITY_VERSION_3, 0}), r.zeros(24));
  CASE(capset, kSame, [](Room& r) {
    uint32_t header[2] = {_LINUX_CAPABILITY_VERSION_3, 0}, sets[6] = {};
    syscall(SYS_capget, header, sets);
    char* const kept = r.bytes(sets, sizeof sets);
    r.call(SYS_capset, r.bytes(header, sizeof header), kept);
  });
  CALL(rt_sigpending, r.zeros(8), 8);
  CASE(rt_sigtimedwait, kVolatile, [](Room& r) {
    pending_signal();
    r.call(SYS_rt_sigtimedwait, r.value(bit_of(SIGUSR1)), r.zeros(128), r.array<long>({5, 0}), 8);
  });
  CALL(rt_sigqueueinfo, getpid(), 0, r.zeros(128));
  CALL(rt_tgsigqueueinfo, getpid(), gettid(), 0, r.zeros(128));
  CASE(rt_sigsuspend, kSame, [](Room& r) {
    pending_signal();
    r.call(SYS_rt_sigsuspend, r.value(uint64_t{0}), 8);
  });
  CASE(sigaltstack, kSame, [](Room& r) {
    static char other[65536];
    stack_t stack{};
    stack.ss_sp = other;
    stack.ss_size = sizeof other;
    r.call(SYS_sigaltstack, r.links<stack_t>({stack}), r.zeros(24));
    stack.ss_flags = SS_DISABLE;
    r.call(SYS_sigaltstack, r.links<stack_t>({stack}), nullptr);
  });
  CALL(sched_setparam, 0, r.value(int{0}));
  CALL(sched_getparam, 0, r.zeros(4));
  CALL(sched_setscheduler, 0, SCHED_BATCH, r.value(int{0}));
  CALL_OF(sched_rr_get_interval, kVolatile, 0, r.zeros(16));
  CASE(sched_setattr, kSame, [](Room& r) {
    uint32_t attributes[14] = {48};
    r.call(SYS_sched_setattr, 0, r.bytes(attributes, sizeof attributes), 0);
  });
  CALL_OF(sched_getattr, kVolatile, 0, r.zeros(56), 56, 0);
  CALL_OF(sched_setaffinity, kSame, 0, 8, r.value(uint64_t{1}));
  CALL_OF(sched_getaffinity, kSame, 0, 128, r.zeros(128));
  CALL_OF(modify_ldt, kForgives, 0, r.zeros(16), 16);
  CASE(prctl, kSame, [](Room& r) {
    r.call(SYS_prctl, PR_SET_NAME, r.text("a name"), 0, 0, 0);
    r.call(SYS_prctl, PR_GET_NAME, r.zeros(16), 0, 0, 0);
  });
  CALL_OF(arch_prctl, kVolatile, 0x1003 /* ARCH_GET_FS */, r.zeros(8));
  CALL_OF(adjtimex, kVolatile | kSign, r.zeros(208));
  CALL_OF(clock_adjtime, kVolatile | kSign, CLOCK_REALTIME, r.zeros(208));
  CASE(setrlimit, kSame, [](Room& r) {
    rlimit now{};
    getrlimit(RLIMIT_CORE, &now);
    r.call(SYS_setrlimit, RLIMIT_CORE, r.value(now));
  });
  CALL(prlimit64, 0, RLIMIT_CORE, r.array<uint64_t>({0, 0}), r.zeros(16));
  CALL(settimeofday, r.array<long>({0, 2000000}), nullptr);
  CALL(clock_settime, CLOCK_REALTIME, r.array<long>({0, 2000000000}));
  CASE(sethostname, kSame, [](Room& r) {
    if (unshare(CLONE_NEWUTS) != 0) return r.note(-EPERM);
    r.call(SYS_sethostname, r.text("absent"), 6);
  });
  CASE(setdomainname, kSame, [](Room& r) {
    if (unshare(CLONE_NEWUTS) != 0) return r.note(-EPERM);
    r.call(SYS_setdomainname, r.text("absent"), 6);
  });
  CALL(init_module, r.zeros(200), 200, r.text(""));
  CALL_OF(finit_module, kForgives, open("/dev/null", O_RDONLY), r.text(""), 0);
  CALL(delete_module, r.text("ringside_no_such_module"), O_NONBLOCK);
  CALL_OF(time, kVolatile | kSign, r.zeros(8));
  CALL(futex, r.value(uint32_t{7}), FUTEX_WAIT_PRIVATE, 6, nullptr, nullptr, 0);
  CASE_BY_NUMBER("futex with a timeout", SYS_futex, kSame, [](Room& r) {
    r.call(SYS_futex, r.value(uint32_t{7}), FUTEX_WAIT_PRIVATE, 7, r.array<long>({0, 1000000}), nullptr, 0);
  });
  CALL_OF(get_robust_list, kVolatile, 0, r.zeros(8), r.zeros(8));
  CALL_OF(timer_create, kSame, CLOCK_MONOTONIC,
          r.array<uint32_t>({0, 0, 0, SIGEV_NONE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}), r.zeros(4));
  CASE(timer_settime, kVolatile, [](Room& r) {
    uint32_t event[16] = {0, 0, 0, SIGEV_NONE};
    int timer = 0;
    r.note(syscall(SYS_timer_create, CLOCK_MONOTONIC, event, &timer));
    r.call(SYS_timer_settime, timer, 0, r.array<long>({0, 0, 100, 0}), r.zeros(32));
    r.call(SYS_timer_gettime, timer, r.zeros(32));
  });
  CASE(timer_gettime, kVolatile, [](Room& r) {
    uint32_t event[16] = {0, 0, 0, SIGEV_NONE};
    int timer = 0;
    r.note(syscall(SYS_timer_create, CLOCK_MONOTONIC, event, &timer));
    r.call(SYS_timer_gettime, timer, r.zeros(32));
  });
  CALL_OF(clock_gettime, kVolatile, CLOCK_MONOTONIC, r.zeros(16));
  CALL(clock_getres, CLOCK_MONOTONIC, r.zeros(16));
  CALL(clock_nanosleep, CLOCK_MONOTONIC, 0, r.array<long>({0, 1000}), r.zeros(16));
  CALL_OF(mbind, kSame, mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096, 2,
          r.value(uint64_t{1}), 64, 0);
  CALL(set_mempolicy, 2 /* MPOL_BIND */, r.value(uint64_t{1}), 64);
  CALL(get_mempolicy, r.zeros(4), r.zeros(128), 1024, 0, 0);
  CALL(migrate_pages, 0, 64, r.value(uint64_t{1}), r.value(uint64_t{1}));
  CASE(move_pages, kVolatile, [](Room& r) {
    static char page[8192];
    page[4096] = 1;
    r.call(SYS_move_pages, 0, 1, r.links<void*>({page + 4096}), nullptr, r.zeros(4), 0);
  });
  CALL_OF(add_key, kSign, r.text("user"), r.text("ringside"), r.text("payload"), 7, KEY_SPEC_PROCESS_KEYRING);
  CALL_OF(request_key, kSame, r.text("user"), r.text("ringside:none"), nullptr, KEY_SPEC_PROCESS_KEYRING);
  CASE(keyctl, kVolatile | kSign, [](Room& r) {
    syscall(SYS_add_key, "user", "ringside", "payload", 7, KEY_SPEC_PROCESS_KEYRING);
    r.call(SYS_keyctl, KEYCTL_DESCRIBE, KEY_SPEC_PROCESS_KEYRING, r.zeros(100), 100);
  });
  CASE(perf_event_open, kDescriptor, [](Room& r) {
    perf_event_attr event{};
    event.type = PERF_TYPE_SOFTWARE;
    event.size = sizeof event;
    event.config = PERF_COUNT_SW_CPU_CLOCK;
    r.call(SYS_perf_event_open, r.value(event), 0, -1, -1, 0);
  });
  CALL_OF(getcpu, kVolatile, r.zeros(4), r.zeros(4), nullptr);
  CASE(process_vm_readv, kSame, [](Room& r) {
    static char there[5000] = "what is over there";
    char* const here = r.zeros(5000);
    r.call(SYS_process_vm_readv, getpid(), r.links<iovec>({{here, 5000}}), 1, r.links<iovec>({{there, 5000}}), 1, 0);
    const iovec local{here, 5000}, remote{there, 5000};
    r.evict();
    r.note(process_vm_readv(getpid(), &local, 1, &remote, 1, 0));
  });
  CASE(process_vm_writev, kSame, [](Room& r) {
    static char there[5000];
    char* const here = r.bytes("abc", 4);
    r.call(SYS_process_vm_writev, getpid(), r.links<iovec>({{here, 4}}), 1, r.links<iovec>({{there, 4}}), 1, 0);
    r.note(std::strcmp(there, "abc"));
  });
  CALL_OF(getrandom, kVolatile, r.zeros(64), 64, 0);
  CASE(seccomp, kSame, [](Room& r) {
    sock_filter code[1] = {{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
    char* const there = r.bytes(code, sizeof code);
    r.note(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    r.call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, r.links<uint64_t>({1, address_of(there)}));
  });
  CASE(bpf, kDescriptor, [](Room& r) { r.call(SYS_bpf, 0, r.array<uint32_t>({2, 4, 4, 1, 0, 0}), 24); });
  CASE(pidfd_send_signal, kSame,
       [](Room& r) { r.call(SYS_pidfd_send_signal, syscall(SYS_pidfd_open, getpid(), 0), 0, r.zeros(128), 0); });
  CASE(process_madvise, kSame, [](Room& r) {
    void* const pages = mmap(nullptr, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    r.call(SYS_process_madvise, syscall(SYS_pidfd_open, getpid(), 0), r.links<iovec>({{pages, 8192}}), 1, MADV_COLD, 0);
  });
  CASE_BY_NUMBER("futex_waitv", 449, kSame, [](Room& r) {
    char* const word = reinterpret_cast<char*>(r.value(uint32_t{7}));
    r.call(449, r.links<uint64_t>({6, address_of(word), 2 | 128}), 1, 0, nullptr, 0);
  });
  CASE_BY_NUMBER("futex_wake", 454, kForgives, [](Room& r) { r.call(454, r.value(uint32_t{7}), 1, 1, 2 | 128); });
  CASE_BY_NUMBER("futex_wait", 455, kSame,
                 [](Room& r) { r.call(455, r.value(uint32_t{7}), 6, UINT32_MAX, 2 | 128, nullptr, CLOCK_MONOTONIC); });
  CASE_BY_NUMBER("futex_requeue", 456, kSame, [](Room& r) {
    char* const word = reinterpret_cast<char*>(r.value(uint32_t{7}));
    char* const other = reinterpret_cast<char*>(r.value(uint32_t{7}));
    r.call(456, r.links<uint64_t>({6, address_of(word), 2 | 128, 0, address_of(other), 2 | 128}), 0, 1, 1);
  });
  CASE_BY_NUMBER("lsm_get_self_attr", 459, kVolatile,
                 [](Room& r) { r.call(459, 100, r.zeros(64), r.value(uint32_t{64}), 0); });
  CASE_BY_NUMBER("lsm_set_self_attr", 460, kForgives, [](Room& r) { r.call(460, 100, r.zeros(40), 40, 0); });
  CASE_BY_NUMBER("lsm_list_modules", 461, kVolatile,
                 [](Room& r) { r.call(461, r.zeros(256), r.value(uint32_t{256}), 0); });
  return all;
}

}  // namespace ringside::testing
