// SPDX-License-Identifier: BSD-3-Clause
// An output that is a folder of files (a Zarr store). The folder appears under its name only when all of its files are
// complete and on their disk. Until then, the folder is locked and has the name `.NAME.ringside-XXXXXX` in the same
// parent folder. A killed process leaves that folder; the next output of the same name removes it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/files/output_guard.hpp"
#include "common/platform/unique_fd.hpp"

namespace ringside {

/// Throws Error, whose message begins with `option`, if an OutputFolder of that name could not be made. Exit code 2:
/// the name is taken (only an empty folder is ever replaced) or leads to a file that refuse_output protects. Exit code
/// 3: the parent folder may not be written to. what: the kind of output, for messages ("a zarr store").
void check_output_folder(const std::string& path, const std::string& option, const std::string& what,
                         const std::vector<KeptFile>& kept);

class OutputFolder {
 public:
  /// Throws the errors of check_output_folder. All functions throw Error (exit code 3) if the file system refuses
  /// something.
  OutputFolder(std::string path, std::string option, std::string what, std::vector<KeptFile> kept = {});
  /// Removes the folder unless it was published.
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  /// The folder's name until it is published.
  const std::string& beside() const noexcept { return beside_; }

  /// Writes the parts one after the other. name: a relative path, whose folders are made; an existing file of that name
  /// is replaced.
  void write(const std::string& name, std::span<const std::span<const std::byte>> parts);
  void write(const std::string& name, std::string_view text);
  /// Removes a file if it exists.
  void remove(const std::string& name);

  /// Syncs all files and gives the folder its name.
  void publish();
  /// Removes the published folder again.
  void withdraw() noexcept;

 private:
  [[noreturn]] void fail(const std::string& name, int error) const;
  void make_folders(const std::string& name);

  const std::string path_;
  const std::string option_;
  const std::string what_;
  const std::vector<KeptFile> kept_;
  std::string beside_;  // the folder's name until it is published, then empty
  UniqueFd lock_;
  std::vector<std::string> folders_;  // folders that were made in this folder, outer ones first
};

}  // namespace ringside
