// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/pool/ring_pool.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <libpmemobj.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <span>
#include <string>
#include <utility>

#include "analyzer/pool/dax.hpp"
#include "analyzer/pool/pmdk_syncs.hpp"
#include "analyzer/pool/pool_file.hpp"
#include "analyzer/pool/pool_persistence.hpp"
#include "analyzer/ring/ring_creation.hpp"
#include "common/files/creation_mark.hpp"
#include "common/files/output_file.hpp"
#include "common/files/slot_lease.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "common/platform/huge_pages.hpp"
#include "common/platform/unique_fd.hpp"
#include "common/ring/pmdk_metadata.hpp"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14
#endif

namespace ringside {
namespace {

namespace fs = std::filesystem;

// libpmemobj divides its heap into zones of up to kZoneChunks chunks, each with a header. An object begins with 16
// bytes for the allocator, and does not extend from one zone into the next.
constexpr std::uint64_t kHeapChunkBytes = 256 << 10;
constexpr std::uint64_t kZoneChunks = 65528;
constexpr std::uint64_t kZoneHeaderBytes = 512 << 10;
constexpr std::uint64_t kObjectHeaderBytes = 16;
constexpr std::uint64_t kMaxObjectBytes = PMEMOBJ_MAX_ALLOC_SIZE;
constexpr std::uint64_t kBeforeHeapBytes = 4 << 20;  // pool header and lanes, rounded up
constexpr std::uint64_t kSpareChunks = 4;
static_assert(kLeastPoolBytes == PMEMOBJ_MIN_POOL);

std::uint64_t heap_chunks(std::uint64_t object_bytes) {
  return (object_bytes + kObjectHeaderBytes + kHeapChunkBytes - 1) / kHeapChunkBytes;
}

/// libpmemobj's message about its last failure, on one line.
std::string pmdk_message() {
  std::string message = pmemobj_errormsg();
  std::replace(message.begin(), message.end(), '\n', ' ');
  return message;
}

/// Storage is DAX only if the kernel confirms it, for the file and for libpmemobj's mapping of it.
Storage confirmed(Storage storage, const void* base, std::uint64_t bytes) {
  if (persists_in_place(storage) && !forced_dax_allowed() && !is_mapped_synchronously(base, bytes))
    return Storage::kFile;
  return storage;
}

Error cannot_sync(const std::string& name, int error) {
  return system_error("{}: the pool could not be synced to its disk: {}", name, errno_text(error));
}

std::atomic<bool> one_left_open{false};

std::uint64_t available_memory_bytes() {
  std::ifstream meminfo("/proc/meminfo");
  std::string key;
  std::uint64_t kib = 0;
  for (std::string rest; meminfo >> key >> kib && std::getline(meminfo, rest);) {
    if (key == "MemAvailable:") return kib << 10;
  }
  return 0;
}

}  // namespace

PoolLeases::PoolLeases(int fd, std::uint32_t slots) noexcept
    : fd_(fd), available_(has_leases(fd, slots, Lease::kExclusive)) {}

bool PoolLeases::take(std::uint32_t slot) noexcept {
  return !available_ || take_lease(fd_, slot, Lease::kExclusive) != LeaseStatus::kHeld;
}

void PoolLeases::give_back(std::uint32_t slot) noexcept {
  if (available_) end_lease(fd_, slot);
}

void RingPool::Close::operator()(pmemobjpool* pool) const noexcept {
  if (watched && !watched->intact()) {
    one_left_open.store(true);
    return;
  }
  const PmdkSyncs unheeded;  // errors of libpmemobj's statistics do not matter
  pmemobj_close(pool);
}

void RingPool::watch(const std::string& name, int fd, std::uint64_t bytes) {
  pool_.get_deleter().watched = std::make_shared<WatchedMapping>(name, fd, base(), bytes);
}

bool RingPool::left_one_open() noexcept {
  return one_left_open.load();
}

std::uint64_t RingPool::file_bytes(const RingShape& shape, std::uint32_t slots) {
  if (slots < kMinSlots || slots > kMaxSlots) {
    throw usage_error("--slots {}: a ring has {} to {} slots", slots, kMinSlots, kMaxSlots);
  }
  RingGeometry geometry(shape);
  geometry.slots.resize(slots);
  if (slot_object_bytes(geometry) > kMaxObjectBytes) {
    throw usage_error(
        "a step of {} bytes cannot be kept: a slot is one object of at most {} bytes, but this step needs a slot of {}",
        geometry.payload_bytes(), kMaxObjectBytes, slot_object_bytes(geometry));
  }
  const std::uint64_t first_chunks = heap_chunks(root_object_bytes(geometry)) + kSpareChunks;
  const std::uint64_t slot_chunks = heap_chunks(slot_object_bytes(geometry));
  const std::uint64_t zone_bytes = kZoneHeaderBytes + kZoneChunks * kHeapChunkBytes;

  // First count the zones that objects fill completely, then the last zone with the rest.
  std::uint64_t bytes = kBeforeHeapBytes;
  const std::uint64_t each = slots_in_object(geometry);
  std::uint64_t left = (slots + each - 1) / each;  // objects
  std::uint64_t taken_chunks = first_chunks;
  while (left > (kZoneChunks - taken_chunks) / slot_chunks) {
    left -= (kZoneChunks - taken_chunks) / slot_chunks;
    taken_chunks = 0;
    bytes += zone_bytes;
  }
  bytes += kZoneHeaderBytes + (taken_chunks + left * slot_chunks + 1) * kHeapChunkBytes;
  return round_up(bytes, kHugePageBytes);
}

RingPool RingPool::create(const fs::path& path, const RingShape& shape, std::uint32_t slots, Foreign foreign) {
  return make(path, path.string(), shape, slots, foreign);
}

RingPool RingPool::make(const fs::path& path, const std::string& name, const RingShape& shape, std::uint32_t slots,
                        Foreign foreign) {
  const std::uint64_t bytes = file_bytes(shape, slots);

  UniqueFd fd = make_pool_file(path, name);
  const struct stat made = status_of(fd.get(), name);
  UnlinkUnlessKept unlink_unless_kept(path, made);
  // Some mounts (vfat, NFS with mapped users) give a new file to another user.
  if (foreign == Foreign::kRefused) refuse_foreign_file(made, name);
  if (fchmod(fd.get(), kPrivateMode) != 0) throw system_error("{}: {}", name, errno_text(errno));
  allocate_blocks(fd.get(), bytes, name);

  RingPool pool;
  pool.storage_ = storage_of(fd.get(), name);
  if (!persists_in_place(pool.storage_)) {
    // The shutdown state counts unsafe shutdowns of DIMMs; a plain file has no DIMMs.
    int no_shutdown_state = 0;
    pmemobj_ctl_set(nullptr, "sds.at_create", &no_shutdown_state);
  }
  // libpmemobj opens the file again and can lock it only once this descriptor's lock is released. The mark stays.
  flock(fd.get(), LOCK_UN);
  std::optional<WatchedMapping> watched_call(std::in_place, name, fd.get());
  const PmdkSyncs syncs;
  pool.pool_.reset(pmemobj_create(path.c_str(), kPoolLayoutName, 0, kPrivateMode));
  watched_call.reset();
  if (!pool.pool_ && errno == EAGAIN) throw in_use(name);
  if (!pool.pool_) throw system_error("{}: libpmemobj cannot make the pool: {}", name, pmdk_message());
  pool.watch(name, fd.get(), bytes);
  pool.survive_faults();                             // a new pool holds no data that could be misread
  if (!still_named(path, made)) throw in_use(name);  // replaced by another process in that moment
  pool.storage_ = confirmed(pool.storage_, pool.base(), bytes);
  UniqueFd for_persistence(fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
  if (!for_persistence.valid()) throw system_error("{}: {}", name, errno_text(errno));
  pool.persistence_ =
      make_pool_persistence(pool.storage_, std::move(for_persistence), pool.base(), pool.pool_.get_deleter().watched);

  // The root is allocated first, so that it is at the beginning of the heap, where readers look for superblocks.
  RingGeometry geometry(shape);
  geometry.slots.resize(slots);
  geometry.file_bytes = bytes;
  geometry.created_realtime_ns = realtime_ns();
  geometry.pool_id = random_id();
  const PMEMoid root = pmemobj_root(pool.pool_.get(), root_object_bytes(geometry));
  if (OID_IS_NULL(root))
    throw system_error("{}: libpmemobj cannot allocate the pool's root object: {}", name, pmdk_message());
  place_root(root.off, geometry);
  const std::uint32_t each = slots_in_object(geometry);
  PMEMoid object;
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    if (slot % each == 0 && pmemobj_alloc(pool.pool_.get(), &object, slot_object_bytes(geometry), 0, nullptr, nullptr) != 0) {
      throw system_error("{}: libpmemobj cannot allocate slot {} of {} in {} bytes: {}", name, slot, slots, bytes,
                         pmdk_message());
    }
    geometry.slots[slot] = place_slot(object.off + slot % each * slot_bytes(geometry), geometry);
  }

  const std::span<std::byte> file(pool.base(), bytes);
  if (syncs.error() != 0) {
    pool.pool_.get_deleter().watched->note(syncs.error());
    throw cannot_sync(name, syncs.error());
  }
  geometry.pmdk_hash = pmdk_metadata_hash(file, geometry.superblock_offset[0]);  // nothing is allocated after this line
  if (const int error = format_ring(file, geometry, *pool.persistence_)) {
    throw system_error("{}: the new pool could not be synced to its disk: {}", name, errno_text(error));
  }
  // One fsync is enough: from now on only the content changes, and fdatasync or flushes persist the content.
  if (fsync(fd.get()) != 0) {
    const int error = errno;
    pool.pool_.get_deleter().watched->note(error);
    throw system_error("{}: the new pool could not be synced to its disk: {}", name, errno_text(error));
  }
  sync_folder_of(path, name);
  pool.ring_ = std::make_unique<WritableRing>(WritableRing::parse(file, name));
  unmark_as_being_made(fd.get());
  unlink_unless_kept.keep();
  pool.path_ = path;
  pool.file_ = std::move(fd);
  pool.leases_ = std::make_unique<PoolLeases>(pool.file_.get(), slots);
  return pool;
}

RingPool RingPool::make_alone(const fs::path& file, const std::string& name, const RingShape& shape,
                              std::uint32_t slots, Foreign foreign) {
  try {
    return make(file, name, shape, slots, foreign);
  } catch (const PoolExistsError&) {  // another process has made one since the check
    throw in_use(name);
  }
}

RingPool RingPool::replace(const fs::path& path, RingPool old, const RingShape& shape, std::uint32_t slots,
                           Foreign foreign) {
  const fs::path file = real_path(path);  // a symbolic link stays; its target is replaced
  return replace_locked(path, file, open_pool_file(file.string(), O_RDWR), std::move(old), shape, slots, foreign);
}

RingPool RingPool::replace_unownable(const fs::path& path, const RingShape& shape, std::uint32_t slots,
                                     Foreign foreign) {
  const std::string name = path.string();
  const fs::path file = real_path(path);
  UniqueFd fd = open_pool_file(file.string(), O_RDWR);
  lock_named_or_throw(fd.get(), file, name);
  check_is_ring(fd.get(), name);
  return replace_locked(path, file, std::move(fd), std::nullopt, shape, slots, foreign);
}

RingPool RingPool::replace_locked(const fs::path& path, const fs::path& file, UniqueFd fd, std::optional<RingPool> old,
                                  const RingShape& shape, std::uint32_t slots, Foreign foreign) {
  const std::string name = path.string();
  const fs::path made = file.string() + ".new";
  const std::uint64_t needed = file_bytes(shape, slots);
  remove_leftover(made);
  if (room_for(needed, fd.get(), name) == Room::kForOne) {
    // The old pool is unlinked while it is locked, so that no other process can become its owner. Its blocks become
    // free when its last user closes it.
    if (unlink(file.c_str()) != 0) throw system_error("{}: cannot be removed: {}", name, errno_text(errno));
    fd.reset();
    old.reset();
    return make_alone(file, name, shape, slots, foreign);
  }

  RingPool pool = make_alone(made, name, shape, slots, foreign);
  if (rename(made.c_str(), file.c_str()) != 0) {
    const int error = errno;
    unlink(made.c_str());
    throw system_error("{}: cannot be replaced: {}", name, errno_text(error));
  }
  pool.path_ = file;
  sync_folder_of(file, name);
  return pool;
}

RingPool RingPool::replace_unfinished(const fs::path& path, const RingShape& shape, std::uint32_t slots,
                                      Foreign foreign) {
  const std::string name = path.string();
  const fs::path file = real_path(path);
  UniqueFd fd = open_pool_file(file.string(), O_RDWR);
  lock_named_or_throw(fd.get(), file, name);
  if (!holds_nothing(fd.get(), name)) throw in_use(name);  // since then, another process has finished it and uses it
  room_for(file_bytes(shape, slots), fd.get(), name);
  if (unlink(file.c_str()) != 0) throw system_error("{}: cannot be removed: {}", name, errno_text(errno));
  fd.reset();  // this frees the blocks of the old file
  return make_alone(file, name, shape, slots, foreign);
}

RingPool RingPool::open(const fs::path& path, Foreign foreign) {
  const std::string name = path.string();
  UniqueFd fd = open_pool_file(name, O_RDWR);
  if (foreign == Foreign::kRefused) {
    const struct stat opened = status_of(fd.get(), name);
    refuse_foreign_links(path, opened);
    refuse_foreign_file(opened, name);
  }
  require_room_for_holes(fd.get(), name);
  check_content_at_rest(fd.get(), path, name);
  // If the file is a copy, it may have been made with another umask. From now on only its owner may read it.
  if ((status_of(fd.get(), name).st_mode & (S_IRWXG | S_IRWXO)) != 0 && fchmod(fd.get(), kPrivateMode) != 0) {
    throw system_error("{}: other users can read it, and its mode cannot be changed: {}", name, errno_text(errno));
  }

  RingPool pool;
  pool.storage_ = storage_of(fd.get(), name);
  allocate_holes(fd.get(), name);
  std::optional<WatchedMapping> watched_call(std::in_place, name, fd.get());
  const PmdkSyncs syncs;
  pool.pool_.reset(pmemobj_open(name.c_str(), kPoolLayoutName));
  if (!pool.pool_) {
    const int error = errno;
    if (error == EAGAIN || error == EWOULDBLOCK) throw in_use(name);
    if (error == EACCES || error == EPERM || error == ENOMEM) {
      throw system_error("{}: cannot be opened: {}", name, errno_text(error));
    }
    throw unownable(name, fmt::format("libpmemobj cannot open it ({})", pmdk_message()));
  }
  // Three files must be the same: the file that was checked and will be synced, the file that libpmemobj opened, and
  // the file that has the name. If they differ, an owner has just replaced the pool.
  if (!still_named(path, status_of(fd.get(), name))) throw in_use(name);
  const std::span<std::byte> file(pool.base(), static_cast<std::uint64_t>(status_of(fd.get(), name).st_size));
  pool.watch(name, fd.get(), file.size());
  watched_call.reset();
  if (syncs.error() != 0) {
    pool.pool_.get_deleter().watched->note(syncs.error());
    throw cannot_sync(name, syncs.error());
  }
  pool.storage_ = confirmed(pool.storage_, file.data(), file.size());
  pool.path_ = path;
  pool.file_.reset(fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
  if (!pool.file_.valid()) throw system_error("{}: {}", name, errno_text(errno));
  pool.persistence_ =
      make_pool_persistence(pool.storage_, std::move(fd), pool.base(), pool.pool_.get_deleter().watched);
  pool.ring_ = std::make_unique<WritableRing>(WritableRing::parse(file, name));
  int error = mend_superblocks(file, *pool.ring_, *pool.persistence_);
  if (error == 0) error = mend_run_entries(*pool.ring_, *pool.persistence_);
  if (error != 0) throw cannot_sync(name, error);
  pool.leases_ = std::make_unique<PoolLeases>(pool.file_.get(), pool.ring_->geometry().slot_count());
  return pool;
}

std::byte* RingPool::base() const noexcept {
  return static_cast<std::byte*>(static_cast<void*>(pool_.get()));
}

Whereabouts RingPool::whereabouts() const noexcept {
  struct stat named {};
  struct stat opened {};
  if (fstat(file_.get(), &opened) != 0) return Whereabouts::kNamed;
  if (stat(path_.c_str(), &named) == 0) {
    if (named.st_dev == opened.st_dev && named.st_ino == opened.st_ino) return Whereabouts::kNamed;
  } else if (errno != ENOENT && errno != ENOTDIR) {
    return Whereabouts::kNamed;
  }
  return opened.st_nlink == 0 ? Whereabouts::kDeleted : Whereabouts::kElsewhere;
}

void RingPool::prefault() const noexcept {
  const RingGeometry& geometry = ring_->geometry();
  const std::uint64_t bytes = geometry.payload_bytes() * geometry.slot_count();
  if (uses_page_cache(storage_) && bytes > available_memory_bytes() / 2) return;
  for (std::uint32_t slot = 0; slot < geometry.slot_count(); ++slot) {
    std::byte* payload = ring_->writable_payload(slot);
    // The range ends with the last huge page, because payloads begin at a huge page. Other bytes in that page do not
    // change.
    const bool huge = geometry.payload_bytes() >= kHugePageBytes;
    const std::uint64_t pages = huge ? round_up(geometry.payload_bytes(), kHugePageBytes) : geometry.payload_bytes();
    if (huge) advise_huge_pages(payload, pages);  // if the file system offers them (tmpfs, DAX)
    madvise(payload, pages, MADV_POPULATE_WRITE);
    // On tmpfs, the blocks were allocated when the pool was made, before the advice could be given.
    if (huge) collapse_to_huge_pages(payload, pages);
  }
}

}  // namespace ringside
