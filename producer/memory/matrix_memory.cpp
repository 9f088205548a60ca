// SPDX-License-Identifier: BSD-3-Clause
#include "producer/memory/matrix_memory.hpp"

#include <pthread.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string_view>

#include "common/platform/error.hpp"
#include "common/text/printable.hpp"
#include "memory/ringside_memory.h"

namespace ringside {
namespace {

constexpr std::string_view kFar = "far:";

// main writes both variables before other threads exist.
bool started = false;
bool large_granules = false;

// 64 KiB: a stream of such granules costs half the time of a stream of 4 KiB granules (docs/inside/memory_mode.md). The
// limit has room for at least 64 granules, so that there are some for every stream of every thread.
constexpr std::size_t kStreamGranule = std::size_t{64} << 10;
constexpr std::uint64_t kLeastGranules = 64;

constexpr std::uint64_t kLeastFarBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kMostFarBytes = std::uint64_t{1} << 43;  // 8 TiB: the most that an arena can have

/// The library's message, without the name of the library's function at its beginning.
std::string reason() {
  const std::string line = ringside_memory_error();
  const std::size_t colon = line.find(": ");
  return line.starts_with("ringside_memory_") && colon != std::string::npos ? line.substr(colon + 2) : line;
}

/// The free space of the folder that an arena can use.
std::uint64_t far_bytes_in(const std::string& folder) {
  struct statvfs status {};
  if (statvfs(folder.c_str(), &status) != 0) return 0;
  return std::min<std::uint64_t>(status.f_bavail, kMostFarBytes / status.f_frsize) * status.f_frsize;
}

Error no_room(std::size_t bytes) {
  return system_error("--matrix-memory: {} bytes do not fit ({}); free some space, or name another folder", bytes,
                      reason());
}

}  // namespace

std::string far_folder(const SolveOptions& options) {
  return options.matrix_memory.starts_with(kFar) ? options.matrix_memory.substr(kFar.size()) : std::string();
}

void check_matrix_options(const SolveOptions& options) {
  const bool far = !far_folder(options).empty();
  if (far && options.dram_limit_bytes == 0) {
    throw usage_error("--matrix-memory {}: found without --dram-limit, expected --dram-limit SIZE, too",
                      printable(options.matrix_memory));
  }
  if (!far && options.dram_limit_bytes > 0) {
    throw usage_error("--dram-limit: found {} with the matrix in DRAM, expected it with --matrix-memory far:DIR only",
                      options.dram_limit_bytes);
  }
}

void check_matrix_memory(const SolveOptions& options) {
  check_matrix_options(options);
  const std::string folder = far_folder(options);
  if (folder.empty()) return;
  struct stat status {};
  const int error = stat(folder.c_str(), &status) != 0 ? errno : S_ISDIR(status.st_mode) ? 0 : ENOTDIR;
  if (error != 0) {
    throw usage_error("--matrix-memory {}: cannot be used ({}), expected an existing folder on NVDIMM, tmpfs or a disk",
                      printable(options.matrix_memory), errno_text(error));
  }
}

void start_matrix_memory(const SolveOptions& options) {
  check_matrix_memory(options);
  const std::string folder = far_folder(options);
  if (folder.empty()) return;
  // A process can inherit blocked signals. With these blocked, the kernel would end the process at the first fault.
  sigset_t faults;
  sigemptyset(&faults);
  sigaddset(&faults, SIGBUS);
  sigaddset(&faults, SIGSEGV);
  pthread_sigmask(SIG_UNBLOCK, &faults, nullptr);
  const std::uint64_t far_bytes = far_bytes_in(folder);
  if (far_bytes < kLeastFarBytes) {
    throw system_error("--matrix-memory {}: has {} bytes free, expected at least {}; free some space, or name another "
                       "folder",
                       printable(options.matrix_memory), far_bytes, kLeastFarBytes);
  }
  ringside_memory_options arena{};
  arena.struct_bytes = sizeof arena;
  arena.far_bytes = far_bytes;
  arena.far_folder = folder.c_str();
  arena.dram_bytes = options.dram_limit_bytes;
  if (ringside_memory_start(&arena) != 0) {
    if (errno == EINVAL) throw usage_error("--dram-limit: {}", reason());
    throw system_error("--matrix-memory {}: {}", printable(options.matrix_memory), reason());
  }
  started = true;
  large_granules = options.dram_limit_bytes / kStreamGranule >= kLeastGranules;
}

bool matrix_is_far() noexcept {
  return started;
}

bool in_far_memory(const void* address) noexcept {
  return started && ringside_memory_owns(address) == 1;
}

std::shared_ptr<void> allocate_far(std::size_t bytes) {
  return {grow_far(nullptr, bytes), free_far};
}

void* grow_far(void* memory, std::size_t bytes) {
  void* const grown = ringside_memory_realloc(memory, bytes);
  if (grown == nullptr) throw no_room(bytes);
  return grown;
}

void free_far(void* memory) noexcept {
  ringside_memory_free(memory);
}

void shrink_far(void* memory, std::size_t bytes) noexcept {
  ringside_memory_realloc(memory, bytes);
}

void will_be_streamed(void* memory, std::size_t bytes) noexcept {
  if (!in_far_memory(memory)) return;
  ringside_memory_advise(memory, bytes, RINGSIDE_MEMORY_SEQUENTIAL);
  if (large_granules) ringside_memory_granule(memory, kStreamGranule);  // fails for small arrays, which share 1 MiB
}

std::optional<FarUse> far_use() noexcept {
  if (!started) return std::nullopt;
  struct ringside_memory_stats now {};
  now.struct_bytes = sizeof now;
  if (ringside_memory_stats(&now) != 0) return std::nullopt;
  return FarUse{now.far_bytes, now.dram_peak_bytes, now.faults, now.fault_ns, now.read_bytes,
                now.in_place_bytes};
}

}  // namespace ringside
