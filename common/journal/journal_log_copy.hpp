// SPDX-License-Identifier: BSD-3-Clause
// A copy of one log's file: its kind and its bytes. Any process may make a copy, even while the owner writes. The bytes
// are read by pread, not mapped: if the file is emptied meanwhile, the read is short and raises no SIGBUS. The content
// of a copy is not trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/journal/journal_files.hpp"

namespace ringside {

/// The range of the file in which the log's bytes are.
struct LogPlace {
  JournalKind kind = JournalKind::kFile;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// libpmemlog's layout: a header of one page, three offsets (data begins, data may end, data ends), the data.
inline constexpr std::string_view kPmemlogSignature("PMEMLOG", 8);
inline constexpr std::uint64_t kPmemlogOffsetsAt = 4096;
inline constexpr std::uint64_t kPmemlogHeadBytes = kPmemlogOffsetsAt + 24;

/// head: the file's first kPmemlogHeadBytes, or the whole file if it is shorter. For a libpmemlog pool whose offsets
/// are beyond the file's end, the range is empty: begin == end.
LogPlace place_of_log(std::span<const std::byte> head, std::uint64_t file_bytes) noexcept;

struct LogCopy {
  LogPlace place;
  std::uint64_t file_bytes = 0;
  std::uint64_t from = 0;  // the offset of the copy's first byte in the log
  std::unique_ptr<std::byte[]> copied;
  std::size_t copied_bytes = 0;

  std::span<const std::byte> bytes() const noexcept { return {copied.get(), copied_bytes}; }
};

/// Copies at most `at_most` of the log's bytes, from offset `from` on; copies no bytes if the log ends before that
/// offset. Returns nothing if there is no file. Throws Error: exit code 2 if the file is not a regular file or is
/// larger than any journal, 3 if it may not be read.
std::optional<LogCopy> copy_log(const std::string& path, std::uint64_t from = 0, std::uint64_t at_most = UINT64_MAX);

}  // namespace ringside
