#include "analyzer/ring_reader.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <span>
#include <string>

#include "analyzer/pool_file.hpp"
#include "common/error.hpp"
#include "common/unique_fd.hpp"

namespace ringside {

RingReader RingReader::open(const std::filesystem::path& path) {
  const std::string name = path.string();
  const UniqueFd fd(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a FIFO must not hold us up
  if (!fd.valid()) {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR) throw usage_error("{}: {}", name, errno_text(error));
    throw system_error("{}: cannot be read: {}{}", name, errno_text(error), owner_and_mode(name));
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
  reader.watched_ = std::make_shared<WatchedMapping>(name, fd.get(), mapped, bytes);
  const std::span<const std::byte> file(static_cast<const std::byte*>(mapped), bytes);
  fetch_front(file);
  reader.ring_ = std::make_unique<RingView>(RingView::parse(file, name));
  fetch_headers(file, reader.ring_->geometry());
  reader.storage_ = storage_of(fd.get(), name);
  return reader;
}

}  // namespace ringside
