// SPDX-License-Identifier: BSD-3-Clause
// An overview of the library; docs/inside/memory_mode.md has the details:
//   start     reserves the arena, the far file and the tables, and registers for page faults: in this file
//   alloc     takes addresses and reserves far memory; every granule reads as zeros: allocation.cpp
//   fault     a load or store of an absent granule brings it into DRAM: faults/resolve.cpp
//   evict     at the limit the oldest granules go to far memory in batches: replacement/page_supply.cpp has the limit,
//             replacement/eviction.cpp the eviction
//   in place  on DAX a region is far memory itself, and frequently used chunks are promoted to DRAM:
//             in_place/in_place.cpp
//   free      returns DRAM, far memory and addresses: allocation.cpp
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "memory/arena/granule_table.hpp"
#include "memory/arena/parking.hpp"
#include "memory/calls/calls.hpp"
#include "memory/core.hpp"
#include "memory/far/far_file.hpp"
#include "memory/faults/bus_errors.hpp"
#include "memory/faults/handler_thread.hpp"
#include "memory/faults/resolve.hpp"
#include "memory/in_place/in_place.hpp"
#include "memory/in_place/sampling.hpp"
#include "memory/replacement/eviction.hpp"
#include "memory/replacement/page_supply.hpp"
#include "memory/ringside_memory.h"
#include "memory/system/available.hpp"
#include "memory/system/line.hpp"

