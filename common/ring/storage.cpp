// SPDX-License-Identifier: BSD-3-Clause
#include "common/ring/storage.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <string_view>

#include "common/platform/error.hpp"

namespace ringside {
namespace {

bool is(const char* variable, std::string_view expected) noexcept {
  const char* value = std::getenv(variable);
  return value != nullptr && value == expected;
}

bool is_one(const char* variable) noexcept {
  return is(variable, "1");
}

}  // namespace

std::string_view to_string(Storage storage) noexcept {
  return storage == Storage::kDax ? "dax" : "file";
}

bool forced_dax_allowed() noexcept {
  return is_one("PMEM_IS_PMEM_FORCE") && is_one("RINGSIDE_ALLOW_FORCED_PMEM");
}

bool dax_denied() noexcept {
  return is("PMEM_IS_PMEM_FORCE", "0");
}

int map_sync_error(int fd) noexcept {
  constexpr std::size_t kProbeBytes = 4096;
  void* probe = mmap(nullptr, kProbeBytes, PROT_READ, MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0);
  if (probe == MAP_FAILED) return errno;
  munmap(probe, kProbeBytes);
  return 0;
}

Storage storage_of(int fd, std::string_view name) {
  if (map_sync_error(fd) == 0) return dax_denied() ? Storage::kFile : Storage::kDax;
  if (!is_one("PMEM_IS_PMEM_FORCE")) return Storage::kFile;
  if (forced_dax_allowed()) return Storage::kDax;
  throw usage_error(
      "{}: PMEM_IS_PMEM_FORCE=1 is set, but this is a plain file, which would not survive power loss: unset the "
      "variable",
      name);
}

}  // namespace ringside
