// SPDX-License-Identifier: BSD-3-Clause
// A fixed-size array of plain values in its own memory mapping, which begins at a huge page and for which huge pages
// are advised. No page is touched before a thread writes to it, so the thread that will use a part can place it (first
// touch). --matrix-memory decides where an array of the matrix is stored. An array can also be a window into a mapped
// file (the matrix cache); it then keeps the mapping alive.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

namespace ringside {

/// What an array contains, which decides in which memory the array is.
enum class Holds {
  kVector,  // one number for each row; in DRAM
  kMatrix   // entries and row beginnings; in DRAM or in far memory (producer/memory/matrix_memory.hpp)
};

/// `bytes` bytes of zeroed, untouched, private memory, which are freed with the last owner. Throws `Error` (exit code
/// 3), whose text names the size, if the system has no room.
std::shared_ptr<void> allocate_pages(std::size_t bytes, Holds holds = Holds::kVector);

template <class T>
class Array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Array() = default;
  explicit Array(std::size_t size, Holds holds = Holds::kVector)
      : owner_(allocate_pages(size * sizeof(T), holds)), data_(static_cast<T*>(owner_.get())), size_(size) {}
  /// A window of `size` values at `data`, kept valid by `owner`.
  Array(std::shared_ptr<void> owner, T* data, std::size_t size) : owner_(std::move(owner)), data_(data), size_(size) {}

  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  std::size_t bytes() const noexcept { return size_ * sizeof(T); }
  bool empty() const noexcept { return size_ == 0; }
  T& operator[](std::size_t i) noexcept { return data_[i]; }
  const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  T* begin() noexcept { return data_; }
  T* end() noexcept { return data_ + size_; }
  const T* begin() const noexcept { return data_; }
  const T* end() const noexcept { return data_ + size_; }
  std::span<const T> span() const noexcept { return {data_, size_}; }

 private:
  std::shared_ptr<void> owner_;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace ringside
