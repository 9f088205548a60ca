// SPDX-License-Identifier: BSD-3-Clause
// Opens and maps regular files; anything else is refused.
#include "producer/text/text_source.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "common/files/watched_mapping.hpp"
#include "common/platform/error.hpp"

namespace ringside {
namespace {

// A regular file, opened to be read.
class InputFile {
 public:
  explicit InputFile(const std::string& path) {
    // O_NONBLOCK: opening a pipe without a writer must not hang; on regular files it has no effect.
    descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor_ < 0 || fstat(descriptor_, &status_) != 0) {
      const int error = errno;
      if (descriptor_ >= 0) close(descriptor_);
      if (error == EACCES || error == EPERM) {
        throw system_error("{}: cannot be opened ({}), expected a file this user may read", path, errno_text(error));
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

}  // namespace ringside
