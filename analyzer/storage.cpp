#include "analyzer/storage.hpp"

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <string_view>

#include "common/error.hpp"

namespace ringside {
namespace {

bool is_one(const char* variable) noexcept {
  const char* value = std::getenv(variable);
  return value != nullptr && std::string_view(value) == "1";
}

}  // namespace

std::string_view to_string(Storage storage) noexcept {
  return storage == Storage::kDax ? "dax" : "file";
}

bool forced_dax_allowed() noexcept {
  return is_one("PMEM_IS_PMEM_FORCE") && is_one("RINGSIDE_ALLOW_FORCED_PMEM");
}

Storage storage_of(int fd, std::string_view name) {
  constexpr std::size_t kProbeBytes = 4096;
  void* probe = mmap(nullptr, kProbeBytes, PROT_READ, MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0);
  if (probe != MAP_FAILED) {
    munmap(probe, kProbeBytes);
    return Storage::kDax;
  }
  if (!is_one("PMEM_IS_PMEM_FORCE")) return Storage::kFile;
  if (forced_dax_allowed()) return Storage::kDax;
  throw usage_error(
      "{}: PMEM_IS_PMEM_FORCE=1 is set, but this is a plain file, which would not survive power loss: "
      "unset it",
      name);
}

}  // namespace ringside
