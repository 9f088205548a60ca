// SPDX-License-Identifier: BSD-3-Clause
// Anonymous mappings that mremap enlarges, or far memory.
#include "producer/text/growing_bytes.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <memory>
#include <string_view>
#include <utility>

#include "common/platform/error.hpp"
#include "producer/memory/matrix_memory.hpp"

namespace ringside {

namespace {

void release(void* data, std::size_t bytes) noexcept {
  if (in_far_memory(data)) {
    free_far(data);
  } else if (data != nullptr) {
    munmap(data, bytes);
  }
}

}  // namespace

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
