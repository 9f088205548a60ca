// SPDX-License-Identifier: BSD-3-Clause
// Maps regular files; refuses all others. A text that grows is in an anonymous mapping that mremap enlarges, or in far
// memory.
#include "producer/text/text_source.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "common/files/watched_mapping.hpp"
#include "common/platform/error.hpp"
#include "producer/memory/matrix_memory.hpp"

namespace ringside {
namespace {

// A regular file, opened for reading.
class InputFile {
 public:
  explicit InputFile(const std::string& path) {
    // O_NONBLOCK: opening a pipe without a writer must not hang; on regular files it has no effect.
    descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor_ < 0 || fstat(descriptor_, &status_) != 0) {
      const int error = errno;
      if (descriptor_ >= 0) close(descriptor_);
      if (error == EACCES || error == EPERM) {
        throw system_error("{}: cannot be opened ({}), expected a file that this user may read", path,
                           errno_text(error));
      }
      throw usage_error("{}: cannot be opened ({}), expected a readable file", path, errno_text(error));
    }
    if (!S_ISREG(status_.st_mode)) {
      close(descriptor_);
      throw usage_error("{}: found a {}, expected a regular file", path,
                        S_ISDIR(status_.st_mode) ? "folder" : "device, pipe or socket");
    }
  }
  ~InputFile() { close(descriptor_); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  int descriptor() const { return descriptor_; }
  std::size_t bytes() const { return static_cast<std::size_t>(status_.st_size); }

 private:
  int descriptor_ = -1;
  struct stat status_ = {};
};

void release(void* data, std::size_t bytes) noexcept {
  if (in_far_memory(data)) {
    free_far(data);
  } else if (data != nullptr) {
    munmap(data, bytes);
  }
}

}  // namespace

Text map_file(const std::string& path) {
  const InputFile file(path);
  const std::size_t bytes = file.bytes();
  if (bytes == 0) return {};
  void* const map = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.descriptor(), 0);
  if (map == MAP_FAILED) throw system_error("{}: cannot be mapped ({})", path, errno_text(errno));
  madvise(map, bytes, MADV_WILLNEED);
  auto watched = std::make_shared<WatchedMapping>(path, file.descriptor(), map, bytes);
  return {{map, [bytes, watched = std::move(watched)](void* p) { munmap(p, bytes); }},
          {static_cast<const char*>(map), bytes}};
}

GrowingBytes::~GrowingBytes() {
  release(data_, capacity_);
}

void GrowingBytes::grow() {
  constexpr std::size_t kFirstBytes = std::size_t{1} << 20;
  const std::size_t wanted = capacity_ == 0 ? kFirstBytes : 2 * capacity_;
  if (matrix_is_far()) {
    data_ = static_cast<unsigned char*>(grow_far(data_, wanted));
    capacity_ = wanted;
    return;
  }
  void* const grown =
      capacity_ == 0 ? mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                     : mremap(data_, capacity_, wanted, MREMAP_MAYMOVE);
  if (grown == MAP_FAILED) {
    throw system_error("cannot allocate {} bytes to unpack the text ({})", wanted, errno_text(errno));
  }
  data_ = static_cast<unsigned char*>(grown);
  capacity_ = wanted;
}

Text GrowingBytes::take() {
  const std::string_view text(reinterpret_cast<const char*>(data_), size_);
  if (in_far_memory(data_)) shrink_far(data_, size_);
  std::shared_ptr<void> owner(data_, [capacity = capacity_](void* p) { release(p, capacity); });
  data_ = nullptr;
  size_ = 0;
  capacity_ = 0;
  return {std::move(owner), text};
}

}  // namespace ringside