namespace ringside::memory {

constinit Core core;

namespace {

constexpr uint64_t kLeastDram = kPiece;

int bad(const char* field, uint64_t found, const char* accepted) {
  return fail(EINVAL, "ringside_memory_start: ", field, " is ", found, ", expected ", accepted);
}

int check_dram(const char* function, uint64_t dram) {
  const char* bound = "";
  const uint64_t most = available_memory(&bound);
  if (dram >= kLeastDram && dram <= most) return 0;
  return fail(EINVAL, function, ": dram_bytes is ", dram, ", expected ", kLeastDram, " to ", most, " (", bound, ")");
}

int check(const ringside_memory_options& options) {
  if (options.far_folder == nullptr)
    return fail(EINVAL, "ringside_memory_start: far_folder is NULL, expected an existing folder");
  const uint32_t granule = options.granule_bytes;
  if (granule != 0 && (granule < kPage || granule > kPiece || (granule & (granule - 1)) != 0)) {
    return bad("granule_bytes", granule, "0 or a power of two from 4096 to 1048576");
  }
  if (options.faults > RINGSIDE_MEMORY_FAULTS_THREAD)
    return bad("faults", options.faults, "0, 1 (signal) or 2 (thread)");
  if (options.read_ahead > 1) return bad("read_ahead", options.read_ahead, "0 (adaptive) or 1 (never)");
  if (options.in_place > 2) return bad("in_place", options.in_place, "0 (on DAX), 1 (always) or 2 (never)");
  if (options.copy_only > 1) return bad("copy_only", options.copy_only, "0 or 1");
  if (options.system_calls > 1) return bad("system_calls", options.system_calls, "0 or 1");
  if (granule != 0 && options.dram_bytes >= kLeastDram && options.dram_bytes / granule < 16) {
    return bad("dram_bytes", options.dram_bytes, "at least 16 granules");
  }
  return check_dram("ringside_memory_start", options.dram_bytes);
}

/// Sets the emulated timing of a program that does not call ringside_memory_emulate, from the environment.
int check_timing() {
  const char* const given = getenv("RINGSIDE_FAR_TIMING");
  if (given == nullptr || *given == '\0') return 0;
  if (strcmp(given, "optane") != 0) return fail(EINVAL, "RINGSIDE_FAR_TIMING: found '", given, "', expected optane");
  far.emulate(305, 4e9, 2e9);
  return 0;
}

void end_all() {
  sampling.stop();
  if (core.userfault.kernel_faults || core.userfault.descriptor >= 0) handler_thread.stop();
  bus_errors.stop();
  calls.stop();
  core.userfault.close();
  resolve.stop();
  in_place.stop();
  caches.stop();
  parking.stop();
  regions.stop();
  table.stop();
  far.stop();
}

int fail_start(const char* what, long result) {
  end_all();
  Line line;
  line << "ringside_memory_start: " << what << " (" << error_text(-result) << ")";
  const char* name = "";
  const uint64_t addresses = address_limit(&name);
  if (result == -ENOMEM && addresses != UINT64_MAX) {
    line << "; " << name << " permits " << addresses
         << " bytes of addresses, expected no limit: the arena takes twice the "
         << "far memory, its frames " << uint64_t{2 * kKinds} << " times the machine's memory";
  }
  return fail(static_cast<int>(-result), line);
}

int start(const ringside_memory_options& options) {
  if (check(options) != 0 || check_timing() != 0) return -1;
  uint64_t far_bytes = options.far_bytes;
  if (far_bytes == 0) far_bytes = FarFile::free_bytes(options.far_folder);
  if (far_bytes == 0 && errno != 0) return -1;
  far_bytes = (far_bytes + kPiece - 1) & ~(kPiece - 1);
  // Reserves twice as many addresses as far memory has bytes. Gaps between allocations cost no far memory, because the
  // file is sparse.
  uint64_t arena_bytes = far_bytes * 2;
  constexpr uint64_t kMostArena = uint64_t{1} << 44;  // 16 TiB: a page number has 32 bits
  if (arena_bytes > kMostArena || arena_bytes < far_bytes) {
    return bad("far_bytes", far_bytes, "at most 8 TiB");
  }
  // Beyond this limit, the kernel would end the process by SIGXFSZ.
  if (const uint64_t most = process_limit(RLIMIT_FSIZE); arena_bytes > most) {
    return fail(EFBIG, "ringside_memory_start: far folder ", options.far_folder, ": ulimit -f permits files of ", most,
                " bytes, expected twice the far memory (", arena_bytes,
                "): raise it, or use less far memory (far_bytes, --far-limit)");
  }
  const bool signals = options.faults != RINGSIDE_MEMORY_FAULTS_THREAD;
  const char* why = "userfaultfd failed";
  long result = calls.before_start(&why);
  if (result < 0) return fail_start(why, result);
  result = core.userfault.open(signals, options.copy_only == 1, &why);
  if (result < 0) return fail_start(why, result);
  if (far.start(options.far_folder, arena_bytes) != 0) {
    end_all();
    return -1;
  }
  const char* ignored = "";
  const uint64_t most_dram = available_memory(&ignored);
  uint32_t partitions = 1;
  while (partitions < kMostPartitions && options.dram_bytes / partitions > 4 * kPiece) partitions *= 2;
  if ((result = table.start(arena_bytes)) < 0) return fail_start("no address space for the arena", result);
  if ((result = regions.start(table.pieces())) < 0) return fail_start("no address space for the tables", result);
  if ((result = core.userfault.watch(table.address(0), arena_bytes)) < 0)
    return fail_start("userfaultfd cannot watch the arena", result);
  // There are twice as many slots as pages, so that a batch finds neighbouring slots.
  if ((result = parking.start(core.userfault, 2 * most_dram, partitions)) < 0)
    return fail_start("no address space for frames", result);
  if ((result = caches.start(most_dram, partitions)) < 0) return fail_start("no address space for the queues", result);
  if ((result = resolve.start(core.userfault, options.read_ahead == 0)) < 0)
    return fail_start("no memory for buffers", result);
  if ((result = in_place.start(options.in_place, options.dram_bytes, most_dram)) < 0)
    return fail_start("no memory for chunks in place", result);
  eviction.start(core.userfault);
  caches.limit.store(options.dram_bytes);
  core.granule_kind =
      options.granule_bytes == 0 ? 0 : static_cast<uint32_t>(__builtin_ctz(options.granule_bytes)) - kPageShift;
  core.far_limit = far_bytes;
  core.far_bytes.store(0);
  core.far_peak_bytes.store(0);
  if (core.started == nullptr) {
    core.started = static_cast<std::atomic<uint32_t>*>(map_table(kPage));
    if (core.started == nullptr) return fail_start("no memory", -ENOMEM);
    raw(SYS_madvise, as_long(core.started), kPage, MADV_WIPEONFORK);
  }
  int error = bus_errors.start(signals, in_place.possible());
  if (error == 0 && !signals) error = handler_thread.start(core.userfault);
  if (error != 0) return fail_start("faults cannot be served", -error);
  // If the handler thread also serves the kernel's accesses, system calls need not be trapped.
  const bool serve = options.system_calls == 1 && !core.userfault.kernel_faults;
  if ((result = calls.start(serve, &why)) < 0) return fail_start(why, result);
  // This thread starts after the filter is installed, because the library then keeps SIGSYS unblocked in new threads.
  // Otherwise a thread would begin with all signals blocked, and its first trapped call would end the process.
  if ((result = -sampling.start()) < 0) return fail_start("the sampling thread cannot be started", result);
  core.started->store(1, std::memory_order_release);
  return 0;
}

}  // namespace

int need_start(const char* function) noexcept {
  if (core.ready()) return 0;
  return fail(EINVAL, function, ": the arena is not started in this process (a forked child has none)");
}

}  // namespace ringside::memory

using namespace ringside::memory;

