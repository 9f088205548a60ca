// SPDX-License-Identifier: BSD-3-Clause
// Writes and checks matrix caches. The file is trusted only after these checks, because a solver uses the arrays
// without any checks.
#include "producer/matrix/matrix_cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "common/files/new_file.hpp"
#include "common/files/output_file.hpp"
#include "common/platform/error.hpp"
#include "common/text/fixed_text.hpp"
#include "producer/matrix/csr_builder.hpp"
#include "producer/matrix/matrix_checks.hpp"
#include "producer/memory/matrix_memory.hpp"

namespace ringside {
namespace {

Id128 hash_of(const CacheHeader& header) {
  return hash128(&header, offsetof(CacheHeader, header_hash));
}

std::uint64_t aligned(std::uint64_t offset) {
  return (offset + kCacheAlignment - 1) / kCacheAlignment * kCacheAlignment;
}

std::uint32_t code_of(Orientation orientation) {
  return orientation == Orientation::kRows ? 0 : 1;
}

// The places of the sections depend only on the shape; a reader requires exactly these offsets.
void lay_out(CacheHeader& header, bool has_value, bool has_id) {
  std::uint64_t end = kCacheAlignment;
  const auto section = [&end](std::uint64_t bytes) {
    const std::uint64_t begin = aligned(end);
    end = begin + bytes;
    return begin;
  };
  header.row_begin_offset = section((header.rows + 1) * sizeof(std::uint64_t));
  header.column_offset = section(header.nonzeros * sizeof(std::uint32_t));
  header.value_offset = has_value ? section(header.nonzeros * sizeof(double)) : 0;
  header.id_offset = has_id ? section(header.rows * sizeof(std::uint64_t)) : 0;
  header.file_bytes = aligned(end);
}

class CacheFile {
 public:
  explicit CacheFile(const std::string& path) : path_(path), file_(path, kPrivateMode) {
    if (!file_.fd().valid()) fail("cannot be created", errno);
  }

  void reserve(std::uint64_t bytes) {
    const int error = posix_fallocate(file_.fd().get(), 0, static_cast<off_t>(bytes));
    if (error != 0) fail(fmt::format("cannot reserve {} bytes", bytes), error);
  }

  /// Far memory is first copied to a buffer, because system calls cannot access far memory.
  void write_at(std::uint64_t offset, const void* data, std::size_t bytes) {
    const char* from = static_cast<const char*>(data);
    const bool copies = in_far_memory(data);
    while (bytes > 0) {
      std::size_t now = bytes;
      const char* source = from;
      if (copies) {
        now = std::min(bytes, kBufferBytes);
        buffer_.assign(from, from + now);
        source = buffer_.data();
      }
      const ssize_t written = pwrite(file_.fd().get(), source, now, static_cast<off_t>(offset));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) fail("cannot be written", written < 0 ? errno : EIO);
      from += written;
      offset += static_cast<std::uint64_t>(written);
      bytes -= static_cast<std::size_t>(written);
    }
  }

  void publish() {
    if (const int error = file_.publish()) fail("cannot be synced or renamed to its final name", error);
    if (const int error = sync_folder_of(path_)) fail("has a folder that cannot be synced", error);
  }

 private:
  [[noreturn]] void fail(std::string_view what, int error) const {
    throw system_error("{}: the matrix cache {} ({}); choose another folder with --cache-dir", path_, what,
                       errno_text(error));
  }

  static constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
  const std::string path_;
  NewFile file_;
  std::vector<char> buffer_;
};

// The header of `bytes`, which must begin with the magic. The caller checks version and byte order first, then the
// hash: another version may have its hash at another place.
CacheHeader copy_header(std::string_view bytes, const std::string& name) {
  if (!is_cache(bytes))
    throw usage_error("{}: found no matrix cache, expected one (a file that begins with RSMATRIX)", name);
  if (bytes.size() < sizeof(CacheHeader)) {
    throw damage_error("{}: found a matrix cache of {} bytes, expected at least {}; delete it", name, bytes.size(),
                       sizeof(CacheHeader));
  }
  CacheHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}

bool is_readable_here(const CacheHeader& header) {
  return header.version == kCacheVersion && header.byte_order == kCacheByteOrder;
}

void check_header_hash(const CacheHeader& header, const std::string& name) {
  if (header.header_hash == hash_of(header)) return;
  throw damage_error("{}: the matrix cache's header is damaged (hash {} instead of {}); delete it", name,
                     to_string(hash_of(header)), to_string(header.header_hash));
}

void check_layout(const CacheHeader& header, std::uint64_t file_bytes, const std::string& name) {
  CacheHeader expected = header;
  const bool sane = header.rows >= 1 && header.rows <= kMaxRows && header.columns >= 1 && header.columns <= kMaxRows &&
                    header.nonzeros <= file_bytes / sizeof(std::uint32_t) && header.orientation <= 1 &&
                    header.reserved == 0;
  if (sane) lay_out(expected, header.value_offset != 0, header.id_offset != 0);
  if (!sane || std::memcmp(&expected, &header, sizeof header) != 0) {
    throw damage_error("{}: the matrix cache's header is inconsistent; delete it", name);
  }
  if (header.file_bytes != file_bytes) {
    throw damage_error("{}: found {} bytes, the matrix cache's header gives {}; delete it", name, file_bytes,
                       header.file_bytes);
  }
}

// Checks everything that a solver uses without checks, in one sweep by all threads.
bool is_walkable(const CsrMatrix& matrix) {
  const std::uint64_t* const row_begin = matrix.row_begin.data();
  const std::uint32_t* const column = matrix.column.data();
  const std::uint64_t rows = matrix.rows;
  const std::uint64_t nonzeros = matrix.nonzeros();
  bool ascending = row_begin[0] == 0 && row_begin[rows] == nonzeros;
  std::uint32_t largest = 0;
#pragma omp parallel
  {
#pragma omp for schedule(static) reduction(&& : ascending) nowait
    for (std::uint64_t row = 0; row < rows; ++row) ascending = ascending && row_begin[row] <= row_begin[row + 1];
#pragma omp for schedule(static) reduction(max : largest)
    for (std::uint64_t k = 0; k < nonzeros; ++k) largest = std::max(largest, column[k]);
  }
  const bool ids_ascend =
      std::adjacent_find(matrix.id.begin(), matrix.id.end(), std::greater_equal<>()) == matrix.id.end();
  return ascending && ids_ascend && (nonzeros == 0 || largest < matrix.columns);
}

}  // namespace

