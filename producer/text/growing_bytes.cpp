// SPDX-License-Identifier: BSD-3-Clause
// Anonymous mappings that mremap enlarges.
#include "producer/text/growing_bytes.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <memory>
#include <string_view>
#include <utility>

#include "common/platform/error.hpp"

namespace ringside {

GrowingBytes::~GrowingBytes() {
  if (data_ != nullptr) munmap(data_, capacity_);
}

void GrowingBytes::grow() {
  constexpr std::size_t kFirstBytes = std::size_t{1} << 20;
  const std::size_t wanted = capacity_ == 0 ? kFirstBytes : 2 * capacity_;
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
  std::shared_ptr<void> owner(data_, [capacity = capacity_](void* p) {
    if (p != nullptr) munmap(p, capacity);
  });
  data_ = nullptr;
  size_ = 0;
  capacity_ = 0;
  return {std::move(owner), text};
}

}  // namespace ringside
