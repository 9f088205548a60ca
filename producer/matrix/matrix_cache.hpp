// SPDX-License-Identifier: BSD-3-Clause
// A matrix as a file that is mapped instead of parsed. docs/use/run.md documents the layout, which this file defines.
// If the layout changes, the version, the document, the assertions and the golden test must change with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "producer/matrix/csr_matrix.hpp"
#include "producer/text/text_source.hpp"

namespace ringside {

inline constexpr std::string_view kCacheMagic = "RSMATRIX";
inline constexpr std::uint32_t kCacheVersion = 2;
inline constexpr std::uint32_t kCacheByteOrder = 0x01020304;
/// Sections begin at multiples of this number, because they are mapped: no page has parts of two sections.
inline constexpr std::uint64_t kCacheAlignment = 4096;

struct CacheHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t byte_order;
  std::uint32_t orientation;  // 0 rows, 1 in-links
  std::uint32_t reserved;
  std::uint64_t rows;
  std::uint64_t columns;
  std::uint64_t nonzeros;
  std::uint64_t row_begin_offset;
  std::uint64_t column_offset;
  std::uint64_t value_offset;  // 0: a pattern
  std::uint64_t id_offset;     // 0: rows are named 0 .. rows-1
  std::uint64_t file_bytes;
  std::uint64_t source_bytes;  // 0: generated
  Id128 source_hash;           // 0: generated
  Id128 content_id;
  char source[368];   // file name or generator text, zero-padded
  Id128 header_hash;  // XXH3-128 of the bytes before it
};
static_assert(std::is_trivially_copyable_v<CacheHeader> && sizeof(CacheHeader) == 512);
static_assert(offsetof(CacheHeader, rows) == 24 && offsetof(CacheHeader, row_begin_offset) == 48);
static_assert(offsetof(CacheHeader, file_bytes) == 80 && offsetof(CacheHeader, content_id) == 112);
static_assert(offsetof(CacheHeader, source) == 128 && offsetof(CacheHeader, header_hash) == 496);

/// The source of a cache: a file's name, size and hash128_parallel of its bytes, or a generator's text. The hash
/// decides whether a file has changed, not the file's recorded times: archives, images and stores give all files the
/// same times, and some file systems make times up.
struct CacheSource {
  std::string text;
  std::uint64_t bytes = 0;
  Id128 hash = {};
};

/// True if `bytes` begin like a cache, of any version.
bool is_cache(std::string_view bytes);

/// Writes the matrix to `path`. The file appears there when it is complete and synced (common/files/new_file.hpp).
/// If the folder or the disk does not allow this, throws `Error` (exit code 3) and does not change an existing file.
void write_matrix_cache(const CsrMatrix& matrix, const CacheSource& source, const std::string& path);

/// The matrix in the bytes of a cache; its arrays are windows into them. `name` is the name of the bytes in messages.
/// All threads check the header, the offsets and the content's hash, and that rows ascend and columns exist. Throws
/// `Error`: exit code 5 for damage; 2 for another version, byte order or orientation.
CsrMatrix read_matrix_cache(const Text& bytes, const std::string& name, Orientation orientation);

/// Does the same, but does not read or check the content, because another process of this machine has checked it.
CsrMatrix map_matrix_cache(const Text& bytes, const std::string& name, Orientation orientation);

/// True if the bytes are a cache of this version, byte order and orientation that was made from exactly that source.
/// Then `read_matrix_cache` can use it. Throws `Error`: exit code 5 if the header is damaged, 2 if it is no cache.
bool is_fresh_cache(std::string_view bytes, const std::string& name, Orientation orientation,
                    const CacheSource& source);

}  // namespace ringside
