// SPDX-License-Identifier: BSD-3-Clause
// Memory of the arena as pages. A test stores and loads one byte of each page.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>

#include "memory/ringside_memory.h"

namespace ringside::testing {

inline constexpr size_t kPageBytes = 4096;

class Pages {
 public:
  explicit Pages(size_t count)
      : count_(count), at_(static_cast<unsigned char*>(ringside_memory_alloc(count * kPageBytes))) {
    EXPECT_NE(at_, nullptr) << ringside_memory_error();
  }
  ~Pages() { ringside_memory_free(at_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  size_t count() const { return count_; }
  void advise(int advice) const { EXPECT_EQ(ringside_memory_advise(at_, count_ * kPageBytes, advice), 0); }
  volatile unsigned char& operator[](size_t page) const { return at_[page * kPageBytes + 7]; }
  void store(unsigned char value) const {
    for (size_t page = 0; page < count_; ++page) (*this)[page] = value;
  }
  size_t count_of(unsigned char value) const {
    size_t found = 0;
    for (size_t page = 0; page < count_; ++page) found += (*this)[page] == value ? 1U : 0U;
    return found;
  }

 private:
  size_t count_;
  unsigned char* at_;
};

}  // namespace ringside::testing
