// SPDX-License-Identifier: BSD-3-Clause
// A line of text that is made without allocation, and the line about the last failure of a thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace ringside::memory {

class Line {
 public:
  Line& operator<<(const char* text) noexcept {
    while (*text != '\0') put(*text++);
    return *this;
  }
  Line& operator<<(uint64_t number) noexcept {
    char digits[20];
    int count = 0;
    do {
      digits[count++] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    while (count > 0) put(digits[--count]);
    return *this;
  }
  Line& operator<<(long number) noexcept {
    if (number < 0) put('-');
    const auto magnitude = static_cast<uint64_t>(number);
    return *this << (number < 0 ? uint64_t{0} - magnitude : magnitude);
  }
  const char* text() const noexcept { return text_; }
  size_t length() const noexcept { return length_; }

 private:
  void put(char letter) noexcept {
    if (length_ + 1 < sizeof text_) text_[length_++] = letter;
    text_[length_] = '\0';
  }
  char text_[320] = "";
  size_t length_ = 0;
};

/// Records a failure: keeps the line for ringside_memory_error, sets errno and returns -1.
int fail(int error, const Line& line) noexcept;
template <class... Parts>
int fail(int error, const char* first, const Parts&... others) noexcept {
  Line line;
  return fail(error, ((line << first) << ... << others));
}
const char* last_failure() noexcept;
/// The C library's text for an error, which may be positive or negative, such as "No space left on device".
/// Async-signal-safe.
const char* error_text(long error) noexcept;

}  // namespace ringside::memory
