#include "analyzer/ring_pool.hpp"

#include <fcntl.h>
#include <libpmemobj.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <span>
#include <string>
#include <utility>

#include "analyzer/pool_persistence.hpp"
#include "analyzer/ring_format.hpp"
#include "analyzer/ring_recovery.hpp"
#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/unique_fd.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

// How libpmemobj cuts its heap: zones of up to kZoneChunks chunks, each zone behind a header. An object begins with 16
// bytes of the allocator's and does not cross a zone.
constexpr std::uint64_t kHeapChunkBytes = 256 << 10;
constexpr std::uint64_t kZoneChunks = 65528;
constexpr std::uint64_t kZoneHeaderBytes = 512 << 10;
constexpr std::uint64_t kObjectHeaderBytes = 16;
constexpr std::uint64_t kMaxObjectBytes = PMEMOBJ_MAX_ALLOC_SIZE;
constexpr std::uint64_t kBeforeHeapBytes = 4 << 20;  // pool header and lanes, a little more than they take
constexpr std::uint64_t kSpareChunks = 4;

std::uint64_t heap_chunks(std::uint64_t object_bytes) {
  return (object_bytes + kObjectHeaderBytes + kHeapChunkBytes - 1) / kHeapChunkBytes;
}

/// What libpmemobj says about its last failure, on one line.
std::string pmdk_message() {
  std::string message = pmemobj_errormsg();
  std::replace(message.begin(), message.end(), '\n', ' ');
  return message;
}

std::uint64_t available_bytes(int fd) {
  struct statvfs system {};
  if (fstatvfs(fd, &system) != 0) return 0;
  return static_cast<std::uint64_t>(system.f_bavail) * system.f_frsize;
}

Error in_use(const std::string& name) {
  return system_error("{}: is in use by another process; one at a time can own a pool", name);
}

Error no_room(const std::string& name, std::uint64_t needed, std::uint64_t available, int error) {
  return system_error("{}: no room for the pool: {} bytes are needed, {} are available ({})", name, needed, available,
                      errno_text(error));
}

void check_file_size_limit(std::uint64_t bytes, const std::string& name) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur) {
    throw system_error("{}: the pool needs {} bytes, the limit on a file's size (ulimit -f) is {} bytes", name, bytes,
                       limit.rlim_cur);
  }
}

/// Gives the file its blocks, so that a store into the mapping never finds the disk full (that would be SIGBUS).
void allocate_blocks(int fd, std::uint64_t bytes, const std::string& name) {
  check_file_size_limit(bytes, name);
  if (bytes > available_bytes(fd)) throw no_room(name, bytes, available_bytes(fd), ENOSPC);
  if (const int error = posix_fallocate(fd, 0, static_cast<off_t>(bytes))) {
    throw no_room(name, bytes, available_bytes(fd), error);
  }
}

struct stat status_of(int fd, const std::string& name) {
  struct stat status {};
  if (fstat(fd, &status) != 0) throw system_error("{}: {}", name, errno_text(errno));
  return status;
}

