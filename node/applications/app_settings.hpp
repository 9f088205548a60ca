// SPDX-License-Identifier: BSD-3-Clause
// The variables of `ringside experiment apps`: where a program's data are, how much DRAM caches them, and how many
// workers share them. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "node/applications/app_table.hpp"

namespace ringside {

struct AppsOptions {
  std::vector<std::string> programs;         // names in the table of programs; empty: all
  std::vector<std::string> dram;             // sizes, or percentages of a program's memory
  std::string far;                           // the folder of far memory; empty: /dev/shm
  std::string timing;                        // "optane": emulated; empty: no emulation
  std::vector<std::string> program_folders;  // searched before the folder of ringside and PATH
};

/// Every figure with emulated far memory contains this text.
inline constexpr const char* kOptaneTiming = "emulated Optane: 305 ns + 4 GB/s read, 2 GB/s write";

/// A limit of DRAM: bytes, or a percentage of the memory that the program takes when all of it is in DRAM.
struct DramSize {
  std::uint64_t bytes = 0;  // 0: `percent` applies
  double percent = 0;
};

/// "64M", "25%". Throws Error (exit code 2).
DramSize dram_size_of(const std::string& text);
std::vector<DramSize> dram_sizes_of(const std::vector<std::string>& texts);

enum class AppMemory { kDram, kFarOnly, kCached };

struct AppConfiguration {
  AppMemory memory = AppMemory::kDram;
  DramSize dram;  // the limit of kCached
};

/// "all DRAM", "far only", "DRAM 25 %", "DRAM 64 MiB".
std::string to_string(const AppConfiguration& configuration);

/// The configurations: all DRAM first, then far only, then one with a cache in DRAM for each size.
std::vector<AppConfiguration> configurations_of(const std::vector<DramSize>& sizes);

/// The limit in bytes: whole pages of 4 KiB, and at least the minimum of ringside-memory.
std::uint64_t dram_limit(const DramSize& size, std::uint64_t all_dram_bytes);

/// A problem size with a number of workers. Strong scaling keeps the total number of bytes constant; weak scaling keeps
/// the bytes per worker constant.
struct AppPoint {
  int workers = 1;
  std::uint64_t bytes = 0;  // the bytes of all workers
  bool weak = false;
};

/// A strong point for each number of workers, then those weak points that are not the same run as a strong point. With
/// the most workers, the strong and the weak point are the same run unless the program's command line differs.
/// `workers` must be ascending. A program of one worker has one point.
std::vector<AppPoint> points_of(const App& app, const std::vector<int>& workers, std::uint64_t bytes);

/// The words that start a program in Memory Mode, before the program and its arguments.
struct CachedRun {
  std::string ringside_memory;  // the path of the program
  std::string far;
  std::uint64_t dram_bytes = 0;  // the limit of each process
  std::string account;  // the file that gets the account of all processes, as JSON
};
std::vector<std::string> words_of(const CachedRun& run);

}  // namespace ringside
