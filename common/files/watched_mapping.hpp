// SPDX-License-Identifier: BSD-3-Clause
// Mappings of users' files, and the handling of pages that the kernel cannot provide: the file was truncated, its disk
// failed, or the disk was full. The kernel then sends SIGBUS to the thread that touched the page, and one handler
// decides. A fault in a mapping registered here ends the process with one line and an exit code of
// docs/inside/architecture.md. If survive_faults was called for the mapping, the fault is recorded instead, and the
// process continues. Any other SIGBUS keeps its previous action (a sanitizer's, or the default).
//
// The handler is async-signal-safe: it reads atomics and constant text, and calls fstat, pread, mmap, write and _exit.
// A thread that touches a registered mapping must not block SIGBUS: the kernel would end the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "common/platform/error.hpp"

namespace ringside {

/// Installs the handler. Call once, in main. in_journal: whether the message is a key=value line for systemd's journal.
void catch_bus_errors(bool in_journal) noexcept;

/// Registers a mapping for this object's lifetime; unmaps nothing. Threads may register and remove mappings at any
/// time.
class WatchedMapping {
 public:
  /// name: the beginning of messages. fd: the file mapped at `base`, from its offset 0; it may be closed afterwards.
  /// Throws Error (exit code 3) if no descriptor is free.
  WatchedMapping(const std::string& name, int fd, const void* base, std::size_t bytes);

  /// For a library that maps a file itself: while this object exists, every SIGBUS of the calling thread is attributed
  /// to that file.
  WatchedMapping(const std::string& name, int fd);

  ~WatchedMapping();
  WatchedMapping(const WatchedMapping&) = delete;
  WatchedMapping& operator=(const WatchedMapping&) = delete;

  /// From now on a fault does not end the process: a private copy replaces the page, and `error` reports it. Stores to
  /// that page do not reach the file. Call this function only if `error` is checked before anything is acknowledged.
  /// With kNotTruncation, a truncated file still ends the process; use it for mappings in which the caller keeps its
  /// own state.
  enum class Survive { kAll, kNotTruncation };
  void survive_faults(Survive what = Survive::kAll) noexcept;

  /// Records another failure of the file; the first failure is kept.
  void note(int error) noexcept;

  /// The errno value of the first failure, or 0.
  int error() const noexcept;

  /// The Error to throw, or with which the program ends: exit code 5 if the file was truncated, 3 if a page could not
  /// be provided. Empty if there was no fault.
  std::optional<Error> fault() const;

  /// False once `error` is not 0, or the file is shorter than its mapping.
  bool intact() const noexcept;

  /// Like `intact`, but also records a truncation as a fault would. Call it wherever write(2) is used on the file: a
  /// write makes a truncated file longer again, and its lost pages then read as zeros without a fault.
  bool intact_or_noted() noexcept;

  struct Entry;  // the handler's view of the mapping

 private:
  std::int64_t file_bytes() const noexcept;
  std::int64_t mapped_bytes() const noexcept;

  Entry* const entry_;
};

}  // namespace ringside