UniqueFd open_file(const std::string& name, int flags) {
  UniqueFd fd(::open(name.c_str(), flags | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!fd.valid()) {
    const int error = errno;
    if (error == EEXIST) throw usage_error("{}: exists already; --overwrite makes a new pool in its place", name);
    if (error == ENOENT || error == ENOTDIR) throw usage_error("{}: {}", name, errno_text(error));
    if (error == EISDIR) throw usage_error("{}: is a directory; a pool is a file", name);
    throw system_error("{}: cannot be opened for writing: {}", name, errno_text(error));
  }
  if (!S_ISREG(status_of(fd.get(), name).st_mode)) throw usage_error("{}: not a regular file; a pool is one", name);
  return fd;
}

std::uint64_t size_of(int fd) {
  struct stat status {};
  return fstat(fd, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

/// A read-only mapping of a file, for looking at it before libpmemobj believes anything in it.
class Look {
 public:
  Look(int fd, const std::string& name) : bytes_(size_of(fd)) {
    if (bytes_ == 0) throw empty_pool_file(name);
    mapped_ = mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, fd, 0);
    if (mapped_ == MAP_FAILED) throw system_error("{}: cannot be mapped: {}", name, errno_text(errno));
  }
  ~Look() { munmap(mapped_, bytes_); }
  Look(const Look&) = delete;
  Look& operator=(const Look&) = delete;

  std::span<const std::byte> file() const { return {static_cast<const std::byte*>(mapped_), bytes_}; }

 private:
  std::uint64_t bytes_;
  void* mapped_ = nullptr;
};

void check_content(int fd, const std::string& name) {
  const Look look(fd, name);
  RingView::parse(look.file(), name);
}

/// What a creation that was killed leaves: a ring without iterates, or less.
bool holds_nothing(int fd, const std::string& name) {
  try {
    const Look look(fd, name);
    const Recovery recovery = recover(RingView::parse(look.file(), name));
    return recovery.kept.empty() && recovery.damaged.empty();
  } catch (const UnfinishedPoolError&) {
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// True if `path` still names the file that `opened` describes.
bool still_named(const char* path, const struct stat& opened) {
  struct stat now {};
  return stat(path, &now) == 0 && now.st_dev == opened.st_dev && now.st_ino == opened.st_ino;
}

/// Deletes a file that is not to be left behind half made, unless its name has become another file's.
class UnlinkUnlessKept {
 public:
  UnlinkUnlessKept(const fs::path& path, const struct stat& file) : path_(path), file_(file) {}
  ~UnlinkUnlessKept() {
    if (!path_.empty() && still_named(path_.c_str(), file_)) unlink(path_.c_str());
  }
  UnlinkUnlessKept(const UnlinkUnlessKept&) = delete;
  UnlinkUnlessKept& operator=(const UnlinkUnlessKept&) = delete;
  void keep() noexcept { path_.clear(); }

 private:
  fs::path path_;
  const struct stat file_;
};

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// Makes a file's name survive power loss: that is a matter of its folder.
void sync_folder_of(const fs::path& path, const std::string& name) {
  const UniqueFd folder(::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // EINVAL: a file system whose folders need no sync. A folder that may be written but not read cannot be asked.
  if (!folder.valid() && errno == EACCES) return;
  if (!folder.valid() || (fsync(folder.get()) != 0 && errno != EINVAL)) {
    throw system_error("{}: the pool's folder could not be synced to its disk: {}", name, errno_text(errno));
  }
}

/// The lock that libpmemobj takes on a pool, taken without it.
void lock_or_throw(int fd, const std::string& name) {
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return;
  if (errno == EWOULDBLOCK) throw in_use(name);
  throw system_error("{}: cannot be locked: {}", name, errno_text(errno));
}

/// Removes what a replacement that was killed left at `made`; anything else is somebody's.
void remove_leftover(const fs::path& made) {
  if (!fs::exists(fs::symlink_status(made))) return;
  const UniqueFd fd = open_file(made.string(), O_RDWR | O_NOFOLLOW);
  lock_or_throw(fd.get(), made.string());
  if (!holds_nothing(fd.get(), made.string())) {
    throw usage_error("{}: is in the way of the new pool, which is made there first; move it away", made.string());
  }
  if (unlink(made.c_str()) != 0) throw system_error("{}: cannot be removed: {}", made.string(), errno_text(errno));
}

/// How a new pool of `needed` bytes finds room where one of `old` goes.
enum class Room { kForBoth, kForOne };

Room room_for(std::uint64_t needed, int old, const std::string& name) {
  check_file_size_limit(needed, name);
  const std::uint64_t available = available_bytes(old);
  if (needed <= available) return Room::kForBoth;
  const std::uint64_t freed = static_cast<std::uint64_t>(status_of(old, name).st_blocks) * 512;  // POSIX: units of 512
  if (needed <= available + freed) return Room::kForOne;
  throw no_room(name, needed, available + freed, ENOSPC);
}

/// Whether storage is DAX is the kernel's word about the file and libpmem's about the mapping that is stored to.
Storage confirmed(Storage storage, const void* base, std::uint64_t bytes) {
  if (storage == Storage::kDax && !forced_dax_allowed() && !maps_persistent_memory(base, bytes)) return Storage::kFile;
  return storage;
}

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

void RingPool::Close::operator()(pmemobjpool* pool) const noexcept {
  pmemobj_close(pool);
}

std::uint64_t RingPool::file_bytes(std::uint64_t rows, std::uint32_t slots) {
  if (slots < kMinSlots || slots > kMaxSlots) {
    throw usage_error("--slots {}: a ring has {} to {} slots", slots, kMinSlots, kMaxSlots);
  }
  if (rows == 0) throw usage_error("an iterate of 0 rows cannot be kept");
  RingGeometry shape;
  shape.rows = rows;
  if (rows > kMaxPayloadBytes / sizeof(double) || slot_object_bytes(shape) > kMaxObjectBytes) {
    throw usage_error("an iterate of {} rows cannot be kept: a slot is one object of at most {} bytes, about {} rows",
                      rows, kMaxObjectBytes, (kMaxObjectBytes - 2 * kPayloadAlignment) / sizeof(double));
  }
  const std::uint64_t first_chunks = heap_chunks(root_object_bytes(slots)) + kSpareChunks;
  const std::uint64_t slot_chunks = heap_chunks(slot_object_bytes(shape));
  const std::uint64_t zone_bytes = kZoneHeaderBytes + kZoneChunks * kHeapChunkBytes;

  // Whole zones while the slots last, then what the last one needs.
  std::uint64_t bytes = kBeforeHeapBytes;
  std::uint64_t left = slots;
  std::uint64_t taken_chunks = first_chunks;
  while (left > (kZoneChunks - taken_chunks) / slot_chunks) {
    left -= (kZoneChunks - taken_chunks) / slot_chunks;
    taken_chunks = 0;
    bytes += zone_bytes;
  }
  bytes += kZoneHeaderBytes + (taken_chunks + left * slot_chunks + 1) * kHeapChunkBytes;
  return round_up(bytes, kPayloadAlignment);
}

RingPool RingPool::create(const fs::path& path, std::uint64_t rows, std::uint32_t slots) {
  return make(path, path.string(), rows, slots);
}

RingPool RingPool::make(const fs::path& path, const std::string& name, std::uint64_t rows, std::uint32_t slots) {
  const std::uint64_t bytes = file_bytes(rows, slots);

  UniqueFd fd = open_file(path.string(), O_RDWR | O_CREAT | O_EXCL);
  const struct stat made = status_of(fd.get(), name);
  UnlinkUnlessKept unlink_unless_kept(path, made);
  lock_or_throw(fd.get(), name);
  if (fchmod(fd.get(), S_IRUSR | S_IWUSR) != 0) throw system_error("{}: {}", name, errno_text(errno));
  allocate_blocks(fd.get(), bytes, name);

  RingPool pool;
  pool.storage_ = storage_of(fd.get(), name);
  if (pool.storage_ == Storage::kFile) {
    // The shutdown state counts unsafe shutdowns of DIMMs, which a plain file has not.
    int no_shutdown_state = 0;
    pmemobj_ctl_set(nullptr, "sds.at_create", &no_shutdown_state);
  }
  // libpmemobj opens the file again, and can only lock what this descriptor no longer does.
  flock(fd.get(), LOCK_UN);
  pool.pool_.reset(pmemobj_create(path.c_str(), kPoolLayoutName, 0, S_IRUSR | S_IWUSR));
  if (!pool.pool_ && errno == EAGAIN) throw in_use(name);
  if (!pool.pool_) throw system_error("{}: libpmemobj cannot make the pool: {}", name, pmdk_message());
  if (!still_named(path.c_str(), made)) throw in_use(name);  // replaced by another process in that moment
  pool.storage_ = confirmed(pool.storage_, pool.base(), bytes);
  UniqueFd for_persistence(fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
  if (!for_persistence.valid()) throw system_error("{}: {}", name, errno_text(errno));
  pool.persistence_ = make_pool_persistence(pool.storage_, std::move(for_persistence));

  // The root first: it lands at the beginning of the heap, where readers look for superblocks.
  RingGeometry geometry;
  geometry.file_bytes = bytes;
  geometry.rows = rows;
  geometry.created_realtime_ns = realtime_ns();
  geometry.pool_id = random_id();
  const PMEMoid root = pmemobj_root(pool.pool_.get(), root_object_bytes(slots));
  if (OID_IS_NULL(root)) throw system_error("{}: libpmemobj cannot place the root: {}", name, pmdk_message());
  place_root(root.off, slots, geometry);
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    PMEMoid object;
    if (pmemobj_alloc(pool.pool_.get(), &object, slot_object_bytes(geometry), 0, nullptr, nullptr) != 0) {
      throw system_error("{}: libpmemobj cannot place slot {} of {} in {} bytes: {}", name, slot, slots, bytes,
                         pmdk_message());
    }
    geometry.slots.push_back(place_slot(object.off, geometry));
  }

  const std::span<std::byte> file(pool.base(), bytes);
  if (const int error = format_ring(file, geometry, *pool.persistence_)) {
    throw system_error("{}: the new pool could not be synced to its disk: {}", name, errno_text(error));
  }
  // Once for all: from here on only the content changes, which fdatasync or flushes persist.
  if (fsync(fd.get()) != 0) {
    throw system_error("{}: the new pool could not be synced to its disk: {}", name, errno_text(errno));
  }
  sync_folder_of(path, name);
  pool.ring_ = std::make_unique<WritableRing>(WritableRing::parse(file, name));
  unlink_unless_kept.keep();
  return pool;
}

RingPool RingPool::replace(const fs::path& path, RingPool old, std::uint64_t rows, std::uint32_t slots) {
  const std::string name = path.string();
  const fs::path file = fs::canonical(path);  // through a symbolic link it is the file that is replaced
  UniqueFd fd = open_file(file.string(), O_RDWR);
  const fs::path made = file.string() + ".new";
  const std::uint64_t needed = file_bytes(rows, slots);
  remove_leftover(made);
  if (room_for(needed, fd.get(), name) == Room::kForOne) {
    // Unlinked while it is locked, nobody else can come to own it; its blocks are free when its last user lets go.
    if (unlink(file.c_str()) != 0) throw system_error("{}: cannot be removed: {}", name, errno_text(errno));
    fd.reset();
    { const RingPool closed = std::move(old); }
    return make(file, name, rows, slots);
  }

  RingPool pool = make(made, name, rows, slots);
  if (rename(made.c_str(), file.c_str()) != 0) {
    const int error = errno;
    unlink(made.c_str());
    throw system_error("{}: cannot be replaced: {}", name, errno_text(error));
  }
  sync_folder_of(file, name);
  return pool;
}

RingPool RingPool::replace_unfinished(const fs::path& path, std::uint64_t rows, std::uint32_t slots) {
  const std::string name = path.string();
  const fs::path file = fs::canonical(path);
  UniqueFd fd = open_file(file.string(), O_RDWR);
  lock_or_throw(fd.get(), name);
  if (!still_named(file.c_str(), status_of(fd.get(), name))) throw in_use(name);
  if (!holds_nothing(fd.get(), name)) throw in_use(name);  // another process has finished and used it since
  room_for(file_bytes(rows, slots), fd.get(), name);
  if (unlink(file.c_str()) != 0) throw system_error("{}: cannot be removed: {}", name, errno_text(errno));
  fd.reset();  // its blocks are free
  return make(file, name, rows, slots);
}

RingPool RingPool::open(const fs::path& path) {
  const std::string name = path.string();
  UniqueFd fd = open_file(name, O_RDWR);
  check_content(fd.get(), name);

  RingPool pool;
  pool.storage_ = storage_of(fd.get(), name);
  pool.pool_.reset(pmemobj_open(name.c_str(), kPoolLayoutName));
  if (!pool.pool_) {
    const int error = errno;
    if (error == EAGAIN || error == EWOULDBLOCK) throw in_use(name);
    if (error == EACCES || error == EPERM || error == ENOMEM) {
      throw system_error("{}: cannot be opened: {}", name, errno_text(error));
    }
    throw damage_error("{}: damaged pool: libpmemobj cannot open it: {}", name, pmdk_message());
  }
  // What was checked and will be synced, what libpmemobj opened and what has the name is one file: else an owner has
  // just replaced it.
  if (!still_named(name.c_str(), status_of(fd.get(), name))) throw in_use(name);
  const std::span<std::byte> file(pool.base(), size_of(fd.get()));
  pool.storage_ = confirmed(pool.storage_, file.data(), file.size());
  pool.persistence_ = make_pool_persistence(pool.storage_, std::move(fd));
  pool.ring_ = std::make_unique<WritableRing>(WritableRing::parse(file, name));
  if (const int error = mend_superblocks(file, *pool.ring_, *pool.persistence_)) {
    throw system_error("{}: the pool could not be synced to its disk: {}", name, errno_text(error));
  }
  return pool;
}

std::byte* RingPool::base() const noexcept {
  return static_cast<std::byte*>(static_cast<void*>(pool_.get()));
}

void RingPool::prefault() const noexcept {
  const RingGeometry& geometry = ring_->geometry();
  const std::uint64_t bytes = geometry.payload_bytes() * geometry.slot_count();
  if (storage_ == Storage::kFile && bytes > available_memory_bytes() / 2) return;
  for (std::uint32_t slot = 0; slot < geometry.slot_count(); ++slot) {
    double* payload = ring_->writable_payload(slot);
    madvise(payload, geometry.payload_bytes(), MADV_HUGEPAGE);  // where the file system offers them (tmpfs, DAX)
#ifdef MADV_POPULATE_WRITE
    madvise(payload, geometry.payload_bytes(), MADV_POPULATE_WRITE);
#endif
  }
}

}  // namespace ringside
