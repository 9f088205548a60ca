// SPDX-License-Identifier: BSD-3-Clause
// The runs below a folder, from their journals alone: no pool is opened. The memory for a run does not grow with the
// run. A journal is read completely once; later calls read only the records that were appended. Symbolic links are not
// followed, so nothing outside of the folder is read.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/run_history/recorded_runs.hpp"
#include "common/platform/error.hpp"

namespace ringside {

struct ListedRun {
  std::string key;   // identifies the run in addresses: 32 digits, made from the journal's path and the run's id
  std::string name;  // name of the pool: its path below the folder
  std::string pool;  // path of the pool
  std::string state;
  const RecordedRun* run = nullptr;  // valid until the next `look`
};

/// A journal that could not be read completely.
struct JournalFault {
  std::string name;  // name of the pool: its path below the folder
  std::string why;
  ExitCode code = ExitCode::kDamaged;
};

class RunFolder {
 public:
  static constexpr int kDeepest = 8;                  // levels of folders below the folder
  static constexpr std::size_t kMostJournals = 1000;  // further journals are left out
  static constexpr std::size_t kMostRuns = 2000;      // only the newest runs are kept

  /// Throws Error (exit code 2) if `folder` is not a folder.
  explicit RunFolder(const std::string& folder);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  /// Reads new journals and records. Returns whether anything changed.
  bool look();

  /// The runs, from the newest to the oldest.
  const std::vector<ListedRun>& runs() const noexcept { return runs_; }
  const std::vector<JournalFault>& faults() const noexcept { return faults_; }
  /// The number of journals and runs that the limits exclude, in words; empty if none are excluded.
  std::string left_out() const;

 private:
  class Journal;
  std::vector<std::string> pools_found();
  void list();

  std::filesystem::path folder_;
  std::map<std::string, std::unique_ptr<Journal>> journals_;  // by the pool's path
  std::vector<ListedRun> runs_;
  std::vector<JournalFault> faults_;
  std::size_t journals_left_out_ = 0;
  std::size_t runs_left_out_ = 0;
};

}  // namespace ringside
