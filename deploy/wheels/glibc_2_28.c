/* SPDX-License-Identifier: BSD-3-Clause */
// Functions of glibc newer than 2.28 (2018) that the wheels' programs need. They are called by GCC 12's own libraries,
// which were made for Debian 12, by libraries in the wheels, and by Ringside. This file is linked into each program and
// library of the wheels, and its functions are visible only there; deploy/wheels.sh links everything else with an older
// glibc. Each function follows the manual of the newer function; none is used where speed matters.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#pragma GCC visibility push(hidden)

// 2.32: whether the process has only one thread. "No" is always a correct answer; it only makes reference counts
// atomic.
char __libc_single_threaded = 0;

// 2.36, for std::random_device and libarchive.
void arc4random_buf(void* bytes, size_t count) {
  for (unsigned char* next = bytes; count > 0;) {
    const ssize_t got = getrandom(next, count, 0);
    if (got < 0 && errno != EINTR) abort();
    if (got <= 0) continue;
    next += got;
    count -= (size_t)got;
  }
}

uint32_t arc4random(void) {
  uint32_t number;
  arc4random_buf(&number, sizeof number);
  return number;
}

// 2.32, also called in handlers of signals.
const char* sigdescr_np(int number) {
  static const char* const kDescriptions[] = {
    [SIGHUP] = "Hangup",
    [SIGINT] = "Interrupt",
    [SIGQUIT] = "Quit",
    [SIGILL] = "Illegal instruction",
    [SIGTRAP] = "Trace/breakpoint trap",
    [SIGABRT] = "Aborted",
    [SIGBUS] = "Bus error",
    [SIGFPE] = "Floating point exception",
    [SIGKILL] = "Killed",
    [SIGUSR1] = "User defined signal 1",
    [SIGSEGV] = "Segmentation fault",
    [SIGUSR2] = "User defined signal 2",
    [SIGPIPE] = "Broken pipe",
    [SIGALRM] = "Alarm clock",
    [SIGTERM] = "Terminated",
    [SIGSTKFLT] = "Stack fault",
    [SIGCHLD] = "Child exited",
    [SIGCONT] = "Continued",
    [SIGSTOP] = "Stopped (signal)",
    [SIGTSTP] = "Stopped",
    [SIGTTIN] = "Stopped (tty input)",
    [SIGTTOU] = "Stopped (tty output)",
    [SIGURG] = "Urgent I/O condition",
    [SIGXCPU] = "CPU time limit exceeded",
    [SIGXFSZ] = "File size limit exceeded",
    [SIGVTALRM] = "Virtual timer expired",
    [SIGPROF] = "Profiling timer expired",
    [SIGWINCH] = "Window changed",
    [SIGIO] = "I/O possible",
    [SIGPWR] = "Power failure",
    [SIGSYS] = "Bad system call",
  };
  return number > 0 && number < (int)(sizeof kDescriptions / sizeof kDescriptions[0]) ? kDescriptions[number] : NULL;
}

