// SPDX-License-Identifier: BSD-3-Clause
// Output files. Every output file is made here, so that one place sets the permissions: other users can never read an
// output file, whatever the umask is. A file appears under its name only when it is complete.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/files/direct_file.hpp"
#include "common/files/new_file.hpp"
#include "common/files/output_guard.hpp"
#include "common/platform/unique_fd.hpp"

namespace ringside {

inline constexpr mode_t kOutputMode = 0640;  // for a user's outputs: the group may read them if the umask allows it

/// Throws the Error that an OutputFile with these arguments would throw, as far as this can be checked in advance. This
/// check is for commands that work for hours before they write. Leaves no file behind.
void check_output(const std::string& path, const std::string& option, const std::vector<KeptFile>& kept);

/// Throws Error (exit code 2) if the name has an ending (a dot after the first character, a letter, letters and digits)
/// other than `accepted`, because such an ending would misstate the content. A device or a pipe may have any name.
/// hint: an alternative for the user; may be empty.
void refuse_other_endings(const std::string& path, const std::string& option, const std::vector<std::string>& accepted,
                          const std::string& hint = {});
inline const std::vector<std::string> kPageEndings = {".html", ".htm"};

/// Whether an OutputFile of that name would be a new file, whose content is lost unless `finish` is called.
bool is_made_anew(const std::string& path);

/// An output is written as a NewFile, which gets its name at the end. If the name exists and is not a regular file (a
/// device, a pipe, a link), the output is written in place, because a rename would replace it. An existing file in a
/// folder that may not be written to is also written in place. A pipe without a reader is refused at once. If the name
/// is one of this process's own descriptors (descriptor_of_output), the output goes through that descriptor, at its
/// offset: nothing is truncated, and text printed earlier stays before the output. `-` is standard output itself. If a
/// write to standard output fails, std::system_error is thrown; run_program reports it or, if the reader has gone, ends
/// by SIGPIPE.
class OutputFile {
 public:
  /// option: the beginning of messages ("--output"). kept: the files that the command reads or keeps. Throws Error
  /// (exit code 3), as do all functions below, and also the errors of refuse_output.
  OutputFile(std::string path, std::string option, std::vector<KeptFile> kept = {},
             NewFile::Until until_finished = NewFile::Until::kNameless);
  /// Writes bytes. In a new file, large blocks go directly to the disk (DirectFile).
  void write(const void* data, std::size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }

  /// The name under which a library can open the output; empty if the output is nameless or written in place.
  std::string name_beside() const { return new_file_ ? new_file_->name_beside() : std::string(); }
  /// The descriptor through which a child process can write the output. Flushes earlier writes first.
  int descriptor();

  /// Call it when the file is complete: gives the file its name, unless that name now leads to a pool, journal or cache
  /// (refuse_output). Without this call a NewFile is removed.
  void finish();

 private:
  /// From this size on, bypassing the page cache saves more than it costs.
  static constexpr std::size_t kManyBytes = std::size_t{256} << 10;

  void put(std::span<const std::byte> bytes);
  void put_many(std::span<const std::byte> bytes);
  UniqueFd open_in_place() const;
  UniqueFd duplicate(int descriptor) const;
  [[noreturn]] void fail(int error) const;

  const std::string path_;
  const std::string option_;
  const std::vector<KeptFile> kept_;
  struct Close {
    void operator()(std::FILE* file) const noexcept {
      if (file != stdout) std::fclose(file);
    }
  };
  std::optional<NewFile> new_file_;  // empty if the output is written in place or through a descriptor
  std::unique_ptr<std::FILE, Close> file_;
  std::optional<DirectFile> direct_;  // for large blocks of a new file
};

}  // namespace ringside
