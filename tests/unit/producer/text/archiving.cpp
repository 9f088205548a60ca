// SPDX-License-Identifier: BSD-3-Clause
// Writes archives with libarchive into memory.
#include "tests/unit/producer/text/archiving.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>

namespace ringside::testing {
namespace {

using std::string_literals::operator""s;

la_ssize_t append(archive* /*unused*/, void* bytes, const void* block, std::size_t size) {
  static_cast<std::string*>(bytes)->append(static_cast<const char*>(block), size);
  return static_cast<la_ssize_t>(size);
}

// The bytes of an archive. `begin` sets filter and format; `fill` writes the members.
template <class Begin, class Fill>
std::string written(Begin&& begin, Fill&& fill) {
  std::string bytes;
  archive* const out = archive_write_new();
  begin(out);
  archive_write_set_bytes_per_block(out, 0);
  EXPECT_EQ(archive_write_open(out, &bytes, nullptr, append, nullptr), ARCHIVE_OK) << archive_error_string(out);
  fill(out);
  EXPECT_EQ(archive_write_close(out), ARCHIVE_OK) << archive_error_string(out);
  archive_write_free(out);
  return bytes;
}

void add(archive* out, const Member& member) {
  archive_entry* const entry = archive_entry_new();
  archive_entry_set_pathname(entry, member.name.c_str());
  archive_entry_set_perm(entry, 0640);
  archive_entry_set_filetype(entry, AE_IFREG);
  std::string content = member.content;
  switch (member.kind) {
    case Member::Kind::kFile: break;
    case Member::Kind::kFolder: archive_entry_set_filetype(entry, AE_IFDIR); break;
    case Member::Kind::kPipe: archive_entry_set_filetype(entry, AE_IFIFO); break;
    case Member::Kind::kHardLink: archive_entry_set_hardlink(entry, member.target.c_str()); break;
    case Member::Kind::kSymbolicLink:
      archive_entry_set_filetype(entry, AE_IFLNK);
      archive_entry_set_symlink(entry, member.target.c_str());
      break;
    case Member::Kind::kSparseFile:  // a hole, and then the content
      content.insert(0, 1 << 20, '\0');
      archive_entry_set_size(entry, static_cast<la_int64_t>(content.size()));
      archive_entry_sparse_add_entry(entry, 1 << 20, static_cast<la_int64_t>(member.content.size()));
      break;
  }
  archive_entry_set_size(entry, static_cast<la_int64_t>(content.size()));
  EXPECT_EQ(archive_write_header(out, entry), ARCHIVE_OK) << archive_error_string(out);
  if (!content.empty()) {
    EXPECT_EQ(archive_write_data(out, content.data(), content.size()), static_cast<la_ssize_t>(content.size()));
  }
  archive_entry_free(entry);
}

std::string packed(std::string_view text, int (*filter)(archive*)) {
  return written(
      [&](archive* out) {
        filter(out);
        archive_write_set_format_raw(out);
      },
      [&](archive* out) { add(out, {.name = "text", .content = std::string(text)}); });
}

}  // namespace

std::string bzip2_of(std::string_view text) {
  return packed(text, archive_write_add_filter_bzip2);
}

std::string zstd_of(std::string_view text) {
  return packed(text, archive_write_add_filter_zstd);
}

std::string zstd_of_first_lines() {
  return "\x28\xb5\x2f\xfd\x04\x58\x41"
         "\x00\x00\x30\x20\x31\x0a\x31"
         "\x20\x32\x0a\x50\xbb\xb4\x4b"s;
}

std::string zstd_of_second_lines() {
  return "\x28\xb5\x2f\xfd\x04\x58\x41"
         "\x00\x00\x32\x20\x33\x0a\x33"
         "\x20\x30\x0a\x02\x0e\xaa\xd1"s;
}

std::string tar_of(const std::vector<Member>& members, TarFormat format) {
  return written(
      [&](archive* out) {
        switch (format) {
          case TarFormat::kPax: archive_write_set_format_pax(out); break;
          case TarFormat::kGnu: archive_write_set_format_gnutar(out); break;
          case TarFormat::kUstar: archive_write_set_format_ustar(out); break;
          case TarFormat::kV7: archive_write_set_format_v7tar(out); break;
        }
      },
      [&](archive* out) {
        for (const Member& member : members) add(out, member);
      });
}

std::string zip_of(const std::vector<Member>& members, const std::string& password) {
  return written(
      [&](archive* out) {
        archive_write_set_format_zip(out);
        if (password.empty()) return;
        EXPECT_EQ(archive_write_set_options(out, "zip:encryption=traditional"), ARCHIVE_OK);
        EXPECT_EQ(archive_write_set_passphrase(out, password.c_str()), ARCHIVE_OK);
      },
      [&](archive* out) {
        for (const Member& member : members) add(out, member);
      });
}

}  // namespace ringside::testing