// 2.32, also called in handlers of signals.
const char* strerrordesc_np(int number) {
  static const char* const kDescriptions[] = {
    [0] = "Success",
    [EPERM] = "Operation not permitted",
    [ENOENT] = "No such file or directory",
    [ESRCH] = "No such process",
    [EINTR] = "Interrupted system call",
    [EIO] = "Input/output error",
    [ENXIO] = "No such device or address",
    [E2BIG] = "Argument list too long",
    [ENOEXEC] = "Exec format error",
    [EBADF] = "Bad file descriptor",
    [ECHILD] = "No child processes",
    [EAGAIN] = "Resource temporarily unavailable",
    [ENOMEM] = "Cannot allocate memory",
    [EACCES] = "Permission denied",
    [EFAULT] = "Bad address",
    [ENOTBLK] = "Block device required",
    [EBUSY] = "Device or resource busy",
    [EEXIST] = "File exists",
    [EXDEV] = "Invalid cross-device link",
    [ENODEV] = "No such device",
    [ENOTDIR] = "Not a directory",
    [EISDIR] = "Is a directory",
    [EINVAL] = "Invalid argument",
    [ENFILE] = "Too many open files in system",
    [EMFILE] = "Too many open files",
    [ENOTTY] = "Inappropriate ioctl for device",
    [ETXTBSY] = "Text file busy",
    [EFBIG] = "File too large",
    [ENOSPC] = "No space left on device",
    [ESPIPE] = "Illegal seek",
    [EROFS] = "Read-only file system",
    [EMLINK] = "Too many links",
    [EPIPE] = "Broken pipe",
    [EDOM] = "Numerical argument out of domain",
    [ERANGE] = "Numerical result out of range",
    [EDEADLOCK] = "Resource deadlock avoided",
    [ENAMETOOLONG] = "File name too long",
    [ENOLCK] = "No locks available",
    [ENOSYS] = "Function not implemented",
    [ENOTEMPTY] = "Directory not empty",
    [ELOOP] = "Too many levels of symbolic links",
    [ENOMSG] = "No message of desired type",
    [EIDRM] = "Identifier removed",
    [ECHRNG] = "Channel number out of range",
    [EL2NSYNC] = "Level 2 not synchronized",
    [EL3HLT] = "Level 3 halted",
    [EL3RST] = "Level 3 reset",
    [ELNRNG] = "Link number out of range",
    [EUNATCH] = "Protocol driver not attached",
    [ENOCSI] = "No CSI structure available",
    [EL2HLT] = "Level 2 halted",
    [EBADE] = "Invalid exchange",
    [EBADR] = "Invalid request descriptor",
    [EXFULL] = "Exchange full",
    [ENOANO] = "No anode",
    [EBADRQC] = "Invalid request code",
    [EBADSLT] = "Invalid slot",
    [EBFONT] = "Bad font file format",
    [ENOSTR] = "Device not a stream",
    [ENODATA] = "No data available",
    [ETIME] = "Timer expired",
    [ENOSR] = "Out of streams resources",
    [ENONET] = "Machine is not on the network",
    [ENOPKG] = "Package not installed",
    [EREMOTE] = "Object is remote",
    [ENOLINK] = "Link has been severed",
    [EADV] = "Advertise error",
    [ESRMNT] = "Srmount error",
    [ECOMM] = "Communication error on send",
    [EPROTO] = "Protocol error",
    [EMULTIHOP] = "Multihop attempted",
    [EDOTDOT] = "RFS specific error",
    [EBADMSG] = "Bad message",
    [EOVERFLOW] = "Value too large for defined data type",
    [ENOTUNIQ] = "Name not unique on network",
    [EBADFD] = "File descriptor in bad state",
    [EREMCHG] = "Remote address changed",
    [ELIBACC] = "Can not access a needed shared library",
    [ELIBBAD] = "Accessing a corrupted shared library",
    [ELIBSCN] = ".lib section in a.out corrupted",
    [ELIBMAX] = "Attempting to link in too many shared libraries",
    [ELIBEXEC] = "Cannot exec a shared library directly",
    [EILSEQ] = "Invalid or incomplete multibyte or wide character",
    [ERESTART] = "Interrupted system call should be restarted",
    [ESTRPIPE] = "Streams pipe error",
    [EUSERS] = "Too many users",
    [ENOTSOCK] = "Socket operation on non-socket",
    [EDESTADDRREQ] = "Destination address required",
    [EMSGSIZE] = "Message too long",
    [EPROTOTYPE] = "Protocol wrong type for socket",
    [ENOPROTOOPT] = "Protocol not available",
    [EPROTONOSUPPORT] = "Protocol not supported",
    [ESOCKTNOSUPPORT] = "Socket type not supported",
    [ENOTSUP] = "Operation not supported",
    [EPFNOSUPPORT] = "Protocol family not supported",
    [EAFNOSUPPORT] = "Address family not supported by protocol",
    [EADDRINUSE] = "Address already in use",
    [EADDRNOTAVAIL] = "Cannot assign requested address",
    [ENETDOWN] = "Network is down",
    [ENETUNREACH] = "Network is unreachable",
    [ENETRESET] = "Network dropped connection on reset",
    [ECONNABORTED] = "Software caused connection abort",
    [ECONNRESET] = "Connection reset by peer",
    [ENOBUFS] = "No buffer space available",
    [EISCONN] = "Transport endpoint is already connected",
    [ENOTCONN] = "Transport endpoint is not connected",
    [ESHUTDOWN] = "Cannot send after transport endpoint shutdown",
    [ETOOMANYREFS] = "Too many references: cannot splice",
    [ETIMEDOUT] = "Connection timed out",
    [ECONNREFUSED] = "Connection refused",
    [EHOSTDOWN] = "Host is down",
    [EHOSTUNREACH] = "No route to host",
    [EALREADY] = "Operation already in progress",
    [EINPROGRESS] = "Operation now in progress",
    [ESTALE] = "Stale file handle",
    [EUCLEAN] = "Structure needs cleaning",
    [ENOTNAM] = "Not a XENIX named type file",
    [ENAVAIL] = "No XENIX semaphores available",
    [EISNAM] = "Is a named type file",
    [EREMOTEIO] = "Remote I/O error",
    [EDQUOT] = "Disk quota exceeded",
    [ENOMEDIUM] = "No medium found",
    [EMEDIUMTYPE] = "Wrong medium type",
    [ECANCELED] = "Operation canceled",
    [ENOKEY] = "Required key not available",
    [EKEYEXPIRED] = "Key has expired",
    [EKEYREVOKED] = "Key has been revoked",
    [EKEYREJECTED] = "Key was rejected by service",
    [EOWNERDEAD] = "Owner died",
    [ENOTRECOVERABLE] = "State not recoverable",
    [ERFKILL] = "Operation not possible due to RF-kill",
  };
  return number >= 0 && number < (int)(sizeof kDescriptions / sizeof kDescriptions[0]) ? kDescriptions[number] : NULL;
}