bool is_cache(std::string_view bytes) {
  return bytes.starts_with(kCacheMagic);
}

void write_matrix_cache(const CsrMatrix& matrix, const CacheSource& source, const std::string& path) {
  CacheHeader header{};
  std::memcpy(header.magic, kCacheMagic.data(), sizeof header.magic);
  header.version = kCacheVersion;
  header.byte_order = kCacheByteOrder;
  header.orientation = code_of(matrix.orientation);
  header.rows = matrix.rows;
  header.columns = matrix.columns;
  header.nonzeros = matrix.nonzeros();
  lay_out(header, !matrix.value.empty(), !matrix.id.empty());
  header.source_bytes = source.bytes;
  header.source_hash = source.hash;
  header.content_id = matrix.content_id;
  assign(header.source, source.text);
  header.header_hash = hash_of(header);

  CacheFile file(path);
  file.reserve(header.file_bytes);
  file.write_at(0, &header, sizeof header);
  file.write_at(header.row_begin_offset, matrix.row_begin.data(), matrix.row_begin.bytes());
  file.write_at(header.column_offset, matrix.column.data(), matrix.column.bytes());
  if (header.value_offset != 0) file.write_at(header.value_offset, matrix.value.data(), matrix.value.bytes());
  if (header.id_offset != 0) file.write_at(header.id_offset, matrix.id.data(), matrix.id.bytes());
  file.publish();
}

CsrMatrix map_matrix_cache(const Text& bytes, const std::string& name, Orientation orientation) {
  const CacheHeader header = copy_header(bytes.text, name);
  if (header.byte_order != kCacheByteOrder) {
    throw usage_error(
        "{}: found a matrix cache with another byte order, or a damaged one; delete it, and write it anew on this "
        "machine",
        name);
  }
  if (header.version != kCacheVersion) {
    throw usage_error(
        "{}: found a matrix cache of version {}, expected version {}; write it anew with `ringside cache`", name,
        header.version, kCacheVersion);
  }
  check_header_hash(header, name);
  check_layout(header, bytes.text.size(), name);
  if (header.orientation != code_of(orientation)) {
    throw usage_error("{}: found a matrix cache that stores {}, expected one that stores {}, which this solver needs",
                      name, header.orientation == 0 ? "rows" : "in-links",
                      orientation == Orientation::kRows ? "rows" : "in-links");
  }

  // The cast is safe: the mapping is read-only, but a const CsrMatrix is only read.
  char* const base = const_cast<char*>(bytes.text.data());
  const auto section = [&](std::uint64_t offset) { return static_cast<void*>(base + offset); };
  CsrMatrix matrix;
  matrix.rows = header.rows;
  matrix.columns = header.columns;
  matrix.orientation = orientation;
  matrix.content_id = header.content_id;
  matrix.row_begin = {bytes.owner, static_cast<std::uint64_t*>(section(header.row_begin_offset)), header.rows + 1};
  matrix.column = {bytes.owner, static_cast<std::uint32_t*>(section(header.column_offset)), header.nonzeros};
  if (header.value_offset != 0) {
    matrix.value = {bytes.owner, static_cast<double*>(section(header.value_offset)), header.nonzeros};
  }
  if (header.id_offset != 0)
    matrix.id = {bytes.owner, static_cast<std::uint64_t*>(section(header.id_offset)), header.rows};
  return matrix;
}

CsrMatrix read_matrix_cache(const Text& bytes, const std::string& name, Orientation orientation) {
  CsrMatrix matrix = map_matrix_cache(bytes, name, orientation);
  const Id128 content = hash_content(matrix);
  if (content != matrix.content_id) {
    throw damage_error("{}: the matrix cache's content is damaged (hash {} instead of {}); delete it", name,
                       to_string(content), to_string(matrix.content_id));
  }
  if (!is_walkable(matrix))
    throw damage_error("{}: the matrix cache's rows or columns do not form a matrix; delete it", name);
  return matrix;
}

bool is_fresh_cache(std::string_view bytes, const std::string& name, Orientation orientation,
                    const CacheSource& source) {
  const CacheHeader header = copy_header(bytes, name);
  if (!is_readable_here(header)) return false;
  check_header_hash(header, name);
  char expected[sizeof header.source];
  assign(expected, source.text);
  return header.orientation == code_of(orientation) && header.source_bytes == source.bytes &&
         header.source_hash == source.hash && std::memcmp(expected, header.source, sizeof expected) == 0;
}

}  // namespace ringside
