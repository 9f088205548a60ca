// SPDX-License-Identifier: BSD-3-Clause
// A sealed memfd and its mapping: memory that two processes share. The memory disappears with the last process that
// uses it, and neither process can shrink it while the other uses it. memfd_create(2) and fcntl(2) describe the seals.
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
  /// against any later writable mapping. /proc shows `name`. Throws Error (exit code 3).
  static SharedMapping create(const std::string& name, std::size_t bytes, PeerAccess peer_access);

  /// Like `create`, but not yet sealed against writable mappings: the other processes of a cohort first map the memory
  /// with `join`; call `seal` before a peer gets it.
  static SharedMapping create_for_cohort(const std::string& name, std::size_t bytes);
  /// Adds the seals that `create` sets for `peer_access`. Throws Error (exit code 3).
  void seal(PeerAccess peer_access) const;

  /// Maps memory that another process of the same cohort has made, for reading and writing. Refuses (Error, exit code
  /// 2) what `adopt` refuses, except that the seals may still be missing.
  static SharedMapping join(UniqueFd memfd, std::size_t bytes);

  /// Maps the memfd that a peer sent. Refuses (Error, exit code 2) a descriptor that is not a memfd of exactly `bytes`
  /// bytes with the seals that `create` sets for `access`: an unsealed one could shrink later, and a read would then
  /// raise SIGBUS.
  static SharedMapping adopt(UniqueFd memfd, std::size_t bytes, PeerAccess access);

  SharedMapping(SharedMapping&& other) noexcept { *this = std::move(other); }
  SharedMapping& operator=(SharedMapping&& other) noexcept;
  ~SharedMapping();

  /// Touches the pages of a part now, so that the first step has no page faults, and makes huge pages of them from
  /// Linux 6.1 on. This is only a hint: nothing happens if the kernel does not support it (before Linux 5.14) or memory
  /// is short. offset: a multiple of 4096.
  void populate(std::size_t offset, std::size_t bytes) const noexcept;

  std::byte* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }
  int fd() const noexcept { return fd_.get(); }

 private:
  void add_seals(int seals) const;
  static SharedMapping adopt_sealed(UniqueFd memfd, std::size_t bytes, int seals, PeerAccess access);

  SharedMapping(UniqueFd fd, std::byte* data, std::size_t bytes, bool writable) noexcept
      : fd_(std::move(fd)), data_(data), bytes_(bytes), writable_(writable) {}

  UniqueFd fd_;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  bool writable_ = false;
};

}  // namespace ringside