// 2.30.
pid_t gettid(void) {
  return (pid_t)syscall(SYS_gettid);
}

// 2.29, for `ringside plan`: calls the C library's own function. If the C library lacks it, an application with its own
// folder is refused.
int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t* restrict actions, const char* restrict folder) {
  int (*real)(posix_spawn_file_actions_t*, const char*);
  *(void**)&real = dlsym(RTLD_DEFAULT, "posix_spawn_file_actions_addchdir_np");
  return real != NULL ? real(actions, folder) : ENOSYS;
}

// 2.35, for the unwinder: the object that contains an address, and its table of frames.
struct Search {
  uintptr_t address;
  struct dl_find_object* found;
};

static int look(struct dl_phdr_info* object, size_t bytes, void* data) {
  (void)bytes;
  struct Search* search = data;
  uintptr_t begin = UINTPTR_MAX, end = 0;
  void* frames = NULL;
  int holds = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &object->dlpi_phdr[i];
    const uintptr_t at = object->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_LOAD) {
      if (at < begin) begin = at;
      if (at + part->p_memsz > end) end = at + part->p_memsz;
      if (search->address >= at && search->address < at + part->p_memsz) holds = 1;
    } else if (part->p_type == PT_GNU_EH_FRAME) {
      frames = (void*)at;
    }
  }
  if (!holds) return 0;
  if (frames == NULL) return -1;
  search->found->dlfo_map_start = (void*)begin;
  search->found->dlfo_map_end = (void*)end;
  search->found->dlfo_eh_frame = frames;
  return 1;
}

int _dl_find_object(void* address, struct dl_find_object* found) {
  struct Search search = {(uintptr_t)address, found};
  return dl_iterate_phdr(look, &search) == 1 ? 0 : -1;
}

// 2.30: waits by a given clock. Older functions use only CLOCK_REALTIME, so the remaining time is added to it.
static struct timespec as_real_time(clockid_t clock, const struct timespec* until) {
  struct timespec now, real;
  if (clock == CLOCK_REALTIME) return *until;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &real);
  real.tv_sec += until->tv_sec - now.tv_sec;
  real.tv_nsec += until->tv_nsec - now.tv_nsec;
  if (real.tv_nsec < 0) {
    real.tv_nsec += 1000000000;
    --real.tv_sec;
  } else if (real.tv_nsec >= 1000000000) {
    real.tv_nsec -= 1000000000;
    ++real.tv_sec;
  }
  return real;
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const struct timespec* until) {
  const struct timespec real = as_real_time(clock, until);
  return pthread_cond_timedwait(condition, mutex, &real);
}

int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const struct timespec* until) {
  const struct timespec real = as_real_time(clock, until);
  return pthread_mutex_timedlock(mutex, &real);
}

// 2.29: these functions only differ from the older ones in how they report errors, which no caller here uses.
#define OLD_ONE(name, parameters, arguments)              \
  extern __attribute__((visibility("default"))) double old_##name parameters; \
  __asm__(".symver old_" #name ", " #name "@GLIBC_2.2.5"); \
  double name parameters { return old_##name arguments; }
OLD_ONE(exp, (double x), (x))
OLD_ONE(exp2, (double x), (x))
OLD_ONE(log, (double x), (x))
OLD_ONE(log2, (double x), (x))
OLD_ONE(pow, (double x, double y), (x, y))

#pragma GCC visibility pop
