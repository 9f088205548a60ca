// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/memory/calls/room.hpp"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "memory/ringside_memory.h"

namespace ringside::testing {
namespace {

constexpr size_t kRoomBytes = size_t{2} << 20;

}  // namespace

Room::Room(Where where, uint32_t compare) : where_(where), compare_(compare) {
  if (where == Where::kArena) {
    memory_ = static_cast<char*>(ringside_memory_alloc(kRoomBytes));
  } else {
    void* const at = mmap(nullptr, kRoomBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memory_ = at == MAP_FAILED ? nullptr : static_cast<char*>(at);
  }
}

char* Room::bytes(const void* content, size_t length) {
  const size_t lead = length >= 4096 ? 2048 : 4096 - length / 2;
  char* const at = memory_ + used_ + lead / 8 * 8;
  used_ = (used_ + lead + length + 2 * 4096 - 1) / 4096 * 4096;
  if (used_ > kRoomBytes) _exit(3);
  if (content != nullptr) std::memcpy(at, content, length);
  things_.push_back({at, length});
  return at;
}

char* Room::text(const char* content) {
  return bytes(content, std::strlen(content) + 1);
}

void Room::evict() const {
  if (where_ == Where::kArena && ringside_memory_advise(memory_, kRoomBytes, RINGSIDE_MEMORY_DONT_NEED) != 0) _exit(4);
}

void Room::note(long value) {
  noted_ += std::to_string(value) + " ";
  if (where_ == Where::kArena && (value == -EFAULT || (value == -1 && errno == EFAULT))) throw FailedWithEfault{};
}

long Room::call_with(long number, std::initializer_list<long> arguments) {
  long given[6] = {};
  size_t i = 0;
  for (const long argument : arguments) given[i++] = argument;
  evict();
  errno = 0;
  long result = syscall(number, given[0], given[1], given[2], given[3], given[4], given[5]);
  if (result == -1) result = -errno;
  if ((compare_ & kDescriptor) != 0 && result >= 0) {
    close(static_cast<int>(result));
    note(0);
  } else {
    note((compare_ & kSign) != 0 && result > 0 ? 0 : result);
  }
  return result;
}

std::string Room::outcome() const {
  std::string all = noted_;
  if ((compare_ & kVolatile) != 0) return all;
  for (const Thing& thing : things_) {
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < thing.length; ++i) hash = (hash ^ static_cast<unsigned char>(thing.at[i])) * 1099511628211u;
    all += "[" + std::to_string(hash % 100000) + "]";
  }
  return all;
}

}  // namespace ringside::testing
