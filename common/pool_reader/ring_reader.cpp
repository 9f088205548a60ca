// SPDX-License-Identifier: BSD-3-Clause
#include "common/pool_reader/ring_reader.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include "common/files/creation_mark.hpp"
#include "common/files/lock_holder.hpp"
#include "common/platform/error.hpp"
#include "common/platform/unique_fd.hpp"
#include "common/pool_reader/pool_look.hpp"

namespace ringside {

namespace {

UniqueFd open_for_reading(const std::string& name) {
  UniqueFd fd(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // opening a FIFO must not block
  if (fd.valid()) return fd;
  const int error = errno;
  if (error == ENOENT || error == ENOTDIR) throw usage_error("{}: {}", name, errno_text(error));
  throw system_error("{}: cannot be read: {}{}", name, errno_text(error), owner_and_mode(name));
}

bool same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

}  // namespace

// A reader may look at a pool while another process makes it, at any moment of the creation. Therefore the result of a
// look counts only for a file that no process was making before the look began; a file is made only once.
RingReader RingReader::open(const std::filesystem::path& path, std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds kBetweenLooks{5};
  const std::string name = path.string();
  const auto give_up = std::chrono::steady_clock::now() + patience;
  UniqueFd made;  // the file whose creation has ended; open, so that its inode number is not reused
  for (;;) {
    UniqueFd fd = open_for_reading(name);
    const bool is_final = made.valid() && same_file(status_of(fd.get(), name), status_of(made.get(), name));
    try {
      RingReader reader = look_at(fd.get(), path);
      if (is_final || (reader.ring().superblock_intact(0) && reader.ring().superblock_intact(1))) return reader;
    } catch (const UnfinishedPoolError&) {
      // A pool that is being wiped looks unfinished, too.
      if (is_final && flock_holder(status_of(fd.get(), name))) throw in_use(name);
      if (is_final) throw;
    } catch (const Error&) {
      if (is_final) throw;
    }
    if (!is_being_made(fd.get())) {
      made = std::move(fd);
      continue;
    }
    if (std::chrono::steady_clock::now() >= give_up) throw being_made(name);
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

RingReader RingReader::look_at(int fd, const std::filesystem::path& path) {
  const std::string name = path.string();
  const struct stat status = status_of(fd, name);
  if (S_ISDIR(status.st_mode)) throw usage_error("{}: is a directory; a pool is a file", name);
  if (!S_ISREG(status.st_mode)) throw usage_error("{}: not a regular file; a pool is one", name);
  if (status.st_size == 0) throw empty_pool_file(name);

  const auto bytes = static_cast<std::size_t>(status.st_size);
  void* mapped = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) throw system_error("{}: cannot be mapped: {}", name, errno_text(errno));
  RingReader reader;
  reader.path_ = path;
  reader.mapping_ =
      std::shared_ptr<const std::byte>(static_cast<const std::byte*>(mapped),
                                       [bytes](const std::byte* at) { munmap(const_cast<std::byte*>(at), bytes); });
  reader.watched_ = std::make_shared<WatchedMapping>(name, fd, mapped, bytes);
  const std::span<const std::byte> file(static_cast<const std::byte*>(mapped), bytes);
  fetch_front(file);
  reader.ring_ = std::make_unique<RingView>(RingView::parse(file, name));
  fetch_headers(file, reader.ring_->geometry());
  reader.storage_ = storage_of(fd, name);
  return reader;
}

}  // namespace ringside
