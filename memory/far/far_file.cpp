// SPDX-License-Identifier: BSD-3-Clause
#include "memory/far/far_file.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/magic.h>
#include <linux/stat.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>

#include "memory/system/line.hpp"
#include "memory/system/raw.hpp"

namespace ringside::memory {

constinit FarFile far;

namespace {

constexpr uint64_t kAttributeDax = 0x200000;  // STATX_ATTR_DAX

bool lies_in_dram(long descriptor) {
  struct statfs system {};
  return raw(SYS_fstatfs, descriptor, as_long(&system)) == 0 &&
         (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC);
}

bool lies_on_dax(long descriptor) {
  struct statx attributes {};
  return raw(SYS_statx, descriptor, as_long(""), AT_EMPTY_PATH, 0, as_long(&attributes)) == 0 &&
         (attributes.stx_attributes & kAttributeDax) != 0;
}

int fail_far(long result, const char* what, const char* folder, const char* accepted) {
  return fail(static_cast<int>(-result), "ringside_memory_start: far folder ", folder, ": ", what, " (",
              error_text(-result), "); expected ", accepted);
}

long open_unnamed(const char* folder, long flags) {
  return raw(SYS_openat, AT_FDCWD, as_long(folder), flags | O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

long allocate(int descriptor, long mode, uint64_t offset, uint64_t bytes) {
  long result = 0;
  do {
    result = raw(SYS_fallocate, descriptor, mode, static_cast<long>(offset), static_cast<long>(bytes));
  } while (result == -EINTR);
  return result;
}

constexpr long kHole = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;

}  // namespace

uint64_t FarFile::free_bytes(const char* folder) noexcept {
  struct statfs system {};
  const long result = raw(SYS_statfs, as_long(folder), as_long(&system));
  if (result < 0) {
    fail_far(result, "cannot be inspected", folder, "an existing folder");
    return 0;
  }
  return static_cast<uint64_t>(system.f_bavail) * static_cast<uint64_t>(system.f_bsize);
}

int FarFile::start(const char* folder, uint64_t arena_bytes) noexcept {
  long got = open_unnamed(folder, 0);
  if (got < 0)
    return fail_far(got, "no unnamed file can be made", folder,
                    "a folder that can be written, on tmpfs, ext4, xfs or btrfs");
  dax_ = lies_on_dax(got);
  const bool mapped = dax_ || lies_in_dram(got);
  bool past_page_cache = false;
  if (!mapped) {
    const long direct = open_unnamed(folder, O_DIRECT);
    if (direct >= 0) {
      raw(SYS_close, got);
      got = direct;
      past_page_cache = true;
    }
  }
  descriptor_ = static_cast<int>(out_of_the_way(got));
  bytes_ = arena_bytes;
  long result = raw(SYS_ftruncate, descriptor_, static_cast<long>(bytes_));
  if (result < 0)
    return fail_far(result, "the file cannot be made as large as the arena", folder, "a smaller far_bytes");
  result = allocate(descriptor_, 0, 0, 1 << 20);
  if (result == 0) result = allocate(descriptor_, kHole, 0, 1 << 20);
  if (result < 0) {
    return fail_far(result, "space cannot be reserved or given back", folder,
                    "tmpfs, ext4, xfs or btrfs with free space");
  }
  if (past_page_cache) start_beside_page_cache();
  if (!mapped || (result = map_file()) >= 0) return 0;
  return fail_far(result, "the file cannot be mapped", folder, "a smaller far_bytes, or larger ulimit -v and -d");
}

long FarFile::map_file() noexcept {
  const long at = raw(SYS_mmap, 0, static_cast<long>(bytes_), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (at < 0 && at > -4096) return at;
  map_ = reinterpret_cast<char*>(static_cast<uintptr_t>(at));
  raw(SYS_madvise, at, static_cast<long>(bytes_), MADV_DONTFORK);
  // A core dump would read the whole file, including its holes, and would take that much memory. The core dump would
  // include this mapping, because a mapping of a file without a name counts as anonymous.
  raw(SYS_madvise, at, static_cast<long>(bytes_), MADV_DONTDUMP);
  return 0;
}

void FarFile::start_beside_page_cache() noexcept {
  stages_.start(descriptor_);
  write_behind_.start(descriptor_);
}

// The child has not inherited the mapping, the stages and the writes. So it unmaps nothing and waits for nothing.
long FarFile::adopt(int descriptor) noexcept {
  const bool past_page_cache = stages_.any() || write_behind_.any();
  stages_.forget();
  write_behind_.forget();
  raw(SYS_close, descriptor_);
  descriptor_ = descriptor;
  if (past_page_cache) start_beside_page_cache();
  return mapped() ? map_file() : 0;
}

void FarFile::stop() noexcept {
  write_behind_.stop();
  stages_.stop();
  unmap_table(map_, bytes_);
  map_ = nullptr;
  if (descriptor_ >= 0) raw(SYS_close, descriptor_);
  descriptor_ = -1;
}

long FarFile::reserve(uint64_t offset, uint64_t bytes) const noexcept {
  return allocate(descriptor_, FALLOC_FL_KEEP_SIZE, offset, bytes);
}

void FarFile::punch(uint64_t offset, uint64_t bytes) noexcept {
  write_behind_.wait(offset, bytes);  // otherwise a later write could fill the hole again
  const long result = allocate(descriptor_, kHole, offset, bytes);
  if (result < 0) die("cannot give space of far memory back (fallocate)", result);
  stages_.changed(offset, bytes);
}

void FarFile::emulate(double latency_ns, double read_bytes_per_s, double write_bytes_per_s) noexcept {
  const bool on = latency_ns > 0 && read_bytes_per_s > 0 && write_bytes_per_s > 0;
  latency_ns_ = on ? latency_ns : 0;
  read_ns_per_byte_ = on ? 1e9 / read_bytes_per_s : 0;
  write_ns_per_byte_ = on ? 1e9 / write_bytes_per_s : 0;
}

void FarFile::wait_until_emulated(Transfer transfer, uint64_t begin_ns, size_t bytes) const noexcept {
  const double per_byte = transfer == kWrite ? write_ns_per_byte_ : read_ns_per_byte_;
  const uint64_t end = begin_ns + static_cast<uint64_t>(latency_ns_ + static_cast<double>(bytes) * per_byte);
  while (now_ns() < end) pause_core();  // waits on this core, as a copy from such memory would
}

void FarFile::read(uint64_t offset, char* to, size_t bytes) noexcept {
  const uint64_t begin = begin_ns();
  if (mapped()) {
    memcpy(to, map_ + offset, bytes);
    pace(kRead, begin, bytes);
    return;
  }
  if (write_behind_.any() && write_behind_.take(offset, to, bytes)) return;
  if (stages_.any() && stages_.take(offset, to, bytes)) return;
  for (size_t done = 0; done < bytes;) {
    const long got = raw(SYS_pread64, descriptor_, as_long(to + done), static_cast<long>(bytes - done),
                         static_cast<long>(offset + done));
    if (got == -EINTR) continue;
    if (got <= 0) die("cannot read far memory", got);
    done += static_cast<size_t>(got);
  }
}

void FarFile::write(uint64_t offset, const char* from, size_t bytes, Writes& together) noexcept {
  const uint64_t begin = begin_ns();
  if (mapped()) {
    memcpy(map_ + offset, from, bytes);
    pace(kWrite, begin, bytes);
    return;
  }
  if (write_behind_.any()) {
    write_behind_.copy(offset, from, bytes, together);
  } else {
    write_now(descriptor_, offset, from, bytes);
  }
  stages_.changed(offset, bytes);
}

}  // namespace ringside::memory
