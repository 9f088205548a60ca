// SPDX-License-Identifier: BSD-3-Clause
// A pool's bytes in plain memory, with an undo log. A few stores make an image; they are undone after the check. The
// pool is not copied for each of millions of images, because payloads are 2 MiB apart, and the copies would take more
// time than everything else.
#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/platform/error.hpp"

namespace ringside::crash {

class PoolBytes {
 public:
  /// Holds `bytes` zeros, a multiple of 8. Throws Error if the system has no memory.
  explicit PoolBytes(std::uint64_t bytes) : bytes_(bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw system_error("cannot map {} bytes for a pool: {}", bytes, errno_text(errno));
    base_ = static_cast<std::byte*>(memory);
  }
  ~PoolBytes() { munmap(base_, bytes_); }
  PoolBytes(const PoolBytes&) = delete;
  PoolBytes& operator=(const PoolBytes&) = delete;

  std::span<std::byte> file() const noexcept { return {base_, bytes_}; }
  std::uint64_t* word(std::uint64_t offset) const noexcept {
    return static_cast<std::uint64_t*>(static_cast<void*>(base_ + offset));
  }
  std::uint64_t offset_of(const void* address) const noexcept {
    return static_cast<std::uint64_t>(static_cast<const std::byte*>(address) - base_);
  }

  void store(std::uint64_t offset, std::uint64_t value) {
    undo_.push_back({offset, *word(offset)});
    __atomic_store_n(word(offset), value, __ATOMIC_RELEASE);
  }

  /// rollback(mark) undoes the stores made since mark() was called.
  std::size_t mark() const noexcept { return undo_.size(); }
  void rollback(std::size_t mark) noexcept {
    for (; undo_.size() > mark; undo_.pop_back()) *word(undo_.back().offset) = undo_.back().before;
  }
  /// Makes all stores up to now permanent.
  void keep() noexcept { undo_.clear(); }

 private:
  struct Undo {
    std::uint64_t offset;
    std::uint64_t before;
  };

  std::uint64_t bytes_;
  std::byte* base_ = nullptr;
  std::vector<Undo> undo_;
};

}  // namespace ringside::crash
