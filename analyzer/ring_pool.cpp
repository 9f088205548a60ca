#include "analyzer/ring_pool.hpp"

#include <fcntl.h>
#include <libpmemobj.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>

#include "analyzer/pool_persistence.hpp"
#include "analyzer/ring_format.hpp"
#include "common/clock.hpp"
#include "common/error.hpp"

namespace ringside {
namespace {

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

Error no_room(const std::string& name, std::uint64_t needed, int fd, int error) {
  return system_error("{}: no room for the pool: {} bytes are needed, {} are available ({})", name, needed,
                      available_bytes(fd), errno_text(error));
}

/// Gives the file its blocks, so that a store into the mapping never finds the disk full (that would be SIGBUS).
void allocate_blocks(int fd, std::uint64_t bytes, const std::string& name) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur) {
    throw system_error("{}: the pool needs {} bytes, the limit on a file's size (ulimit -f) is {} bytes", name, bytes,
                       limit.rlim_cur);
  }
  if (bytes > available_bytes(fd)) throw no_room(name, bytes, fd, ENOSPC);
  if (const int error = posix_fallocate(fd, 0, static_cast<off_t>(bytes))) throw no_room(name, bytes, fd, error);
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
  struct stat status {};
  if (fstat(fd.get(), &status) != 0) throw system_error("{}: {}", name, errno_text(errno));
  if (!S_ISREG(status.st_mode)) throw usage_error("{}: not a regular file; a pool is one", name);
  return fd;
}

std::uint64_t size_of(int fd) {
  struct stat status {};
  return fstat(fd, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

/// Looks for the ring through a mapping of its own, before libpmemobj believes anything in the file.
void check_content(int fd, const std::string& name) {
  const std::uint64_t bytes = size_of(fd);
  if (bytes == 0) throw usage_error("{}: an empty file, not a Ringside pool", name);
  void* mapped = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) throw system_error("{}: cannot be mapped: {}", name, errno_text(errno));
  struct Unmap {
    std::uint64_t bytes;
    void operator()(void* address) const noexcept { munmap(address, bytes); }
  };
  const std::unique_ptr<void, Unmap> owner(mapped, Unmap{bytes});
  RingView::parse({static_cast<const std::byte*>(mapped), bytes}, name);
}

/// Deletes a file that is not to be left behind half made.
class UnlinkUnlessKept {
 public:
  explicit UnlinkUnlessKept(std::string name) : name_(std::move(name)) {}
  ~UnlinkUnlessKept() {
    if (!name_.empty()) unlink(name_.c_str());
  }
  void keep() noexcept { name_.clear(); }

 private:
  std::string name_;
};

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

RingPool RingPool::create(const std::filesystem::path& path, std::uint64_t rows, std::uint32_t slots) {
  const std::string name = path.string();
  const std::uint64_t bytes = file_bytes(rows, slots);

  UniqueFd fd = open_file(name, O_RDWR | O_CREAT | O_EXCL);
  UnlinkUnlessKept unlink_unless_kept(name);
  if (fchmod(fd.get(), S_IRUSR | S_IWUSR) != 0) throw system_error("{}: {}", name, errno_text(errno));
  allocate_blocks(fd.get(), bytes, name);

  RingPool pool;
  pool.path_ = path;
  pool.storage_ = storage_of(fd.get(), name);
  if (pool.storage_ == Storage::kFile) {
    // The shutdown state counts unsafe shutdowns of DIMMs, which a plain file has not.
    int no_shutdown_state = 0;
    pmemobj_ctl_set(nullptr, "sds.at_create", &no_shutdown_state);
  }
  pool.pool_.reset(pmemobj_create(name.c_str(), kPoolLayoutName, 0, S_IRUSR | S_IWUSR));
  if (!pool.pool_) throw system_error("{}: libpmemobj cannot make the pool: {}", name, pmdk_message());
  pool.persistence_ = make_pool_persistence(pool.storage_, std::move(fd));

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
  pool.ring_ = std::make_unique<WritableRing>(WritableRing::parse(file, name));
  unlink_unless_kept.keep();
  return pool;
}

RingPool RingPool::open(const std::filesystem::path& path) {
  const std::string name = path.string();
  UniqueFd fd = open_file(name, O_RDWR);
  check_content(fd.get(), name);

  RingPool pool;
  pool.path_ = path;
  pool.storage_ = storage_of(fd.get(), name);
  pool.pool_.reset(pmemobj_open(name.c_str(), kPoolLayoutName));
  if (!pool.pool_) {
    const int error = errno;
    if (error == EAGAIN || error == EWOULDBLOCK) {
      throw system_error("{}: is in use by another process; one at a time can own a pool", name);
    }
    if (error == EACCES || error == EPERM || error == ENOMEM) {
      throw system_error("{}: cannot be opened: {}", name, errno_text(error));
    }
    throw damage_error("{}: damaged pool: libpmemobj cannot open it: {}", name, pmdk_message());
  }
  const std::span<std::byte> file(pool.base(), size_of(fd.get()));
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
