/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libringside_memory: a software Memory Mode. Memory from ringside_memory_alloc is stored in a file (far memory); at
 * most `dram_bytes` of it are in DRAM at a time. Pointers are ordinary pointers. docs/inside/memory_mode.md describes
 * how the library works.
 *
 * A process has one arena. Any thread may call any function. A signal handler may call only those functions whose
 * comment permits it. Functions that can fail return 0 or a pointer. On failure they return -1 or NULL and set errno,
 * and ringside_memory_error() returns one line. Before start, and in a forked child, all functions except owns and
 * is_in_place fail with EINVAL. */
#ifndef RINGSIDE_MEMORY_H
#define RINGSIDE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* How a fault is resolved. */
enum ringside_memory_faults {
  RINGSIDE_MEMORY_FAULTS_SIGNAL = 1, /* in the faulting thread; without system_calls = 1 no call may use the arena */
  RINGSIDE_MEMORY_FAULTS_THREAD = 2  /* by a thread of the library, also for the kernel's accesses if permitted */
};

struct ringside_memory_options {
  size_t struct_bytes;    /* sizeof(struct ringside_memory_options): room to grow */
  const char* far_folder; /* an existing folder on NVDIMM, tmpfs or a disk */
  uint64_t dram_bytes;    /* the limit of frames, at least 1 MiB */
  uint64_t far_bytes;     /* the most that can be allocated; 0: the free space of the folder's file system */
  uint32_t granule_bytes; /* of regions without advice: 4096 to 1048576, a power of two; 0: adapted to the faults */
  uint32_t faults;        /* enum ringside_memory_faults; 0: signal */
  uint32_t read_ahead;    /* 0: adaptive, 1: never */
  uint32_t copy_only;     /* 1: as on a kernel without UFFDIO_MOVE (for tests) */
  /* 1: system calls may use memory of the arena. Without it they may use pinned memory only: with other memory they
   * fail with EFAULT, and a read with O_DIRECT may store into memory that is no longer used. A seccomp filter raises
   * SIGSYS for calls with pointers into the arena. The filter stays for the rest of the process and in the programs
   * that the process starts, where it only refuses io_uring (ENOSYS). On other processors than x86-64, start fails with
   * ENOSYS. Call start while no thread blocks SIGBUS or SIGSYS; later masks and handlers leave both signals unblocked.
   * Without address-space randomisation the program must neither block nor handle these signals.
   * docs/use/memory_programs.md, "System calls", describes threads' stacks in the arena and mappings there. */
  uint32_t system_calls;
  /* Whether far memory on NVDIMM (DAX) or tmpfs is read and written in place. 0: allocations of 1 MiB or more on DAX,
   * once all allocations together exceed the limit; 1: allocations of 1 MiB or more; 2: none. A thread of the library
   * copies chunks that are touched often to DRAM. A store to a chunk that is being copied waits in a handler of
   * SIGSEGV: no thread may block SIGSEGV, and a handler that the program sets after start has to call the library's.
   * The program may not call mprotect there. */
  uint32_t in_place;
};

/* How the library uses far memory, and why. */
enum ringside_memory_placement {
  RINGSIDE_MEMORY_CACHED_ON_DISK = 1,   /* far memory cannot be mapped */
  RINGSIDE_MEMORY_CACHED_IN_MEMORY = 2, /* tmpfs is DRAM: use in place would exceed the limit */
  RINGSIDE_MEMORY_CACHED_AS_ASKED = 3,
  RINGSIDE_MEMORY_IN_PLACE_ON_DAX = 4,
  RINGSIDE_MEMORY_IN_PLACE_AS_ASKED = 5
};

/* Starts the arena. Fails with EALREADY if it is started, ENOSYS or EPERM without userfaultfd, EINVAL for a bad option,
 * or the error of the far folder. */
int ringside_memory_start(const struct ringside_memory_options* options);

/* For experiments, before start: transfers of far memory on tmpfs or DAX last at least as long as a memory with this
 * latency and these bytes per second would take. Zeros end the emulation. Fails with EALREADY once the arena is
 * started. RINGSIDE_FAR_TIMING=optane in the environment of start means (305, 4e9, 2e9). */
int ringside_memory_emulate(double latency_ns, double read_bytes_per_s, double write_bytes_per_s);

/* Ends the arena and frees all of its memory. No thread may use that memory any more. */
int ringside_memory_stop(void);

/* Like malloc, calloc, realloc, aligned_alloc and free, but in far memory. New memory reads as zeros. A size of 0
 * returns a unique pointer. ENOMEM: far memory is full; existing allocations stay unchanged. EINVAL: an alignment that
 * is not a power of two up to 1 GiB, or a pointer (realloc; free sets errno and changes nothing) that is not the start
 * of an allocation. Every request takes whole pages of 4 KiB, so use malloc for small requests. */
