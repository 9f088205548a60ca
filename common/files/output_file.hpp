// Files for a user, made in one place, so that one place decides who may read them: never others, whatever the umask.
// A file appears under its name only when it is complete.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/files/new_file.hpp"
#include "common/files/output_guard.hpp"
#include "common/platform/unique_fd.hpp"

namespace ringside {

inline constexpr mode_t kPrivateMode = 0600;  // what only its owner's programs read again: a pool, a cache
inline constexpr mode_t kOutputMode = 0640;   // what a user asked for: the group may have it, where the umask lets it

/// Throws Error if an OutputFile of these arguments would, as far as that can be known beforehand; for a command that
/// works for hours before it writes. Leaves nothing behind.
void check_output(const std::string& path, const std::string& option, const std::vector<KeptFile>& kept);

/// Written as a NewFile, which gets its name at the end. What exists and is no plain file (a device, a pipe, a link),
/// or lies in a folder that may not be written to, is written in place: a rename would replace it by a file. A pipe
/// without a reader is refused, not waited for. What is one of this process's own descriptors (descriptor_of_output) is
/// written through that descriptor, at its offset: nothing is truncated, and what was printed before comes first.
class OutputFile {
 public:
  /// option: what messages begin with ("--output"). kept: the files that the command reads or keeps. Throws Error (exit
  /// code 3), as do all functions below; also as refuse_output does.
  OutputFile(std::string path, std::string option, std::vector<KeptFile> kept = {});
  void write(const void* data, std::size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }

  /// The file is complete: it gets its name, unless that name leads to a pool, journal or cache by now (refuse_output).
  /// Without this call nothing is left of it.
  void finish();

 private:
  UniqueFd open_in_place() const;
  UniqueFd duplicate(int descriptor) const;
  [[noreturn]] void fail(int error) const;

  const std::string path_;
  const std::string option_;
  const std::vector<KeptFile> kept_;
  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  std::optional<NewFile> new_file_;  // none: written in place or through a descriptor
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace ringside
