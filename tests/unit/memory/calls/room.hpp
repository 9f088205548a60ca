// SPDX-License-Identifier: BSD-3-Clause
// Memory for one system call's test: ordinary memory, or an arena whose pages leave DRAM right before the call. What
// the call returned and what lies in the memory afterwards is written down, to be compared.
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
  kDescriptor = 2,   // any descriptor is as good as another; it is closed
  kSign = 4,         // only whether it failed
  kForgives = 8,     // the kernel does not fail if the memory is absent, or comes to it last: no negative control
};

/// Thrown when a call in the arena fails with EFAULT: what follows may wait for ever for what it should have sent.
struct FailedWithEfault {};

class Room {
 public:
  Room(Where where, uint32_t compare);

  /// Each thing has pages of its own and lies across the end of one where its alignment of 8 allows.
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
  /// The same for content that holds addresses, which are not compared.
  template <typename T>
  T* links(std::initializer_list<T> content) {
    T* const at = array(content);
    things_.pop_back();
    return at;
  }

  /// Evicts everything, makes the call and notes its result (or -errno), which is returned.
  template <typename... Arguments>
  long call(long number, Arguments... arguments) {
    return call_with(number, {as_number(arguments)...});
  }
  void evict() const;
  void note(long value);
  /// What was noted, then the content.
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

/// Each adds a case to the vector `all`: one call, or a lambda that prepares and calls.
#define CASE_BY_NUMBER(name, number, compare, ...) all.push_back({name, number, compare, __VA_ARGS__})
#define CASE(name, compare, ...) CASE_BY_NUMBER(#name, SYS_##name, compare, __VA_ARGS__)
#define CALL_OF(name, compare, ...) CASE(name, compare, [](Room& r) { (void)r, r.call(SYS_##name, __VA_ARGS__); })
#define CALL(name, ...) CALL_OF(name, kSame, __VA_ARGS__)

}  // namespace ringside::testing
