// SPDX-License-Identifier: BSD-3-Clause
// The bytes of a text: a file, mapped read-only, or an unpacker's output.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace ringside {

/// Bytes and the owner that keeps them valid.
struct Text {
  std::shared_ptr<void> owner;
  std::string_view text;
};

/// Maps the bytes of a file unchanged. Throws `Error` if `path` cannot be opened (exit code 3 without permission, else
/// 2), is not a regular file (2), or cannot be mapped (3). If the file is truncated while it is mapped, or its disk
/// fails, the process ends with one line (common/files/watched_mapping.hpp).
Text map_file(const std::string& path);

/// Memory for a text of unknown length. The memory is doubled when it is full. When it grows, page tables are moved,
/// not bytes. An unpacked text is larger than its matrix, so the text is in the same kind of memory as the matrix
/// (producer/memory).
class GrowingBytes {
 public:
  GrowingBytes() = default;
  ~GrowingBytes();
  GrowingBytes(const GrowingBytes&) = delete;
  GrowingBytes& operator=(const GrowingBytes&) = delete;

  unsigned char* free_space() { return data_ + size_; }
  std::size_t free_bytes() const { return capacity_ - size_; }
  /// Adds the first `bytes` of the free space to the text; the caller has written them.
  void add(std::size_t bytes) { size_ += bytes; }
  /// Throws `Error` (exit code 3) if there is no memory.
  void grow();
  /// Moves out the bytes with their memory; this object is empty afterwards.
  Text take();

 private:
  unsigned char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace ringside
