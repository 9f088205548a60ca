// SPDX-License-Identifier: BSD-3-Clause
// What concerns this process: the preload library's settings from the environment, and the functions for the start, the
// forks and the end of the process.
#pragma once

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

namespace ringside::memory {

/// Written once, before main.
struct Settings {
  uint64_t dram_bytes = 0;  // 0: the library does nothing
  char far_folder[PATH_MAX] = "";
  uint64_t far_bytes = 0;
  size_t min_size = SIZE_MAX;  // requests of at least this many bytes go to the arena
  uint32_t faults = 0;         // enum ringside_memory_faults
  bool copy_at_fork = true;
  bool first_only = false;
  bool noreserve = false;  // mappings with MAP_NORESERVE that can be read and written go to the arena, too

  bool signals() const noexcept { return faults != 2; }
};

extern Settings settings;

/// Reads the environment. Returns false, after printing one line, if a variable has an unacceptable value.
bool read_settings() noexcept;

/// Called in a forked child without an arena: starts the arena, if this is permitted. Returns whether there is an arena
/// now.
bool starts_now() noexcept;

/// Called in the main thread, before main. Returns 0 or an error number.
int start_threads() noexcept;
/// The process to which the handlers belong.
pid_t own_process() noexcept;
/// Makes the calling process the one to which the handlers belong. Call it in a forked child.
void note_process() noexcept;

/// Gives the library's descriptors high numbers. Call it before the arena is started.
void keep_descriptors() noexcept;

/// Prints "ringside-memory: TEXT" to standard error, without allocating.
void print_line(const char* text) noexcept;

}  // namespace ringside::memory
