// SPDX-License-Identifier: BSD-3-Clause
// The programs that `ringside experiment apps` runs: one entry each, with its command line for a size, and with what of
// its output is its result, which must have the same bits in every memory. Programs whose sources a user must bring
// (LULESH, AMG, VPIC, SNAP) are built by bench/apps.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {

/// One run: how large, by how many workers, with which files.
struct AppJob {
  std::uint64_t bytes = 0;  // of data, of all workers together
  int workers = 1;
  bool weak = false;     // a point of weak scaling: `bytes` has grown with the workers
  std::string folder;    // its working folder, which exists
  std::string input;     // a file that App::write_input wrote
  std::string output;    // a file that it may write
  std::string in_place;  // a folder whose mapped files hold its data; empty: plain memory
  std::string far;       // of App::caches_itself: the folder of far memory behind dram_bytes; empty: all in DRAM
  std::uint64_t dram_bytes = 0;
};

struct AppCommand {
  std::vector<std::string> launcher;  // words that stand before the program: mpirun -n 4
  std::string program;
  std::vector<std::string> arguments;
};

enum class AppWorkers { kOne, kThreads, kProcesses };

/// What of a run is its result.
enum class AppResult {
  kOutput,    // all that it prints
  kChecksum,  // "checksum" of the JSON object that it prints
  kFile,      // the file `output`; if `begin` is there, its lines as for kPart
  kSummary,   // the member `begin` of the JSON object in the file `output`
  kPart       // of what it prints, the lines from the one with `begin` to before the one with `end`
};

struct App {
  std::string_view name = {};
  std::string_view does = {};
  std::span<const std::string_view> needs = {};  // programs: all must be found
  std::string_view get = {};                     // what to do if one is missing
  AppWorkers workers = AppWorkers::kOne;
  AppResult result = AppResult::kOutput;
  std::string_view begin = {}, end = {};
  std::string_view figure = {};  // of the printed JSON object's "figures", the seconds; empty: the whole run is timed
  bool in_place = false;         // can have its data in a mapped file: far memory without a cache
  bool caches_itself = false;    // has Memory Mode among its own options: ringside-memory does not start it
  bool (*takes)(int workers) = nullptr;                                // null: every number
  void (*write_input)(const AppJob& job, std::ostream& to) = nullptr;  // null: it reads none
  AppCommand (*command)(const AppJob& job) = nullptr;
};

std::span<const App> apps() noexcept;

/// The programs with these names, in the order of the table; all if there is no name. Throws Error (exit code 2) that
/// lists the names.
std::vector<const App*> chosen_apps(const std::vector<std::string>& names);

/// The largest whole number whose cube is at most `number`, but at least 1.
std::uint64_t cube_root(std::uint64_t number) noexcept;

/// `workers` as three factors, the largest first, as equal as possible: 12 is 3 x 2 x 2.
struct ThreeFactors {
  int x = 1, y = 1, z = 1;
};
ThreeFactors three_factors(int workers) noexcept;

/// Where `program` is: the first of `folders`, then of the folders in PATH, with such an executable file. Empty:
/// nowhere.
std::string path_of_program(const std::string& program, const std::vector<std::string>& folders);

}  // namespace ringside
