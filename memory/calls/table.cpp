// SPDX-License-Identifier: BSD-3-Clause
// The table follows the manual pages of section 2 and include/linux/syscalls.h up to Linux 6.18. Sizes are those of
// the kernel's structures on x86-64. Arguments count from 0.
#include "memory/calls/table.hpp"

#include <sys/syscall.h>

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

}  // namespace

const Call calls_table[] = {
    {SYS_read, kPieces, {out_bytes(1, 2)}},
    {SYS_write, kPieces, {in_bytes(1, 2)}},
    {SYS_open, kPin, {text(0)}},
    {SYS_stat, kPin, {text(0), out(1, 144)}},
    {SYS_fstat, kPin, {out(1, 144)}},
    {SYS_lstat, kPin, {text(0), out(1, 144)}},
    {SYS_poll, kPin, {out_array(0, 1, 8)}},
    {SYS_mmap, kMapping, {address(0)}},
    {SYS_mprotect, kMapping, {address(0)}},
    {SYS_munmap, kMapping, {address(0)}},
    {SYS_rt_sigaction, kSignalAction, {in(1, 32), out(2, 32)}},
    {SYS_rt_sigprocmask, kSignalMask, {in(1, 8), out(2, 8)}},
    {SYS_ioctl, kIoctl, {out(2, 4096)}},
    {SYS_pread64, kPieces, {out_bytes(1, 2)}},
    {SYS_pwrite64, kPieces, {in_bytes(1, 2)}},
    {SYS_readv, kVector, {{1, true, Size::kCount, 2, 16}}},
    {SYS_writev, kVector, {{1, false, Size::kCount, 2, 16}}},
    {SYS_access, kPin, {text(0)}},
    {SYS_pipe, kPin, {out(0, 8)}},
    {SYS_select, kPin, {bits(1, 0), bits(2, 0), bits(3, 0), out(4, 16)}},
    {SYS_mremap, kMapping, {address(0), address(4)}},
    {SYS_msync, kMapping, {address(0)}},
    {SYS_mincore, kPin, {{2, true, Size::kPages, 1, 0}}},
    {SYS_madvise, kMapping, {address(0)}},
    {SYS_shmat, kMapping, {address(1)}},
    {SYS_shmctl, kPin, {out(2, 256)}},
    {SYS_nanosleep, kPin, {in(0, 16), out(1, 16)}},
    {SYS_getitimer, kPin, {out(1, 32)}},
    {SYS_setitimer, kPin, {in(1, 32), out(2, 32)}},
    {SYS_sendfile, kPin, {out(2, 8)}},
    {SYS_connect, kPin, {in_bytes(1, 2)}},
    {SYS_accept, kPin, {out(2, 4), out_at(1, 2)}},
    {SYS_sendto, kPieces, {in_bytes(1, 2), in_bytes(4, 5)}},
    {SYS_recvfrom, kPieces, {out_bytes(1, 2), out(5, 4), out_at(4, 5)}},
    {SYS_sendmsg, kMessage, {in(1, 56)}},
    {SYS_recvmsg, kMessage, {out(1, 56)}},
    {SYS_bind, kPin, {in_bytes(1, 2)}},
    {SYS_getsockname, kPin, {out(2, 4), out_at(1, 2)}},
    {SYS_getpeername, kPin, {out(2, 4), out_at(1, 2)}},
    {SYS_socketpair, kPin, {out(3, 8)}},
    {SYS_setsockopt, kProgram, {in_bytes(3, 4)}},
    {SYS_getsockopt, kPin, {out(4, 4), out_at(3, 4)}},
    {SYS_execve, kExecute, {text(0), in(1, 8), in(2, 8)}},
    {SYS_wait4, kPin, {out(1, 4), out(3, 144)}},
    {SYS_uname, kPin, {out(0, 390)}},
    {SYS_semop, kPin, {in_array(1, 2, 6)}},
    {SYS_semctl, kPin, {out(3, 65536)}},  // an array of up to 32,000 values, or a structure
    {SYS_msgsnd, kPin, {in_bytes(1, 2, 8)}},
    {SYS_msgrcv, kPin, {out_bytes(1, 2, 8)}},
    {SYS_msgctl, kPin, {out(2, 256)}},
    {SYS_fcntl, kPin, {out(2, 64)}},
    {SYS_truncate, kPin, {text(0)}},
    {SYS_getdents, kPin, {out_bytes(1, 2)}},
    {SYS_getcwd, kPin, {out_bytes(0, 1)}},
    {SYS_chdir, kPin, {text(0)}},
    {SYS_rename, kPin, {text(0), text(1)}},
    {SYS_mkdir, kPin, {text(0)}},
    {SYS_rmdir, kPin, {text(0)}},
    {SYS_creat, kPin, {text(0)}},
    {SYS_link, kPin, {text(0), text(1)}},
    {SYS_unlink, kPin, {text(0)}},
    {SYS_symlink, kPin, {text(0), text(1)}},
    {SYS_readlink, kPin, {text(0), out_bytes(1, 2)}},
    {SYS_chmod, kPin, {text(0)}},
    {SYS_chown, kPin, {text(0)}},
    {SYS_lchown, kPin, {text(0)}},
    {SYS_gettimeofday, kPin, {out(0, 16), out(1, 8)}},
    {SYS_getrlimit, kPin, {out(1, 16)}},
    {SYS_getrusage, kPin, {out(1, 144)}},
    {SYS_sysinfo, kPin, {out(0, 112)}},
    {SYS_times, kPin, {out(0, 32)}},
    {SYS_ptrace, kRegisters, {in(2, 64), out(3, 1024)}},
    {SYS_syslog, kPin, {out_bytes(1, 2)}},
    {SYS_getgroups, kPin, {out_array(1, 0, 4)}},
    {SYS_setgroups, kPin, {in_array(1, 0, 4)}},
    {SYS_getresuid, kPin, {out(0, 4), out(1, 4), out(2, 4)}},
    {SYS_getresgid, kPin, {out(0, 4), out(1, 4), out(2, 4)}},
    {SYS_capget, kPin, {out(0, 8), out(1, 24)}},
    {SYS_capset, kPin, {out(0, 8), in(1, 24)}},
    {SYS_rt_sigpending, kPin, {out(0, 8)}},
    {SYS_rt_sigtimedwait, kPin, {in(0, 8), out(1, 128), in(2, 16)}},
    {SYS_rt_sigqueueinfo, kPin, {in(2, 128)}},
    {SYS_rt_sigsuspend, kPin, {in(0, 8)}},
    {SYS_sigaltstack, kSignalStack, {in(0, 24), out(1, 24)}},
    {SYS_utime, kPin, {text(0), in(1, 16)}},
    {SYS_mknod, kPin, {text(0)}},
    {SYS_ustat, kPin, {out(1, 32)}},
    {SYS_statfs, kPin, {text(0), out(1, 120)}},
    {SYS_fstatfs, kPin, {out(1, 120)}},
    {SYS_sysfs, kPin, {text(1), out(2, 256)}},
    {SYS_sched_setparam, kPin, {in(1, 4)}},
    {SYS_sched_getparam, kPin, {out(1, 4)}},
    {SYS_sched_setscheduler, kPin, {in(2, 4)}},
    {SYS_sched_rr_get_interval, kPin, {out(1, 16)}},
    {SYS_mlock, kMapping, {address(0)}},
    {SYS_munlock, kMapping, {address(0)}},
    {SYS_modify_ldt, kPin, {out_bytes(1, 2)}},
    {SYS_pivot_root, kPin, {text(0), text(1)}},
    {SYS_prctl, kPin, {out(1, 128), out(2, 128), out(3, 128), out(4, 128)}},
    {SYS_arch_prctl, kPin, {out(1, 8)}},
    {SYS_adjtimex, kPin, {out(0, 208)}},
    {SYS_setrlimit, kPin, {in(1, 16)}},
    {SYS_chroot, kPin, {text(0)}},
    {SYS_acct, kPin, {text(0)}},
    {SYS_settimeofday, kPin, {in(0, 16), in(1, 8)}},
    {SYS_mount, kPin, {text(0), text(1), text(2), in(4, 4096)}},
    {SYS_umount2, kPin, {text(0)}},
    {SYS_swapon, kPin, {text(0)}},
    {SYS_swapoff, kPin, {text(0)}},
    {SYS_reboot, kPin, {text(3)}},
    {SYS_sethostname, kPin, {in_bytes(0, 1)}},
    {SYS_setdomainname, kPin, {in_bytes(0, 1)}},
    {SYS_init_module, kPin, {in_bytes(0, 1), text(2)}},
    {SYS_delete_module, kPin, {text(0)}},
    {SYS_quotactl, kPin, {text(1), out(3, 512)}},
    {SYS_setxattr, kPin, {text(0), text(1), in_bytes(2, 3)}},
    {SYS_lsetxattr, kPin, {text(0), text(1), in_bytes(2, 3)}},
    {SYS_fsetxattr, kPin, {text(1), in_bytes(2, 3)}},
    {SYS_getxattr, kPin, {text(0), text(1), out_bytes(2, 3)}},
    {SYS_lgetxattr, kPin, {text(0), text(1), out_bytes(2, 3)}},
    {SYS_fgetxattr, kPin, {text(1), out_bytes(2, 3)}},
    {SYS_listxattr, kPin, {text(0), out_bytes(1, 2)}},
    {SYS_llistxattr, kPin, {text(0), out_bytes(1, 2)}},
    {SYS_flistxattr, kPin, {out_bytes(1, 2)}},
    {SYS_removexattr, kPin, {text(0), text(1)}},
    {SYS_lremovexattr, kPin, {text(0), text(1)}},
    {SYS_fremovexattr, kPin, {text(1)}},
    {SYS_time, kPin, {out(0, 8)}},
    {SYS_futex, kPin, {out(0, 4), in(3, 16), out(4, 4)}},
    {SYS_sched_setaffinity, kPin, {in_bytes(2, 1)}},
    {SYS_sched_getaffinity, kPin, {out_bytes(2, 1)}},
    {SYS_io_setup, kPin, {out(1, 8)}},
    {SYS_io_getevents, kPin, {out_array(3, 2, 32), in(4, 16)}},
    {SYS_io_submit, kSubmit, {in_array(2, 1, 8)}},
    {SYS_io_cancel, kPin, {in(1, 64), out(2, 32)}},
    {SYS_remap_file_pages, kMapping, {address(0)}},
    {SYS_getdents64, kPin, {out_bytes(1, 2)}},
    {SYS_semtimedop, kPin, {in_array(1, 2, 6), in(3, 16)}},
    {SYS_timer_create, kPin, {in(1, 64), out(2, 4)}},
    {SYS_timer_settime, kPin, {in(2, 32), out(3, 32)}},
    {SYS_timer_gettime, kPin, {out(1, 32)}},
    {SYS_clock_settime, kPin, {in(1, 16)}},
    {SYS_clock_gettime, kPin, {out(1, 16)}},
    {SYS_clock_getres, kPin, {out(1, 16)}},
    {SYS_clock_nanosleep, kPin, {in(2, 16), out(3, 16)}},
    {SYS_epoll_wait, kPin, {out_array(1, 2, 12)}},
    {SYS_epoll_ctl, kPin, {in(3, 12)}},
    {SYS_utimes, kPin, {text(0), in(1, 32)}},
    {SYS_mbind, kPin, {bits(3, 4)}},
    {SYS_set_mempolicy, kPin, {bits(1, 2)}},
    {SYS_get_mempolicy, kPin, {out(0, 4), bits(1, 2)}},
    {SYS_mq_open, kPin, {text(0), in(3, 64)}},
    {SYS_mq_unlink, kPin, {text(0)}},
    {SYS_mq_timedsend, kPin, {in_bytes(1, 2), in(4, 16)}},
    {SYS_mq_timedreceive, kPin, {out_bytes(1, 2), out(3, 4), in(4, 16)}},
    {SYS_mq_notify, kPin, {in(1, 64)}},
    {SYS_mq_getsetattr, kPin, {in(1, 64), out(2, 64)}},
    {SYS_kexec_load, kPin, {in_array(2, 1, 32)}},
    {SYS_waitid, kPin, {out(2, 128), out(4, 144)}},
    {SYS_add_key, kPin, {text(0), text(1), in_bytes(2, 3)}},
    {SYS_request_key, kPin, {text(0), text(1), text(2)}},
    {SYS_keyctl, kPin, {out(1, 4096), out_bytes(2, 3, 4096), out(3, 4096), out(4, 4096)}},
    {SYS_inotify_add_watch, kPin, {text(1)}},
    {SYS_migrate_pages, kPin, {bits(2, 1), bits(3, 1)}},
    {SYS_openat, kPin, {text(1)}},
    {SYS_mkdirat, kPin, {text(1)}},
    {SYS_mknodat, kPin, {text(1)}},
    {SYS_fchownat, kPin, {text(1)}},
    {SYS_futimesat, kPin, {text(1), in(2, 32)}},
    {SYS_newfstatat, kPin, {text(1), out(2, 144)}},
    {SYS_unlinkat, kPin, {text(1)}},
    {SYS_renameat, kPin, {text(1), text(3)}},
    {SYS_linkat, kPin, {text(1), text(3)}},
    {SYS_symlinkat, kPin, {text(0), text(2)}},
    {SYS_readlinkat, kPin, {text(1), out_bytes(2, 3)}},
    {SYS_fchmodat, kPin, {text(1)}},
    {SYS_faccessat, kPin, {text(1)}},
    {SYS_pselect6, kSelect, {bits(1, 0), bits(2, 0), bits(3, 0), out(4, 16), in(5, 16)}},
    {SYS_ppoll, kPin, {out_array(0, 1, 8), out(2, 16), in(3, 8)}},
    {SYS_get_robust_list, kPin, {out(1, 8), out(2, 8)}},
    {SYS_splice, kPin, {out(1, 8), out(3, 8)}},
    {SYS_vmsplice, kRemote, {{1, true, Size::kCount, 2, 16}}},
    {SYS_move_pages, kPin, {in_array(2, 1, 8), in_array(3, 1, 4), out_array(4, 1, 4)}},
    {SYS_utimensat, kPin, {text(1), in(2, 32)}},
    {SYS_epoll_pwait, kPin, {out_array(1, 2, 12), in(4, 8)}},
    {SYS_signalfd, kPin, {in(1, 8)}},
    {SYS_timerfd_settime, kPin, {in(2, 32), out(3, 32)}},
    {SYS_timerfd_gettime, kPin, {out(1, 32)}},
    {SYS_accept4, kPin, {out(2, 4), out_at(1, 2)}},
    {SYS_signalfd4, kPin, {in(1, 8)}},
    {SYS_pipe2, kPin, {out(0, 8)}},
    {SYS_preadv, kVector, {{1, true, Size::kCount, 2, 16}}},
    {SYS_pwritev, kVector, {{1, false, Size::kCount, 2, 16}}},
    {SYS_rt_tgsigqueueinfo, kPin, {in(3, 128)}},
    {SYS_perf_event_open, kPin, {out(0, 256)}},
    {SYS_recvmmsg, kMessages, {out_array(1, 2, 64), out(4, 16)}},
    {SYS_fanotify_mark, kPin, {text(4)}},
    {SYS_prlimit64, kPin, {in(2, 16), out(3, 16)}},
    {SYS_name_to_handle_at, kPin, {text(1), out(2, 136), out(3, 8)}},
    {SYS_open_by_handle_at, kPin, {in(1, 136)}},
    {SYS_clock_adjtime, kPin, {out(1, 208)}},
    {SYS_sendmmsg, kMessages, {out_array(1, 2, 64)}},
    {SYS_getcpu, kPin, {out(0, 4), out(1, 4)}},
    {SYS_process_vm_readv, kRemote, {{1, true, Size::kCount, 2, 16}, in_array(3, 4, 16)}},
    {SYS_process_vm_writev, kRemote, {{1, false, Size::kCount, 2, 16}, in_array(3, 4, 16)}},
    {SYS_finit_module, kPin, {text(1)}},
    {SYS_sched_setattr, kPin, {out(1, 128)}},
    {SYS_sched_getattr, kPin, {out_bytes(1, 2)}},
    {SYS_renameat2, kPin, {text(1), text(3)}},
    {SYS_seccomp, kProgram, {out(2, 64)}},
    {SYS_getrandom, kPieces, {out_bytes(0, 1)}},
    {SYS_memfd_create, kPin, {text(0)}},
    {SYS_kexec_file_load, kPin, {in_bytes(3, 2)}},
    {SYS_bpf, kPin, {out_bytes(1, 2)}},
    {SYS_mlock2, kMapping, {address(0)}},
    {SYS_execveat, kExecute, {text(1), in(2, 8), in(3, 8)}},
    {SYS_copy_file_range, kPin, {out(1, 8), out(3, 8)}},
    {SYS_preadv2, kVector, {{1, true, Size::kCount, 2, 16}}},
    {SYS_pwritev2, kVector, {{1, false, Size::kCount, 2, 16}}},
    {SYS_pkey_mprotect, kMapping, {address(0)}},
    {SYS_statx, kPin, {text(1), out(4, 256)}},
    {SYS_io_pgetevents, kPin, {out_array(3, 2, 32), in(4, 16), in(5, 16)}},
    {SYS_pidfd_send_signal, kPin, {in(2, 128)}},
    {SYS_io_uring_setup, kRefused, {}},
    {SYS_io_uring_register, kRefused, {}},
    // From glibc 2.38 on, posix_spawn clears all handlers with it, even that of SIGSYS. Its child, which shares this
    // process's code, then makes trapped calls. After ENOSYS glibc uses clone, and resets handlers singly.
    {SYS_clone3, kRefused, {}},
    {SYS_open_tree, kPin, {text(1)}},
    {SYS_move_mount, kPin, {text(1), text(3)}},
    {SYS_fsopen, kPin, {text(0)}},
    {SYS_fsconfig, kPin, {text(2), in(3, 4096)}},
    {SYS_fspick, kPin, {text(1)}},
    {SYS_openat2, kPin, {text(1), in_bytes(2, 3)}},
    {SYS_faccessat2, kPin, {text(1)}},
    {SYS_process_madvise, kPin, {in_array(1, 2, 16)}},
    {SYS_epoll_pwait2, kPin, {out_array(1, 2, 12), in(3, 16), in(4, 8)}},
    {SYS_mount_setattr, kPin, {text(1), in_bytes(3, 4)}},
    // From here on, calls are given by number: older headers lack the names.
    {443, kPin, {out(3, 512)}},                              // quotactl_fd
    {444, kPin, {in_bytes(0, 1)}},                           // landlock_create_ruleset
    {445, kPin, {in(2, 64)}},                                // landlock_add_rule
    {449, kWaits, {in_array(0, 1, 24), in(3, 16)}},          // futex_waitv
    {451, kPin, {in(1, 16), out(2, 40)}},                    // cachestat
    {452, kPin, {text(1)}},                                  // fchmodat2
    {454, kPin, {out(0, 4)}},                                // futex_wake
    {455, kPin, {out(0, 4), in(4, 16)}},                     // futex_wait
    {456, kWaits, {in(0, 48)}},                              // futex_requeue
    {457, kPin, {in(0, 64), out_bytes(1, 2)}},               // statmount
    {458, kPin, {in(0, 64), out_array(1, 2, 8)}},            // listmount
    {459, kPin, {out(2, 4), out_at(1, 2)}},                  // lsm_get_self_attr
    {460, kPin, {in_bytes(1, 2)}},                           // lsm_set_self_attr
    {461, kPin, {out(1, 4), out_at(0, 1)}},                  // lsm_list_modules
    {462, kMapping, {address(0)}},                           // mseal
    {463, kValue, {text(1), text(3), in_bytes(4, 5)}},       // setxattrat
    {464, kValue, {text(1), text(3), out_bytes(4, 5)}},      // getxattrat
    {465, kPin, {text(1), out_bytes(3, 4)}},                 // listxattrat
    {466, kPin, {text(1), text(3)}},                         // removexattrat
    {467, kPin, {text(1), in_bytes(3, 4)}},                  // open_tree_attr
    {468, kPin, {text(1), out_bytes(2, 3)}},                 // file_getattr
    {469, kPin, {text(1), in_bytes(2, 3)}},                  // file_setattr
};
const size_t calls_in_table = sizeof calls_table / sizeof calls_table[0];

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