void* ringside_memory_alloc(size_t bytes);
void* ringside_memory_calloc(size_t count, size_t bytes);
void* ringside_memory_realloc(void* memory, size_t bytes);
void* ringside_memory_aligned(size_t alignment, size_t bytes);
void ringside_memory_free(void* memory);
/* The usable bytes of the allocation that starts at `memory`; 0 if no allocation starts there. */
size_t ringside_memory_usable(const void* memory);
/* Whether an address is in the arena. Callable from a signal handler. */
int ringside_memory_owns(const void* address);

/* Sets the DRAM limit; returns once no more than `dram_bytes` are in use. Fails and changes nothing: with EBUSY if the
 * limit is below 1.25 times the pinned memory; with EINVAL if it is below 1 MiB, or above the machine's memory or the
 * limit of the memory cgroup. */
int ringside_memory_limit(uint64_t dram_bytes);

enum ringside_memory_advice {
  RINGSIDE_MEMORY_NORMAL = 1,     /* read-ahead adapts */
  RINGSIDE_MEMORY_RANDOM = 2,     /* no read-ahead */
  RINGSIDE_MEMORY_SEQUENTIAL = 3, /* read-ahead from the first fault on */
  RINGSIDE_MEMORY_WILL_NEED = 4,  /* brings the range in now, at most half of the limit */
  RINGSIDE_MEMORY_DONT_NEED = 5,  /* evicts the range now, except pinned memory; keeps the content */
  RINGSIDE_MEMORY_IN_PLACE = 6,   /* ENOTSUP if `placement` of the stats is a cached one */
  RINGSIDE_MEMORY_CACHED = 7      /* undoes IN_PLACE; both fail with EBUSY while a part is pinned */
};
/* Gives advice for a range within one allocation (else EINVAL). NORMAL, RANDOM, SEQUENTIAL, IN_PLACE and CACHED apply
 * to the whole allocation; IN_PLACE and CACHED move its content. */
int ringside_memory_advise(void* memory, size_t bytes, int advice);
/* 1: this address is far memory in place, or in a promoted chunk of it; 0: it is cached, or not in the arena. */
int ringside_memory_is_in_place(const void* address);
/* Sets the granule size of an allocation of 256 KiB or more, in bytes: 4096 to 1048576, a power of two, at most a
 * sixteenth of the limit (else EINVAL). It has no effect in place. Fails with EBUSY while a part is pinned, and with
 * ENOMEM if far memory has no room for a longer last granule. `memory` is the start of the allocation. */
int ringside_memory_granule(void* memory, size_t granule_bytes);

/* Brings a range in and keeps it until it is unpinned. Pins are counted: a granule can have up to 65535 (then
 * EAGAIN). `for_write`: the content is going to change without a store of this process (the kernel writes it). Fails
 * with ENOMEM if less than an eighth of the limit would be left, and with EFAULT if the range is not allocated.
 * Callable from a signal handler. */
int ringside_memory_pin(const void* memory, size_t bytes, int for_write);
int ringside_memory_unpin(const void* memory, size_t bytes);

/* Writes every changed granule to far memory; the granules stay resident. */
int ringside_memory_flush(void);

struct ringside_memory_stats {
  size_t struct_bytes;
  uint64_t dram_limit_bytes, dram_bytes, dram_peak_bytes; /* frames with memory, including pinned ones */
  uint64_t far_limit_bytes, far_bytes, far_peak_bytes;    /* allocated */
  uint64_t faults, faults_probation, faults_zero, faults_far, faults_write; /* write: the first store after a load */
  uint64_t read_bytes, written_bytes;                                       /* from and to far memory */
  uint64_t evicted, evicted_clean;                                          /* granules */
  uint64_t read_ahead, read_ahead_used; /* granules brought in before they were touched */
  uint64_t busy;                        /* evictions that the kernel refused temporarily */
  uint64_t fault_ns;                    /* time of all threads in faults */
  uint64_t pinned_bytes;
  uint32_t moves;  /* 1: UFFDIO_MOVE, 0: UFFDIO_COPY */
  uint32_t mapped; /* 1: far memory is mapped (tmpfs, DAX), 0: read and written */
  uint64_t in_place_bytes, promoted_bytes; /* allocated in place; those in DRAM now (part of dram_bytes) */
  uint64_t promotions, demotions;          /* chunks */
  uint64_t sampled, sampled_touched;       /* samples of a chunk, and how many found it touched */
  uint32_t placement;                      /* enum ringside_memory_placement */
};
/* Fills the first struct_bytes bytes of `stats`. */
#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" /* C++ needs "struct" for the structure of the same name, as for stat(2) */
#endif
int ringside_memory_stats(struct ringside_memory_stats* stats);
#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif

/* One line about the last failure in this thread: what, where, what was found, what would be accepted. Never NULL. */
const char* ringside_memory_error(void);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
