// SPDX-License-Identifier: BSD-3-Clause
// The memory for the test of one system call: ordinary memory, or an arena whose pages leave DRAM right before the
// call. A Room records the call's result and the content of the memory after it, so that both can be compared.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

namespace ringside::testing {

enum class Where { kOrdinary, kArena };

/// How the outcomes of a call are compared.
enum Compare : uint32_t {
  kSame = 0,
  kVolatile = 1,     // content that differs from call to call: only results are compared
  kDescriptor = 2,   // the result is a descriptor: its number is not compared, and it is closed
  kSign = 4,         // only whether the call failed is compared, not the result
  kForgives = 8,     // the call succeeds on absent memory, or fails before it uses the memory: no negative control
};

/// Thrown when a call in the arena fails with EFAULT: the rest of the case might wait for ever for data that the call
/// should have sent.
struct FailedWithEfault {};

class Room {
 public:
  Room(Where where, uint32_t compare);

  /// Each object has its own pages, and crosses the end of a page if its alignment of 8 permits this.
  char* bytes(const void* content, size_t length);
  char* zeros(size_t length) { return bytes(nullptr, length); }
  char* text(const char* content);
  template <typename T>
  T* value(const T& content) {
    return reinterpret_cast<T*>(bytes(&content, sizeof content));
  }
  template <typename T>
  T* array(std::initializer_list<T> content) {
    return reinterpret_cast<T*>(bytes(content.begin(), content.size() * sizeof(T)));
  }
  /// Like `array`, for content with addresses, which is not compared.
  template <typename T>
  T* links(std::initializer_list<T> content) {
    T* const at = array(content);
    things_.pop_back();
    return at;
  }

  /// Evicts all memory, makes the call, and records and returns its result (or -errno).
  template <typename... Arguments>
  long call(long number, Arguments... arguments) {
    return call_with(number, {as_number(arguments)...});
  }
  void evict() const;
  void note(long value);
  /// The recorded values, and then the content of all objects.
  std::string outcome() const;

 private:
  template <typename T>
  static long as_number(T value) {
    if constexpr (std::is_pointer_v<T> || std::is_null_pointer_v<T>) {
      return static_cast<long>(reinterpret_cast<uintptr_t>(value));
    } else {
      return static_cast<long>(value);
    }
  }
  long call_with(long number, std::initializer_list<long> arguments);

  struct Thing {
    char* at;
    size_t length;
  };
  Where where_;
  uint32_t compare_;
  char* memory_ = nullptr;
  size_t used_ = 0;
  std::vector<Thing> things_;
  std::string noted_;
};

inline uint64_t address_of(const void* at) {
  return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(at));
}

struct Case {
  const char* name;
  long number;
  uint32_t compare;
  void (*run)(Room& room);
};

std::vector<Case> file_cases();
std::vector<Case> process_cases();
std::vector<Case> message_cases();

/// Each macro adds a case to the vector `all`: one call, or a lambda that prepares a call and makes it.
#define CASE_BY_NUMBER(name, number, compare, ...) all.push_back({name, number, compare, __VA_ARGS__})
#define CASE(name, compare, ...) CASE_BY_NUMBER(#name, SYS_##name, compare, __VA_ARGS__)
#define CALL_OF(name, compare, ...) CASE(name, compare, [](Room& r) { (void)r, r.call(SYS_##name, __VA_ARGS__); })
#define CALL(name, ...) CALL_OF(name, kSame, __VA_ARGS__)

}  // namespace ringside::testing
