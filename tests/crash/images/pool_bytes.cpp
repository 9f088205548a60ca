// SPDX-License-Identifier: BSD-3-Clause
#include "tests/crash/images/pool_bytes.hpp"

#include <sys/mman.h>

#include <cerrno>

#include "common/platform/error.hpp"

namespace ringside::crash {

PoolBytes::PoolBytes(std::uint64_t bytes) : bytes_(bytes), base_(nullptr) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw system_error("cannot map {} bytes for a pool: {}", bytes, errno_text(errno));
  base_ = static_cast<std::byte*>(memory);
}

PoolBytes::~PoolBytes() {
  munmap(base_, bytes_);
}

}  // namespace ringside::crash
