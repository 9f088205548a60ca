// SPDX-License-Identifier: BSD-3-Clause
#include "common/platform/fork_mark.hpp"

#include <sys/mman.h>

#include <cstddef>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18  // Linux 4.14
#endif

namespace ringside {
namespace {

std::size_t page_bytes() noexcept {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

ForkMark::ForkMark() noexcept : owner_(getpid()) {
  void* page = mmap(nullptr, page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  if (madvise(page, page_bytes(), MADV_WIPEONFORK) != 0) {
    munmap(page, page_bytes());
    return;
  }
  *static_cast<unsigned char*>(page) = 1;
  page_ = static_cast<const unsigned char*>(page);
}

ForkMark::~ForkMark() {
  if (page_ != nullptr) munmap(const_cast<unsigned char*>(page_), page_bytes());
}

Error ForkMark::misuse() const {
  return usage_error("this handle belongs to process {}; its child {} must open one of its own", owner_, getpid());
}

}  // namespace ringside
