// Mappings of users' files, and what happens when a page of one cannot be had: the file was truncated, its disk failed,
// or had no room for the page. The kernel then sends SIGBUS to the thread that touched it. One handler decides: a fault
// in a mapping that is registered here ends the process with one line and an exit code of design §8, or, where its user
// asked for that, is noted and survived. Any other SIGBUS has the action it had before (a sanitizer's, the default
// one).
//
// The handler is async-signal-safe: it reads atomics and constant text, and calls fstat, pread, mmap, write and _exit.
// SIGBUS must not be blocked in a thread that touches a registered mapping: the kernel ends the process then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "common/error.hpp"

namespace ringside {

/// Installs the handler. Call once, in main. in_journal: the line is a key=value line of systemd's journal.
void catch_bus_errors(bool in_journal) noexcept;

/// Registers a mapping while it exists; it unmaps nothing. Threads may register and remove mappings at any time.
class WatchedMapping {
 public:
  /// name: what messages begin with; fd: the file that is mapped at `base`, from its offset 0. fd may be closed
  /// afterwards. Throws Error (exit code 3) if the system lacks a descriptor.
  WatchedMapping(const std::string& name, int fd, const void* base, std::size_t bytes);

  /// For a library that maps a file somewhere by itself: every SIGBUS of the calling thread counts as that file's.
  WatchedMapping(const std::string& name, int fd);

  ~WatchedMapping();
  WatchedMapping(const WatchedMapping&) = delete;
  WatchedMapping& operator=(const WatchedMapping&) = delete;

  /// From now on a fault does not end the process: a private copy of the page takes its place, and `error` says so.
  /// What is stored there does not reach the file. Call it where `error` is looked at before anything is acknowledged.
  /// kNotTruncation: a truncated file still ends the process; for users whose own state lies in the mapping.
  enum class Survive { kAll, kNotTruncation };
  void survive_faults(Survive what = Survive::kAll) noexcept;

  /// The file has failed otherwise; the first failure is kept.
  void note(int error) noexcept;

  /// The errno value of the first failure, or 0.
  int error() const noexcept;

  /// What to throw, or to end with: exit code 5 where the file was truncated, 3 where a page could not be had. Nothing
  /// where no fault was survived.
  std::optional<Error> fault() const;

  /// False once `error` is not 0, or the file is shorter than its mapping.
  bool intact() const noexcept;

  /// As `intact`, and notes a truncation as a fault would. Ask it before a write(2) into the file: the write would make a
  /// truncated file long again, with pages that read as zeros and do not fault.
  bool intact_or_noted() noexcept;

  struct Entry;  // how the handler sees it

 private:
  std::int64_t file_bytes() const noexcept;
  std::int64_t mapped_bytes() const noexcept;

  Entry* const entry_;
};

}  // namespace ringside
