// SPDX-License-Identifier: BSD-3-Clause
#include <stdlib.h>
#include <string.h>

#include "memory/preload/environment.hpp"
#include "memory/preload/process.hpp"
#include "memory/ringside_memory.h"
#include "memory/system/line.hpp"
#include "memory/system/raw.hpp"

namespace ringside::memory {

constinit Settings settings;

namespace {

bool refuse(const char* variable, const char* found, const char* expected) {
  Line line;
  line << variable << ": found '" << found << "', expected " << expected;
  print_line(line.text());
  return false;
}

bool read_number(const char* variable, uint64_t& value) {
  const char* const text = getenv(variable);
  if (text == nullptr) return true;
  char* end = nullptr;
  const unsigned long long number = strtoull(text, &end, 10);
  if (*text < '0' || *text > '9' || *end != '\0' || number == ULLONG_MAX)
    return refuse(variable, text, "bytes in digits");
  value = number;
  return true;
}

/// Sets `chosen` to 0 if the variable's word is `first`, to 1 if it is `second`.
bool read_word(const char* variable, const char* first, const char* second, uint32_t& chosen) {
  const char* const text = getenv(variable);
  if (text == nullptr) return true;
  if (strcmp(text, first) != 0 && strcmp(text, second) != 0) {
    Line expected;
    expected << first << " or " << second;
    return refuse(variable, text, expected.text());
  }
  chosen = strcmp(text, first) == 0 ? 0 : 1;
  return true;
}

}  // namespace

bool read_settings() noexcept {
  if (getenv(kDramVariable) == nullptr) return true;
  uint64_t min_size = kDefaultMinSize;
  uint32_t thread = 0, none = 0, first_only = 0, noreserve = 0;
  if (!read_number(kDramVariable, settings.dram_bytes) || !read_number(kFarLimitVariable, settings.far_bytes) ||
      !read_number(kMinSizeVariable, min_size) || !read_word(kFaultsVariable, "signal", "thread", thread) ||
      !read_word(kForkVariable, "copy", "none", none) || !read_word(kFirstOnlyVariable, "0", "1", first_only) ||
      !read_word(kNoreserveVariable, "0", "1", noreserve)) {
    return false;
  }
  const char* const folder = getenv(kFarVariable);
  if (folder == nullptr || strlen(folder) >= sizeof settings.far_folder)
    return refuse(kFarVariable, folder == nullptr ? "" : folder, "an existing folder");
  memcpy(settings.far_folder, folder, strlen(folder) + 1);
  if (min_size < 4096) return refuse(kMinSizeVariable, getenv(kMinSizeVariable), "4096 bytes or more");
  settings.min_size = min_size;
  settings.faults = thread == 1 ? RINGSIDE_MEMORY_FAULTS_THREAD : RINGSIDE_MEMORY_FAULTS_SIGNAL;
  settings.copy_at_fork = none == 0;
  settings.first_only = first_only == 1;
  settings.noreserve = noreserve == 1;
  return true;
}

void print_line(const char* text) noexcept {
  Line line;
  line << "ringside-memory: " << text << "\n";
  raw(SYS_write, 2, as_long(line.text()), static_cast<long>(line.length()));
}

}  // namespace ringside::memory