extern "C" {

int ringside_memory_start(const struct ringside_memory_options* options) {
  ringside_memory_options given{};
  if (options == nullptr || options->struct_bytes < offsetof(ringside_memory_options, granule_bytes)) {
    return fail(EINVAL,
                "ringside_memory_start: options are missing or struct_bytes is not sizeof(struct "
                "ringside_memory_options)");
  }
  memcpy(&given, options, options->struct_bytes < sizeof given ? options->struct_bytes : sizeof given);
  if (table.bytes() != 0)
    return fail(EALREADY, "ringside_memory_start: the arena has been started; a process can have only one");
  errno = 0;
  return start(given);
}

int ringside_memory_stop(void) {
  if (need_start("ringside_memory_stop") != 0) return -1;
  core.started->store(0, std::memory_order_release);
  end_all();
  return 0;
}

int ringside_memory_limit(uint64_t dram_bytes) {
  if (need_start("ringside_memory_limit") != 0 || check_dram("ringside_memory_limit", dram_bytes) != 0) return -1;
  const SignalsBlocked blocked;
  static constinit Lock one_at_a_time;
  const Held held(one_at_a_time);
  calls.drop_ended();
  const uint64_t before = caches.limit.load();
  const uint64_t pinned = caches.pinned_bytes.load();
  const uint64_t least =
      pinned + pinned / 4 + (core.granule_kind > 0 ? uint64_t{8} << (core.granule_kind + kPageShift) : 0);
  if (dram_bytes >= least) {
    caches.limit.store(dram_bytes);
    if (in_place.shrink(dram_bytes - dram_bytes / 8) && page_supply::shrink()) return 0;
    caches.limit.store(before);
  }
  return fail(EBUSY, "ringside_memory_limit: dram_bytes is ", dram_bytes, ", expected at least ",
              least > kLeastDram ? least : kLeastDram, ": ", pinned, " bytes are pinned");
}

int ringside_memory_flush(void) {
  if (need_start("ringside_memory_flush") != 0) return -1;
  const SignalsBlocked blocked;
  for (uint32_t piece = 0; piece < table.pieces(); ++piece) {
    uint32_t granule = 0, kind = 0;
    if (!Resolve::granule_of(piece * kPagesPerPiece, &granule, &kind)) continue;
    write_back(piece * kPagesPerPiece, kPagesPerPiece, kind);
  }
  far.flush();
  return 0;
}

int ringside_memory_stats(struct ringside_memory_stats* stats) {
  if (need_start("ringside_memory_stats") != 0) return -1;
  const size_t room = stats->struct_bytes;
  struct ringside_memory_stats now {};
  now.struct_bytes = room;
  {
    const SignalsBlocked blocked;
    for (uint32_t i = 0; i < caches.count(); ++i) {
      Cache& cache = caches.at(i);
      const Held held(cache.lock);
      const Counters& here = cache.counters;
      now.faults += here.faults;
      now.faults_probation += here.faults_probation;
      now.faults_zero += here.faults_zero;
      now.faults_far += here.faults_far;
      now.faults_write += here.faults_write;
      now.read_bytes += here.read_bytes;
      now.written_bytes += here.written_bytes;
      now.evicted += here.evicted;
      now.evicted_clean += here.evicted_clean;
      now.read_ahead += here.read_ahead;
      now.read_ahead_used += here.read_ahead_used;
      now.busy += here.busy;
      now.fault_ns += here.fault_ns;
    }
  }
  now.dram_limit_bytes = caches.limit.load();
  now.dram_bytes = caches.dram_bytes.load();
  now.dram_peak_bytes = caches.dram_peak_bytes.load();
  now.far_limit_bytes = core.far_limit;
  now.far_bytes = core.far_bytes.load();
  now.far_peak_bytes = core.far_peak_bytes.load();
  now.pinned_bytes = caches.pinned_bytes.load();
  now.moves = core.userfault.moves ? 1 : 0;
  now.mapped = far.mapped() ? 1 : 0;
  now.placement = static_cast<uint32_t>(in_place.placement());
  now.in_place_bytes = in_place.bytes.load();
  now.promoted_bytes = in_place.promoted_bytes.load();
  now.promotions = in_place.promotions.load();
  now.demotions = in_place.demotions.load();
  now.sampled = in_place.sampled.load();
  now.sampled_touched = in_place.touched.load();
  memcpy(stats, &now, room < sizeof now ? room : sizeof now);
  return 0;
}

int ringside_memory_emulate(double latency_ns, double read_bytes_per_s, double write_bytes_per_s) {
  if (core.ready())
    return fail(EALREADY,
                "ringside_memory_emulate: the arena has been started already; choose emulation before the start");
  far.emulate(latency_ns, read_bytes_per_s, write_bytes_per_s);
  return 0;
}

int ringside_memory_is_in_place(const void* address) {
  return core.ready() && table.owns(address) && in_place.holds(table.page_of(address)) ? 1 : 0;
}

int ringside_memory_owns(const void* address) {
  return table.owns(address) ? 1 : 0;
}

const char* ringside_memory_error(void) {
  return last_failure();
}

}  // extern "C"
