// SPDX-License-Identifier: BSD-3-Clause
// A private copy of the arena for a forked child. The kernel copies neither the arena nor the frames (MADV_DONTFORK),
// because the fork would share their pages, and neither process could move shared pages. So before the fork, the parent
// writes all content to a file for the child. In the child, all granules are absent at first.
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <string.h>

#include "memory/arena/granule_table.hpp"
#include "memory/arena/parking.hpp"
#include "memory/calls/calls.hpp"
#include "memory/core.hpp"
#include "memory/far/far_file.hpp"
#include "memory/faults/bus_errors.hpp"
#include "memory/faults/handler_thread.hpp"
#include "memory/faults/read_ahead.hpp"
#include "memory/faults/resolve.hpp"
#include "memory/in_place/in_place.hpp"
#include "memory/in_place/sampling.hpp"
#include "memory/replacement/eviction.hpp"
#include "memory/system/available.hpp"
#include "memory/system/line.hpp"

namespace ringside::memory {
namespace {

long write_all(long file, const char* from, uint64_t bytes, uint64_t offset) {
  for (uint64_t done = 0; done < bytes;) {
    const long got = raw(SYS_pwrite64, file, as_long(from + done), static_cast<long>(bytes - done),
                         static_cast<long>(offset + done));
    if (got == -EINTR) continue;
    if (got <= 0) return got < 0 ? got : -ENOSPC;
    done += static_cast<uint64_t>(got);
  }
  return 0;
}

// Fills `buffer` with the content of pages [page, page + count) of a piece, and marks the pages that have content.
// Reads neighbouring absent pages together.
void collect(uint32_t page, uint32_t count, char* buffer, bool* has_content) {
  for (uint32_t i = 0; i < count;) {
    char* const to = buffer + (static_cast<uint64_t>(i) << kPageShift);
    const Word seen = table.claim_surely(page + i, kLeaving);
    has_content[i] = state_of(seen) != kFree && state_of(seen) != kZero;
    uint32_t run = 1;
    switch (state_of(seen)) {
      case kAbsent: {
        // The owner of a word may be waiting for this thread, so this loop claims only words without an owner.
        Word next[kPagesPerPiece];
        while (i + run < count) {
          next[run] = table.word(page + i + run).load(std::memory_order_acquire);
          if (state_of(next[run]) != kAbsent || !table.claim(page + i + run, next[run], kLeaving)) break;
          ++run;
        }
        far.read(static_cast<uint64_t>(page + i) << kPageShift, to, static_cast<size_t>(run) << kPageShift);
        for (uint32_t j = 1; j < run; ++j) {
          has_content[i + j] = true;
          table.close(page + i + j, in_state(next[j], kAbsent));
        }
        break;
      }
      case kInPlace:
      case kResident: memcpy(to, table.address(page + i), kPage); break;
      case kProbation: memcpy(to, parking.address(0, caches.node(node_of(seen)).slot), kPage); break;
      default: break;
    }
    if (state_of(seen) != kFree) table.close(page + i, in_state(seen, state_of(seen)));
    i += run;
  }
}

// Copies a piece: reserves its far memory and writes every page that is not all zeros.
long copy_piece(long file, uint32_t first, char* buffer, uint64_t* bytes) {
  long result = 0;
  for (uint32_t from = first; from < first + kPagesPerPiece && result == 0;) {
    uint32_t to = from;
    while (to < first + kPagesPerPiece && is_allocated(to)) ++to;
    if (to > from) {
      result = raw(SYS_fallocate, file, FALLOC_FL_KEEP_SIZE, static_cast<long>(from) << kPageShift,
                   static_cast<long>(to - from) << kPageShift);
    }
    from = to + 1;
  }
  if (result < 0) return result;
  bool has_content[kPagesPerPiece];
  collect(first, kPagesPerPiece, buffer, has_content);
  for (uint32_t from = 0; from < kPagesPerPiece;) {
    uint32_t to = from;
    while (to < kPagesPerPiece && has_content[to]) ++to;
    const uint64_t length = static_cast<uint64_t>(to - from) << kPageShift;
    const uint64_t in_piece = static_cast<uint64_t>(from) << kPageShift;
    result = write_all(file, buffer + in_piece, length, (static_cast<uint64_t>(first) << kPageShift) + in_piece);
    if (result < 0) return result;
    *bytes += length;
    from = to + 1;
  }
  return 0;
}

}  // namespace

long write_copy(const char* folder, uint64_t* bytes) noexcept {
  *bytes = 0;
  const SignalsBlocked blocked;
  const long direct = far.mapped() ? 0 : O_DIRECT;
  long file = raw(SYS_openat, AT_FDCWD, as_long(folder), O_TMPFILE | O_RDWR | O_CLOEXEC | direct, 0600);
  if (file == -EINVAL && direct != 0) {
    file = raw(SYS_openat, AT_FDCWD, as_long(folder), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  }
  if ((file = out_of_the_way(file)) < 0) return file;
  auto* const buffer = static_cast<char*>(map_table(kPiece));
  long result = buffer == nullptr ? -ENOMEM : raw(SYS_ftruncate, file, static_cast<long>(table.bytes()));
  for (uint32_t piece = 0; piece < table.pieces() && result == 0; ++piece) {
    if (table.size_of_piece(piece).load() != 0) result = copy_piece(file, piece * kPagesPerPiece, buffer, bytes);
  }
  unmap_table(buffer, kPiece);
  if (result == 0) return file;
  raw(SYS_close, file);
  return result;
}

int adopt_copy(int copy, bool signals, bool copy_only) noexcept {
  const char* why = "";
  const uint64_t limit = caches.limit.load(), most_dram = available_memory(&why);
  const uint32_t partitions = caches.partitions();
  why = "no address space for the arena";
  calls.stop();  // drops the pins of the parent's threads
  sampling.forget();
  in_place.stop();
  handler_thread.forget();
  core.userfault.close();
  parking.forget();
  caches.stop();
  long result = far.adopt(copy);
  if (result == 0) result = core.userfault.open(signals, copy_only, &why);
  if (result == 0) result = table.adopt();
  if (result == 0) result = core.userfault.watch(table.address(0), table.bytes());
  if (result == 0) result = parking.start(core.userfault, 2 * most_dram, partitions);
  if (result == 0) result = caches.start(most_dram, partitions);
  if (result == 0) {
    const bool ahead = read_ahead.works();
    resolve.stop();
    result = resolve.start(core.userfault, ahead);
  }
  if (result == 0 && !signals) result = -handler_thread.start(core.userfault);
  if (result != 0) {
    return fail(static_cast<int>(-result), "the arena of a forked child: ", why, " (", error_text(-result), ")");
  }
  calls.adopt();
  eviction.start(core.userfault);
  caches.limit.store(limit);
  core.far_peak_bytes.store(core.far_bytes.load());
  core.started->store(1, std::memory_order_release);
  return 0;
}

void adopt_nothing(bool signals) noexcept {
  calls.stop();
  sampling.forget();
  in_place.stop();
  if (!signals) bus_errors.start(true, false);
  handler_thread.forget();
  core.userfault.close();
  const char* why = "";
  // Without userfaultfd the addresses stay unmapped, and an access raises SIGSEGV.
  if (core.userfault.open(true, true, &why) < 0 || table.adopt() < 0) return;
  if (core.userfault.watch(table.address(0), table.bytes()) < 0)
    raw(SYS_munmap, as_long(table.address(0)), static_cast<long>(table.bytes()));
}

}  // namespace ringside::memory
