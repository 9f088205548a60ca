// SPDX-License-Identifier: BSD-3-Clause
// Uses libarchive to read bytes in memory. The filter and the format are set, not guessed: otherwise libarchive would
// return unrecognised bytes unchanged, and would unpack a text that was packed twice. Also, libarchive ends without an
// error after a complete stream or archive; therefore this file checks the bytes that libarchive did not read.
#include "producer/text/archive.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <utility>

#include "common/platform/error.hpp"
#include "common/text/printable.hpp"
#include "producer/text/packing_errors.hpp"

namespace ringside {
namespace {

constexpr std::size_t kTarBlockBytes = 512;

class Reader {
 public:
  /// piece_bytes: the number of bytes that libarchive gets at a time.
  Reader(std::string_view bytes, std::size_t piece_bytes)
      : archive_(archive_read_new()), rest_(bytes), piece_bytes_(piece_bytes) {
    if (archive_ == nullptr) throw system_error("not enough memory to read an archive");
  }
  ~Reader() { archive_read_free(archive_); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  archive* get() const { return archive_; }
  bool open() { return archive_read_open(archive_, this, nullptr, next_piece, nullptr) == ARCHIVE_OK; }
  /// Opens a format for which libarchive must seek: the directory of a zip archive is at the archive's end.
  bool open_seekable() { return archive_read_open_memory(archive_, rest_.data(), rest_.size()) == ARCHIVE_OK; }

  /// The number of bytes that were taken from the input.
  std::size_t taken() const {
    return static_cast<std::size_t>(std::max<la_int64_t>(0, archive_filter_bytes(archive_, -1)));
  }
  std::string_view reason() const {
    const char* const text = archive_error_string(archive_);
    return text != nullptr ? text : "";
  }
  bool is_out_of_memory() const { return archive_errno(archive_) == ENOMEM; }

 private:
  static la_ssize_t next_piece(archive* /*unused*/, void* reader, const void** piece) {
    auto* const self = static_cast<Reader*>(reader);
    const std::size_t bytes = std::min(self->rest_.size(), self->piece_bytes_);
    *piece = self->rest_.data();
    self->rest_.remove_prefix(bytes);
    return static_cast<la_ssize_t>(bytes);
  }

  archive* archive_;
  std::string_view rest_;
  std::size_t piece_bytes_;
};

/// The cause of libarchive's failure: the file was cut short if nothing is left to read, else it is damaged.
Error damage(const Reader& reader, std::string_view packed, const std::string& name, std::string_view format) {
  if (reader.is_out_of_memory()) return system_error("{}: not enough memory to read it", name);
  const std::size_t rest = packed.size() - std::min(reader.taken(), packed.size());
  // A zip archive is read from its end: if it is cut short, it has no directory (open_zip).
  if (format != "zip" && rest < (format == "tar" ? kTarBlockBytes : 1)) return cut_short(name, format);
  return damaged_near(name, format, reader.taken(), reader.reason());
}

struct Unpacked {
  Text text;
  std::size_t taken;  // bytes of the packed data
};

/// All data of the entry that was opened. Throws Error for damage.
Text data_of(Reader& reader, std::string_view packed, const std::string& name, std::string_view format) {
  GrowingBytes unpacked;
  la_ssize_t bytes = 1;
  while (bytes > 0) {
    if (unpacked.free_bytes() == 0) unpacked.grow();
    bytes = archive_read_data(reader.get(), unpacked.free_space(), unpacked.free_bytes());
    if (bytes > 0) unpacked.add(static_cast<std::size_t>(bytes));
  }
  if (bytes < 0) throw damage(reader, packed, name, format);
  return unpacked.take();
}

/// The next header, or null at the end. Throws Error for damage.
archive_entry* next_entry(Reader& reader, std::string_view packed, const std::string& name, std::string_view format) {
  archive_entry* entry = nullptr;
  const int result = archive_read_next_header(reader.get(), &entry);
  if (result == ARCHIVE_EOF) return nullptr;
  // A name that the locale cannot show is returned unchanged, with a warning.
  const bool is_name_in_bytes =
      result == ARCHIVE_WARN && reader.reason().find("can't be converted") != std::string_view::npos;
  if (result != ARCHIVE_OK && !is_name_in_bytes) throw damage(reader, packed, name, format);
  return entry;
}

/// The name of a regular file; empty for other members.
std::optional<std::string> file_name(archive_entry* entry) {
  const char* const name = archive_entry_pathname(entry);
  const bool is_file = archive_entry_filetype(entry) == AE_IFREG && archive_entry_hardlink(entry) == nullptr;
  return name != nullptr && is_file ? std::optional<std::string>(name) : std::nullopt;
}

Unpacked unpack_by(int filter, std::string_view packed, const std::string& name, std::string_view format) {
  Reader reader(packed, std::size_t{1} << 20);  // libarchive's bzip2 filter counts a piece in 32 bits
  if (archive_read_append_filter(reader.get(), filter) != ARCHIVE_OK ||
      archive_read_set_format(reader.get(), ARCHIVE_FORMAT_RAW) != ARCHIVE_OK || !reader.open() ||
      next_entry(reader, packed, name, format) == nullptr) {
    throw damage(reader, packed, name, format);
  }
  Text text = data_of(reader, packed, name, format);
  return {std::move(text), reader.taken()};
}

/// The member's bytes; empty if they are not contiguous in `tar`, as those of a sparse file.
std::optional<std::string_view> text_of(archive_entry* entry, Reader& reader, std::string_view tar,
                                        const std::string& name) {
  std::size_t begin = 0;
  std::size_t size = 0;
  bool whole = true;
  const void* block = nullptr;
  std::size_t bytes = 0;
  la_int64_t offset = 0;
  int result = ARCHIVE_OK;
  while ((result = archive_read_data_block(reader.get(), &block, &bytes, &offset)) == ARCHIVE_OK) {
    const std::size_t at = reinterpret_cast<std::uintptr_t>(block) - reinterpret_cast<std::uintptr_t>(tar.data());
    if (size == 0) begin = at;
    whole = whole && at == begin + size && std::cmp_equal(offset, size) && at <= tar.size() && bytes <= tar.size() - at;
    size += bytes;
  }
  if (result != ARCHIVE_EOF) throw damage(reader, tar, name, "tar");
  if (!whole || !std::cmp_equal(size, archive_entry_size(entry))) return std::nullopt;
  return tar.substr(begin, size);
}

// Only the directory at the end defines the members; other bytes that look like a member are ignored.
void open_zip(Reader& reader, const std::string& name) {
  if (archive_read_support_format_zip_seekable(reader.get()) != ARCHIVE_OK || !reader.open_seekable()) {
    if (reader.is_out_of_memory()) throw system_error("{}: not enough memory to read it", name);
    throw usage_error(
        "{}: found no directory of members at the end of the zip archive, expected a whole archive with a "
        "matrix in it (was it cut short?)",
        name);
  }
}

}  // namespace

Text unpack_bzip2(std::string_view packed, const std::string& name) {
  Unpacked unpacked = unpack_by(ARCHIVE_FILTER_BZIP2, packed, name, "bzip2");
  const std::string_view rest = packed.substr(unpacked.taken);
  if (!only_zeros(rest)) {
    // libarchive recognises a stream by its first 14 bytes; the shortest stream has 14 bytes.
    if (rest.size() < 14 && rest.starts_with(std::string_view("BZh").substr(0, rest.size())))
      throw cut_short(name, "bzip2");
    throw bytes_behind(name, "bzip2", "stream", rest, unpacked.taken);
  }
  return std::move(unpacked.text);
}

Text unpack_zstd(std::string_view packed, const std::string& name) {
  return unpack_by(ARCHIVE_FILTER_ZSTD, packed, name, "zstd").text;
}

bool is_tar(std::string_view bytes) {
  constexpr std::size_t kMagicOffset = 257;
  const std::string_view header = bytes.substr(0, kTarBlockBytes);
  if (header.size() < kTarBlockBytes || header.find('\0') == std::string_view::npos) return false;
  if (only_zeros(header)) return only_zeros(bytes);
  if (header.substr(kMagicOffset).starts_with("ustar")) return true;
  // The first tar format had no magic number, but it had a checksum, which libarchive checks.
  Reader reader(header, header.size());
  return archive_read_support_format_tar(reader.get()) == ARCHIVE_OK && reader.open();
}

std::vector<TarMember> tar_members(std::string_view tar, const std::string& name) {
  // The tar archive is read in one piece, so that libarchive returns parts of `tar` itself, not of a copy.
  Reader reader(tar, tar.size());
  if (archive_read_set_format(reader.get(), ARCHIVE_FORMAT_TAR) != ARCHIVE_OK || !reader.open()) {
    throw damaged_near(name, "tar", 0, reader.reason());
  }
  std::vector<TarMember> members;
  while (archive_entry* const entry = next_entry(reader, tar, name, "tar")) {
    const std::optional<std::string> member = file_name(entry);
    if (!member) continue;
    TarMember found{*member, {}};
    if (const auto text = text_of(entry, reader, tar, name)) {
      found.text = *text;
      members.push_back(std::move(found));
    }
  }
  // Two blocks of zeros end an archive; some writers write only one. libarchive also accepts the end of the file.
  const auto end = static_cast<std::size_t>(archive_read_header_position(reader.get()));
  const std::string_view rest = tar.substr(std::min(end, tar.size()));
  if (rest.size() < kTarBlockBytes) throw cut_short(name, "tar");
  if (!only_zeros(rest)) {
    throw usage_error(
        "{}: found bytes other than zeros after the end of the tar archive, which is at byte {}, expected one archive",
        name, end);
  }
  return members;
}

bool is_zip(std::string_view bytes) {
  return bytes.starts_with("PK\x03\x04") || bytes.starts_with("PK\x05\x06");  // the second has no members
}

std::vector<ZipMember> zip_members(std::string_view zip, const std::string& name) {
  Reader reader(zip, zip.size());
  open_zip(reader, name);
  std::vector<ZipMember> members;
  for (std::size_t number = 0; archive_entry* const entry = next_entry(reader, zip, name, "zip"); ++number) {
    if (const std::optional<std::string> member = file_name(entry)) members.push_back({*member, number});
  }
  return members;
}

Text unzip(std::string_view zip, const ZipMember& member, const std::string& name) {
  Reader reader(zip, zip.size());
  open_zip(reader, name);
  archive_entry* entry = next_entry(reader, zip, name, "zip");
  for (std::size_t i = 0; entry != nullptr && i < member.number; ++i) entry = next_entry(reader, zip, name, "zip");
  if (entry == nullptr) throw damage(reader, zip, name, "zip");
  if (archive_entry_is_encrypted(entry) != 0) {
    throw usage_error(
        "{}: found the encrypted member '{}' in the zip archive, expected one that is not encrypted; unpack the "
        "archive first",
        name, shortened(member.name));
  }
  return data_of(reader, zip, name, "zip");
}

}  // namespace ringside
