// A sealed memfd and its mapping: memory that two processes share, that vanishes with the last of them, and that
// neither can pull away from under the other. memfd_create(2) and fcntl(2) describe the seals.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "common/platform/unique_fd.hpp"

namespace ringside {

enum class PeerAccess { kReadOnly, kReadWrite };

class SharedMapping {
 public:
  SharedMapping() = default;

  /// Creates `bytes` of zeroed shared memory, mapped read-write here and sealed against resizing; with kReadOnly also
  /// against any later writable mapping. `name` shows in /proc. Throws Error (exit code 3).
  static SharedMapping create(const std::string& name, std::size_t bytes, PeerAccess peer_access);

  /// Maps what a peer sent. Refuses (Error, exit code 2) a descriptor that is not a memfd of exactly `bytes` bytes with
  /// the seals `create` gives for `access`: an unsealed one could shrink later, and a read would end in SIGBUS.
  static SharedMapping adopt(UniqueFd memfd, std::size_t bytes, PeerAccess access);

  SharedMapping(SharedMapping&& other) noexcept { *this = std::move(other); }
  SharedMapping& operator=(SharedMapping&& other) noexcept;
  ~SharedMapping();

  /// Takes the page faults of a part now instead of in the first step. Only a hint: without the kernel's help
  /// (Linux 5.14) or enough memory nothing happens.
  void populate(std::size_t offset, std::size_t bytes) const noexcept;

  std::byte* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }
  int fd() const noexcept { return fd_.get(); }

 private:
  SharedMapping(UniqueFd fd, std::byte* data, std::size_t bytes, bool writable) noexcept
      : fd_(std::move(fd)), data_(data), bytes_(bytes), writable_(writable) {}

  UniqueFd fd_;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  bool writable_ = false;
};

}  // namespace ringside
