// SPDX-License-Identifier: BSD-3-Clause
// Memory for a text whose length is known only at its end: it doubles as it fills. Growing moves page tables, not
// bytes. An unpacked text is larger than its matrix, so that it lies where the matrix does (producer/memory).
#pragma once

#include <cstddef>

#include "producer/text/text_source.hpp"

namespace ringside {

class GrowingBytes {
 public:
  GrowingBytes() = default;
  ~GrowingBytes();
  GrowingBytes(const GrowingBytes&) = delete;
  GrowingBytes& operator=(const GrowingBytes&) = delete;

  unsigned char* free_space() { return data_ + size_; }
  std::size_t free_bytes() const { return capacity_ - size_; }
  /// The first `bytes` of the free space were written.
  void add(std::size_t bytes) { size_ += bytes; }
  /// Throws `Error` (exit code 3) if there is no memory.
  void grow();
  /// The bytes, with their memory; leaves this empty.
  Text take();

 private:
  unsigned char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace ringside
