// SPDX-License-Identifier: BSD-3-Clause
#include "common/journal/journal_log_copy.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "common/files/regular_file.hpp"
#include "common/platform/error.hpp"

namespace ringside {
namespace {

constexpr std::uint64_t kMostFileBytes = std::uint64_t{1} << 30;

/// Reads `bytes` bytes, or fewer if the file ends before.
std::size_t read_at(int fd, std::byte* to, std::size_t bytes, std::uint64_t from, const std::string& name) {
  const std::size_t done = read_whole(fd, {to, bytes}, from);
  if (done < bytes && errno != 0) throw system_error("{}: cannot be read: {}", name, errno_text(errno));
  return done;
}

}  // namespace

LogPlace place_of_log(std::span<const std::byte> head, std::uint64_t file_bytes) noexcept {
  if (head.size() < kPmemlogHeadBytes ||
      std::memcmp(head.data(), kPmemlogSignature.data(), kPmemlogSignature.size()) != 0) {
    return {JournalKind::kFile, 0, file_bytes};
  }
  std::array<std::uint64_t, 3> offsets{};  // stored as little-endian, the byte order of x86-64
  std::memcpy(offsets.data(), head.data() + kPmemlogOffsetsAt, sizeof(offsets));
  const auto [begin, most, end] = offsets;
  const bool possible = begin >= kPmemlogHeadBytes && begin <= end && end <= most && most <= file_bytes;
  return possible ? LogPlace{JournalKind::kPmemlog, begin, end} : LogPlace{JournalKind::kPmemlog, 0, 0};
}

std::optional<LogCopy> copy_log(const std::string& path, std::uint64_t from, std::uint64_t at_most) {
  const RegularFile opened = open_regular(path, O_RDONLY);
  if (!opened.kind.empty()) throw usage_error("{}: {}; expected a regular file as a journal's log", path, opened.why());
  if (!opened.valid() && opened.error == ENOENT) return std::nullopt;
  if (!opened.valid()) throw system_error("{}: cannot be read: {}", path, opened.why());
  const UniqueFd& fd = opened.fd;
  LogCopy file;
  file.file_bytes = static_cast<std::uint64_t>(opened.status.st_size);
  if (file.file_bytes > kMostFileBytes) {
    throw usage_error("{}: found {} bytes, but a journal's log has at most {}", path, file.file_bytes, kMostFileBytes);
  }
  std::array<std::byte, kPmemlogHeadBytes> head{};
  const std::size_t head_bytes =
      read_at(fd.get(), head.data(), std::min<std::uint64_t>(head.size(), file.file_bytes), 0, path);
  file.place = place_of_log({head.data(), head_bytes}, file.file_bytes);
  const std::uint64_t log_bytes = file.place.end - file.place.begin;
  file.from = from;
  const std::size_t wanted = std::min(at_most, log_bytes - std::min(from, log_bytes));
  file.copied = std::make_unique_for_overwrite<std::byte[]>(wanted);
  file.copied_bytes = read_at(fd.get(), file.copied.get(), wanted, file.place.begin + from, path);
  return file;
}

}  // namespace ringside
