#include "analyzer/ring_reader.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "analyzer/pool_file.hpp"
#include "common/error.hpp"
#include "common/unique_fd.hpp"

namespace ringside {

ReadResult read_payload(const RingView& ring, std::uint32_t slot, const SlotHeader& header, double* out) {
  const RingGeometry& geometry = ring.geometry();
  const std::uint64_t chunks = geometry.chunk_count();
  const auto* from = reinterpret_cast<const std::byte*>(ring.payload(slot));
  auto* to = reinterpret_cast<std::byte*>(out);
  const std::vector<std::uint64_t> expected(ring.chunk_hashes(slot), ring.chunk_hashes(slot) + chunks);
  const StepDescriptor step = ring.step(slot);
  std::uint64_t first_damaged = chunks;

  // The copy is hashed, not the slot: what is returned is what was verified.
#pragma omp parallel for schedule(static) reduction(min : first_damaged)
  for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
    const std::uint64_t offset = chunk * geometry.chunk_bytes;
    const std::uint64_t bytes = geometry.chunk_size(chunk);
    std::memcpy(to + offset, from + offset, bytes);
    if (hash64(to + offset, bytes) != expected[chunk] && chunk < first_damaged) first_damaged = chunk;
  }

  const bool table_intact = payload_hash(expected.data(), chunks, step) == header.payload_hash;
  if (!ring.still_holds(slot, header)) return {ReadStatus::kOverwritten, 0, {}};
  if (first_damaged < chunks) return {ReadStatus::kDamaged, first_damaged, {}};
  // Every chunk agrees with a table that is not the header's: an older payload with its own table (a power cut under
  // a plain file can leave that). None of it is what was committed.
  if (!table_intact) return {ReadStatus::kDamaged, 0, {}};
  return {ReadStatus::kOk, 0, step};
}

RingReader RingReader::open(const std::filesystem::path& path) {
  const std::string name = path.string();
  const UniqueFd fd(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a FIFO must not hold us up
  if (!fd.valid()) {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR) throw usage_error("{}: {}", name, errno_text(error));
    throw system_error("{}: cannot be read: {}", name, errno_text(error));
  }
  struct stat status {};
  if (fstat(fd.get(), &status) != 0) throw system_error("{}: {}", name, errno_text(errno));
  if (S_ISDIR(status.st_mode)) throw usage_error("{}: is a directory; a pool is a file", name);
  if (!S_ISREG(status.st_mode)) throw usage_error("{}: not a regular file; a pool is one", name);
  if (status.st_size == 0) throw empty_pool_file(name);

  const auto bytes = static_cast<std::size_t>(status.st_size);
  void* mapped = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (mapped == MAP_FAILED) throw system_error("{}: cannot be mapped: {}", name, errno_text(errno));
  RingReader reader;
  reader.path_ = path;
  reader.mapping_ =
      std::shared_ptr<const std::byte>(static_cast<const std::byte*>(mapped),
                                       [bytes](const std::byte* at) { munmap(const_cast<std::byte*>(at), bytes); });
  const std::span<const std::byte> file(static_cast<const std::byte*>(mapped), bytes);
  fetch_front(file);
  reader.ring_ = std::make_unique<RingView>(RingView::parse(file, name));
  fetch_headers(file, reader.ring_->geometry());
  reader.storage_ = storage_of(fd.get(), name);
  return reader;
}

}  // namespace ringside
