// SPDX-License-Identifier: BSD-3-Clause
// The table follows the manual pages of section 2 and include/linux/syscalls.h up to Linux 6.18. Sizes are those of
// the kernel's structures on x86-64. Arguments count from 0.
#include "memory/calls/table.hpp"

#include <sys/syscall.h>

#include <array>
#include <initializer_list>

#if defined(__x86_64__)

namespace ringside::memory {
namespace {

constexpr Pointer in(uint8_t argument, uint32_t bytes) {
  return {argument, false, Size::kFixed, 0, bytes};
}
constexpr Pointer out(uint8_t argument, uint32_t bytes) {
  return {argument, true, Size::kFixed, 0, bytes};
}
constexpr Pointer text(uint8_t argument) {
  return {argument, false, Size::kText, 0, 0};
}
constexpr Pointer in_bytes(uint8_t argument, uint8_t length, uint32_t more = 0) {
  return {argument, false, Size::kBytes, length, more};
}
constexpr Pointer out_bytes(uint8_t argument, uint8_t length, uint32_t more = 0) {
  return {argument, true, Size::kBytes, length, more};
}
constexpr Pointer in_array(uint8_t argument, uint8_t count, uint32_t unit) {
  return {argument, false, Size::kCount, count, unit};
}
constexpr Pointer out_array(uint8_t argument, uint8_t count, uint32_t unit) {
  return {argument, true, Size::kCount, count, unit};
}
constexpr Pointer out_at(uint8_t argument, uint8_t length) {
  return {argument, true, Size::kLengthAt, length, 0};
}
constexpr Pointer bits(uint8_t argument, uint8_t highest) {
  return {argument, true, Size::kBits, highest, 0};
}
constexpr Pointer address(uint8_t argument) {
  return {argument, false, Size::kFixed, 0, 0};
}

using enum Action;

/// Calls whose arguments refer to memory in the same way.
struct Alike {
  Action action;
  Pointer pointers[5];
  std::initializer_list<uint16_t> numbers;  // calls that older headers do not name are given as numbers
};

constexpr Alike kAlike[] = {
    {kPieces, {out_bytes(1, 2)}, {SYS_read, SYS_pread64}},
    {kPieces, {in_bytes(1, 2)}, {SYS_write, SYS_pwrite64}},
    {kPin, {text(0)}, {SYS_open,      SYS_access,       SYS_truncate, SYS_chdir,  SYS_mkdir,   SYS_rmdir,
                       SYS_creat,     SYS_unlink,       SYS_chmod,    SYS_chown,  SYS_lchown,  SYS_mknod,
                       SYS_chroot,    SYS_acct,         SYS_umount2,  SYS_swapon, SYS_swapoff, SYS_delete_module,
                       SYS_mq_unlink, SYS_memfd_create, SYS_fsopen}},
    {kPin, {text(0), out(1, 144)}, {SYS_stat, SYS_lstat}},
    {kPin, {out(1, 144)}, {SYS_fstat, SYS_getrusage}},
    {kPin, {out_array(0, 1, 8)}, {SYS_poll}},
    {kMapping,
     {address(0)},
     {SYS_mmap, SYS_mprotect, SYS_munmap, SYS_msync, SYS_madvise, SYS_mlock, SYS_munlock, SYS_remap_file_pages,
      SYS_mlock2, SYS_pkey_mprotect, 462 /* mseal */}},
    {kSignalAction, {in(1, 32), out(2, 32)}, {SYS_rt_sigaction}},
    {kSignalMask, {in(1, 8), out(2, 8)}, {SYS_rt_sigprocmask}},
    {kIoctl, {out(2, 4096)}, {SYS_ioctl}},
    {kVector, {{1, true, Size::kCount, 2, 16}}, {SYS_readv, SYS_preadv, SYS_preadv2}},
    {kVector, {{1, false, Size::kCount, 2, 16}}, {SYS_writev, SYS_pwritev, SYS_pwritev2}},
    {kPin, {out(0, 8)}, {SYS_pipe, SYS_rt_sigpending, SYS_time, SYS_pipe2}},
    {kPin, {bits(1, 0), bits(2, 0), bits(3, 0), out(4, 16)}, {SYS_select}},
    {kMapping, {address(0), address(4)}, {SYS_mremap}},
    {kPin, {{2, true, Size::kPages, 1, 0}}, {SYS_mincore}},
    {kMapping, {address(1)}, {SYS_shmat}},
    {kPin, {out(2, 256)}, {SYS_shmctl, SYS_msgctl}},
    {kPin, {in(0, 16), out(1, 16)}, {SYS_nanosleep}},
    {kPin, {out(1, 32)}, {SYS_getitimer, SYS_ustat, SYS_timer_gettime, SYS_timerfd_gettime}},
    {kPin, {in(1, 32), out(2, 32)}, {SYS_setitimer}},
    {kPin, {out(2, 8)}, {SYS_sendfile}},
    {kPin, {in_bytes(1, 2)}, {SYS_connect, SYS_bind, 460 /* lsm_set_self_attr */}},
    {kPin,
     {out(2, 4), out_at(1, 2)},
     {SYS_accept, SYS_getsockname, SYS_getpeername, SYS_accept4, 459 /* lsm_get_self_attr */}},
    {kPieces, {in_bytes(1, 2), in_bytes(4, 5)}, {SYS_sendto}},
    {kPieces, {out_bytes(1, 2), out(5, 4), out_at(4, 5)}, {SYS_recvfrom}},
    {kMessage, {in(1, 56)}, {SYS_sendmsg}},
    {kMessage, {out(1, 56)}, {SYS_recvmsg}},
    {kPin, {out(3, 8)}, {SYS_socketpair}},
    {kProgram, {in_bytes(3, 4)}, {SYS_setsockopt}},
    {kPin, {out(4, 4), out_at(3, 4)}, {SYS_getsockopt}},
    {kExecute, {text(0), in(1, 8), in(2, 8)}, {SYS_execve}},
    {kPin, {out(1, 4), out(3, 144)}, {SYS_wait4}},
    {kPin, {out(0, 390)}, {SYS_uname}},
    {kPin, {in_array(1, 2, 6)}, {SYS_semop}},
    {kPin, {out(3, 65536)}, {SYS_semctl}},  // an array of up to 32,000 values, or a structure
    {kPin, {in_bytes(1, 2, 8)}, {SYS_msgsnd}},
    {kPin, {out_bytes(1, 2, 8)}, {SYS_msgrcv}},
    {kPin, {out(2, 64)}, {SYS_fcntl}},
    {kPin,
     {out_bytes(1, 2)},
     {SYS_getdents, SYS_syslog, SYS_modify_ldt, SYS_flistxattr, SYS_getdents64, SYS_sched_getattr, SYS_bpf}},
    {kPin, {out_bytes(0, 1)}, {SYS_getcwd}},
    {kPin, {text(0), text(1)}, {SYS_rename, SYS_link, SYS_symlink, SYS_pivot_root, SYS_removexattr, SYS_lremovexattr}},
    {kPin, {text(0), out_bytes(1, 2)}, {SYS_readlink, SYS_listxattr, SYS_llistxattr}},
    {kPin, {out(0, 16), out(1, 8)}, {SYS_gettimeofday}},
    {kPin, {out(1, 16)}, {SYS_getrlimit, SYS_sched_rr_get_interval, SYS_clock_gettime, SYS_clock_getres}},
    {kPin, {out(0, 112)}, {SYS_sysinfo}},
    {kPin, {out(0, 32)}, {SYS_times}},
    {kRegisters, {in(2, 64), out(3, 1024)}, {SYS_ptrace}},
    {kPin, {out_array(1, 0, 4)}, {SYS_getgroups}},
    {kPin, {in_array(1, 0, 4)}, {SYS_setgroups}},
    {kPin, {out(0, 4), out(1, 4), out(2, 4)}, {SYS_getresuid, SYS_getresgid}},
    {kPin, {out(0, 8), out(1, 24)}, {SYS_capget}},
    {kPin, {out(0, 8), in(1, 24)}, {SYS_capset}},
    {kPin, {in(0, 8), out(1, 128), in(2, 16)}, {SYS_rt_sigtimedwait}},
    {kPin, {in(2, 128)}, {SYS_rt_sigqueueinfo, SYS_pidfd_send_signal}},
    {kPin, {in(0, 8)}, {SYS_rt_sigsuspend}},
    {kSignalStack, {in(0, 24), out(1, 24)}, {SYS_sigaltstack}},
    {kPin, {text(0), in(1, 16)}, {SYS_utime}},
    {kPin, {text(0), out(1, 120)}, {SYS_statfs}},
    {kPin, {out(1, 120)}, {SYS_fstatfs}},
    {kPin, {text(1), out(2, 256)}, {SYS_sysfs}},
    {kPin, {in(1, 4)}, {SYS_sched_setparam}},
    {kPin, {out(1, 4)}, {SYS_sched_getparam}},
    {kPin, {in(2, 4)}, {SYS_sched_setscheduler}},
    {kPin, {out(1, 128), out(2, 128), out(3, 128), out(4, 128)}, {SYS_prctl}},
    {kPin, {out(1, 8)}, {SYS_arch_prctl, SYS_io_setup}},
    {kPin, {out(0, 208)}, {SYS_adjtimex}},
    {kPin, {in(1, 16)}, {SYS_setrlimit, SYS_clock_settime}},
    {kPin, {in(0, 16), in(1, 8)}, {SYS_settimeofday}},
    {kPin, {text(0), text(1), text(2), in(4, 4096)}, {SYS_mount}},
    {kPin, {text(3)}, {SYS_reboot}},
    {kPin, {in_bytes(0, 1)}, {SYS_sethostname, SYS_setdomainname, 444 /* landlock_create_ruleset */}},
    {kPin, {in_bytes(0, 1), text(2)}, {SYS_init_module}},
    {kPin, {text(1), out(3, 512)}, {SYS_quotactl}},
    {kPin, {text(0), text(1), in_bytes(2, 3)}, {SYS_setxattr, SYS_lsetxattr, SYS_add_key}},
    {kPin, {text(1), in_bytes(2, 3)}, {SYS_fsetxattr, SYS_openat2, 469 /* file_setattr */}},
    {kPin, {text(0), text(1), out_bytes(2, 3)}, {SYS_getxattr, SYS_lgetxattr}},
    {kPin, {text(1), out_bytes(2, 3)}, {SYS_fgetxattr, SYS_readlinkat, 468 /* file_getattr */}},
    {kPin,
     {text(1)},
     {SYS_fremovexattr, SYS_inotify_add_watch, SYS_openat, SYS_mkdirat, SYS_mknodat, SYS_fchownat, SYS_unlinkat,
      SYS_fchmodat, SYS_faccessat, SYS_finit_module, SYS_open_tree, SYS_fspick, SYS_faccessat2, 452 /* fchmodat2 */}},
    {kPin, {out(0, 4), in(3, 16), out(4, 4)}, {SYS_futex}},
    {kPin, {in_bytes(2, 1)}, {SYS_sched_setaffinity}},
    {kPin, {out_bytes(2, 1)}, {SYS_sched_getaffinity}},
    {kPin, {out_array(3, 2, 32), in(4, 16)}, {SYS_io_getevents}},
    {kSubmit, {in_array(2, 1, 8)}, {SYS_io_submit}},
    {kPin, {in(1, 64), out(2, 32)}, {SYS_io_cancel}},
    {kPin, {in_array(1, 2, 6), in(3, 16)}, {SYS_semtimedop}},
    {kPin, {in(1, 64), out(2, 4)}, {SYS_timer_create}},
    {kPin, {in(2, 32), out(3, 32)}, {SYS_timer_settime, SYS_timerfd_settime}},
    {kPin, {in(2, 16), out(3, 16)}, {SYS_clock_nanosleep, SYS_prlimit64}},
    {kPin, {out_array(1, 2, 12)}, {SYS_epoll_wait}},
    {kPin, {in(3, 12)}, {SYS_epoll_ctl}},
    {kPin, {text(0), in(1, 32)}, {SYS_utimes}},
    {kPin, {bits(3, 4)}, {SYS_mbind}},
    {kPin, {bits(1, 2)}, {SYS_set_mempolicy}},
    {kPin, {out(0, 4), bits(1, 2)}, {SYS_get_mempolicy}},
    {kPin, {text(0), in(3, 64)}, {SYS_mq_open}},
    {kPin, {in_bytes(1, 2), in(4, 16)}, {SYS_mq_timedsend}},
    {kPin, {out_bytes(1, 2), out(3, 4), in(4, 16)}, {SYS_mq_timedreceive}},
    {kPin, {in(1, 64)}, {SYS_mq_notify}},
    {kPin, {in(1, 64), out(2, 64)}, {SYS_mq_getsetattr}},
    {kPin, {in_array(2, 1, 32)}, {SYS_kexec_load}},
    {kPin, {out(2, 128), out(4, 144)}, {SYS_waitid}},
    {kPin, {text(0), text(1), text(2)}, {SYS_request_key}},
    {kPin, {out(1, 4096), out_bytes(2, 3, 4096), out(3, 4096), out(4, 4096)}, {SYS_keyctl}},
    {kPin, {bits(2, 1), bits(3, 1)}, {SYS_migrate_pages}},
    {kPin, {text(1), in(2, 32)}, {SYS_futimesat, SYS_utimensat}},
    {kPin, {text(1), out(2, 144)}, {SYS_newfstatat}},
    {kPin, {text(1), text(3)}, {SYS_renameat, SYS_linkat, SYS_renameat2, SYS_move_mount, 466 /* removexattrat */}},
    {kPin, {text(0), text(2)}, {SYS_symlinkat}},
    {kSelect, {bits(1, 0), bits(2, 0), bits(3, 0), out(4, 16), in(5, 16)}, {SYS_pselect6}},
    {kPin, {out_array(0, 1, 8), out(2, 16), in(3, 8)}, {SYS_ppoll}},
    {kPin, {out(1, 8), out(2, 8)}, {SYS_get_robust_list}},
    {kPin, {out(1, 8), out(3, 8)}, {SYS_splice, SYS_copy_file_range}},
    {kRemote, {{1, true, Size::kCount, 2, 16}}, {SYS_vmsplice}},
    {kPin, {in_array(2, 1, 8), in_array(3, 1, 4), out_array(4, 1, 4)}, {SYS_move_pages}},
    {kPin, {out_array(1, 2, 12), in(4, 8)}, {SYS_epoll_pwait}},
    {kPin, {in(1, 8)}, {SYS_signalfd, SYS_signalfd4}},
    {kPin, {in(3, 128)}, {SYS_rt_tgsigqueueinfo}},
    {kPin, {out(0, 256)}, {SYS_perf_event_open}},
    {kMessages, {out_array(1, 2, 64), out(4, 16)}, {SYS_recvmmsg}},
    {kPin, {text(4)}, {SYS_fanotify_mark}},
    {kPin, {text(1), out(2, 136), out(3, 8)}, {SYS_name_to_handle_at}},
    {kPin, {in(1, 136)}, {SYS_open_by_handle_at}},
    {kPin, {out(1, 208)}, {SYS_clock_adjtime}},
    {kMessages, {out_array(1, 2, 64)}, {SYS_sendmmsg}},
    {kPin, {out(0, 4), out(1, 4)}, {SYS_getcpu}},
    {kRemote, {{1, true, Size::kCount, 2, 16}, in_array(3, 4, 16)}, {SYS_process_vm_readv}},
    {kRemote, {{1, false, Size::kCount, 2, 16}, in_array(3, 4, 16)}, {SYS_process_vm_writev}},
    {kPin, {out(1, 128)}, {SYS_sched_setattr}},
    {kProgram, {out(2, 64)}, {SYS_seccomp}},
    {kPieces, {out_bytes(0, 1)}, {SYS_getrandom}},
    {kPin, {in_bytes(3, 2)}, {SYS_kexec_file_load}},
    {kExecute, {text(1), in(2, 8), in(3, 8)}, {SYS_execveat}},
    {kPin, {text(1), out(4, 256)}, {SYS_statx}},
    {kPin, {out_array(3, 2, 32), in(4, 16), in(5, 16)}, {SYS_io_pgetevents}},
    // From glibc 2.38 on, posix_spawn uses clone3, which clears all handlers, even that of SIGSYS. The child runs this
    // process's code and would then make trapped calls without a handler. After ENOSYS, glibc uses clone and resets the
    // handlers one by one.
    {kRefused, {}, {SYS_io_uring_setup, SYS_io_uring_register, SYS_clone3}},
    {kPin, {text(2), in(3, 4096)}, {SYS_fsconfig}},
    {kPin, {in_array(1, 2, 16)}, {SYS_process_madvise}},
    {kPin, {out_array(1, 2, 12), in(3, 16), in(4, 8)}, {SYS_epoll_pwait2}},
    {kPin, {text(1), in_bytes(3, 4)}, {SYS_mount_setattr, 467 /* open_tree_attr */}},
    {kPin, {out(3, 512)}, {443 /* quotactl_fd */}},
    {kPin, {in(2, 64)}, {445 /* landlock_add_rule */}},
    {kWaits, {in_array(0, 1, 24), in(3, 16)}, {449 /* futex_waitv */}},
    {kPin, {in(1, 16), out(2, 40)}, {451 /* cachestat */}},
    {kPin, {out(0, 4)}, {454 /* futex_wake */}},
    {kPin, {out(0, 4), in(4, 16)}, {455 /* futex_wait */}},
    {kWaits, {in(0, 48)}, {456 /* futex_requeue */}},
    {kPin, {in(0, 64), out_bytes(1, 2)}, {457 /* statmount */}},
    {kPin, {in(0, 64), out_array(1, 2, 8)}, {458 /* listmount */}},
    {kPin, {out(1, 4), out_at(0, 1)}, {461 /* lsm_list_modules */}},
    {kValue, {text(1), text(3), in_bytes(4, 5)}, {463 /* setxattrat */}},
    {kValue, {text(1), text(3), out_bytes(4, 5)}, {464 /* getxattrat */}},
    {kPin, {text(1), out_bytes(3, 4)}, {465 /* listxattrat */}},
};

constexpr size_t count_calls() {
  size_t count = 0;
  for (const Alike& alike : kAlike) count += alike.numbers.size();
  return count;
}

constexpr auto kCalls = [] {
  std::array<Call, count_calls()> all{};
  size_t next = 0;
  for (const Alike& alike : kAlike) {
    for (const uint16_t number : alike.numbers) {
      all[next].number = number;
      all[next].action = alike.action;
      for (size_t i = 0; i < 5; ++i) all[next].pointers[i] = alike.pointers[i];
      ++next;
    }
  }
  return all;
}();

}  // namespace

const Call* const calls_table = kCalls.data();
const size_t calls_in_table = kCalls.size();

uint32_t arguments_of(const Call& call) noexcept {
  uint32_t arguments = 0;
  for (const Pointer& pointer : call.pointers) {
    if (pointer.size != Size::kNone) arguments |= 1u << pointer.argument;
  }
  return arguments;
}

bool is_nested(const Call& call) noexcept {
  switch (call.action) {
    case Action::kVector:
    case Action::kRemote:
    case Action::kMessage:
    case Action::kMessages:
    case Action::kSubmit:
    case Action::kWaits:
    case Action::kSignalStack:
    case Action::kSignalMask:
    case Action::kSignalAction:
    case Action::kExecute:
    case Action::kValue: return true;
    default: return false;
  }
}

}  // namespace ringside::memory

#endif
