// SPDX-License-Identifier: BSD-3-Clause
// The programs of `ringside experiment apps`, one entry each. An entry has the command line for a size, and the part of
// the program's output that is its result. The result must have the same bits in every memory. bench/apps builds the
// programs whose sources a user must provide (LULESH, AMG, VPIC, SNAP).
#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {

/// One run: its size, workers and files.
struct AppJob {
  std::uint64_t bytes = 0;  // the bytes of data of all workers together
  int workers = 1;
  bool weak = false;     // a point of weak scaling: `bytes` is proportional to the workers
  std::string folder;    // the program's working folder, which exists
  std::string input;     // a file that App::write_input wrote
  std::string output;    // a file that the program may write
  std::string in_place;  // a folder whose mapped files hold its data; empty: plain memory
  std::string far;       // for App::caches_itself: the folder of far memory; empty: all data in DRAM
  std::uint64_t dram_bytes = 0;
};

struct AppCommand {
  std::vector<std::string> launcher;  // words before the program, such as mpirun -n 4
  std::string program;
  std::vector<std::string> arguments;
};

enum class AppWorkers { kOne, kThreads, kProcesses };

/// The part of a run that is its result.
enum class AppResult {
  kOutput,    // everything that it prints
  kChecksum,  // "checksum" of the JSON object that it prints
  kFile,      // the file `output`; if it contains `begin`, only its lines as for kPart
  kSummary,   // the member `begin` of the JSON object in the file `output`
  kPart       // the printed lines from the line with `begin` up to the line before the one with `end`
};

struct App {
  std::string_view name = {};
  std::string_view does = {};
  std::span<const std::string_view> needs = {};  // programs, all of which must be found
  std::string_view get = {};                     // what the user must do if one of them is missing
  AppWorkers workers = AppWorkers::kOne;
  AppResult result = AppResult::kOutput;
  std::string_view begin = {}, end = {};
  std::string_view figure = {};  // key of the seconds in the printed JSON's "figures"; empty: the whole run's
  bool in_place = false;         // whether its data can be in a mapped file: far memory without a cache
  bool caches_itself = false;    // whether it has options for Memory Mode: ringside-memory does not start it
  bool (*takes)(int workers) = nullptr;                                // null: the program takes every number
  void (*write_input)(const AppJob& job, std::ostream& to) = nullptr;  // null: the program reads no input
  AppCommand (*command)(const AppJob& job) = nullptr;
};

/// The programs with these names, in the order of the table; without names, all programs. For an unknown name, throws
/// Error (exit code 2) that lists the existing names.
std::vector<const App*> chosen_apps(const std::vector<std::string>& names);

/// The largest whole number whose cube is at most `number`, but at least 1.
std::uint64_t cube_root(std::uint64_t number) noexcept;

/// `workers` as three factors, the largest first, as equal as possible: 12 is 3 x 2 x 2.
struct ThreeFactors {
  int x = 1, y = 1, z = 1;
};
ThreeFactors three_factors(int workers) noexcept;

/// The path of `program` in the first folder that has such an executable file: first `folders`, then those of PATH.
/// Empty if no folder has such a file.
std::string path_of_program(const std::string& program, const std::vector<std::string>& folders);

}  // namespace ringside
