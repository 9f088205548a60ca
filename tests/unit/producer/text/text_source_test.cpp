// SPDX-License-Identifier: BSD-3-Clause
// Plain and packed files must give the same text. Damaged and truncated files must give one clear error line.
#include "producer/text/text_source.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <random>
#include <string>

#include "producer/text/packed_text.hpp"
#include "producer/text/text_scan.hpp"
#include "tests/unit/expect_text.hpp"
#include "tests/unit/producer/matrix/matrix_testing.hpp"
#include "tests/unit/producer/text/archiving.hpp"
#include "tests/unit/producer/text/packing.hpp"

namespace ringside {
namespace {

using namespace testing;

std::string some_text() {
  std::mt19937_64 random(4);
  std::string text;
  while (text.size() < 3'000'000) text += std::to_string(random() % 100000) + '\n';
  return text;
}

TEST(TextSource, PackedTextIsUnpackedWhole) {
  const std::string text = some_text();
  for (const std::string& packed : {gzip_of(text), xz_of(text), bzip2_of(text), zstd_of(text)}) {
    EXPECT_TRUE(is_packed(packed));
    EXPECT_EQ(unpack(packed, "a").text, text);
  }
}

TEST(TextSource, MembersAndStreamsInARowAreOneText) {
  EXPECT_EQ(unpack(gzip_of("one\n") + gzip_of("") + gzip_of("two\n"), "a").text, "one\ntwo\n");
  EXPECT_EQ(unpack(xz_of("one\n") + xz_of("two\n"), "a").text, "one\ntwo\n");
  EXPECT_EQ(unpack(bzip2_of("one\n") + bzip2_of("") + bzip2_of("two\n"), "a").text, "one\ntwo\n");
  EXPECT_EQ(unpack(zstd_of("one\n") + zstd_of("two\n"), "a").text, "one\ntwo\n");
  EXPECT_EQ(unpack(gzip_of("one\n") + std::string(512, '\0'), "a").text, "one\n");
}

TEST(TextSource, ATextThatFillsItsMemoryExactlyIsWhole) {
  for (const std::size_t bytes : {std::size_t{1} << 20, (std::size_t{1} << 20) + 1, std::size_t{1} << 21}) {
    const std::string text(bytes, 'x');
    EXPECT_EQ(unpack(gzip_of(text), "a").text.size(), bytes);
    EXPECT_EQ(unpack(xz_of(text), "a").text.size(), bytes);
    EXPECT_EQ(unpack(bzip2_of(text), "a").text.size(), bytes);
    EXPECT_EQ(unpack(zstd_of(text), "a").text.size(), bytes);
  }
}

TEST(TextSource, AnEmptyTextIsUnpacked) {
  for (const std::string& packed : {gzip_of(""), xz_of(""), bzip2_of(""), zstd_of("")}) {
    EXPECT_EQ(unpack(packed, "a").text, "");
  }
}

TEST(TextSource, AZstdFileMayBeginWithAFrameThatHoldsNoText) {
  const std::string empty_frame("\x50\x2a\x4d\x18\x04\x00\x00\x00....", 12);  // as pzstd writes
  EXPECT_TRUE(is_packed(empty_frame));
  EXPECT_EQ(unpack(empty_frame + zstd_of("one\n"), "a").text, "one\n");
}

TEST(TextSource, EveryCutIsNoticed) {
  const std::string text = "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n";
  for (const std::string& packed : {gzip_of(text), xz_of(text), bzip2_of(text), zstd_of(text)}) {
    for (std::size_t bytes = 8; bytes < packed.size(); ++bytes) {
      const std::string error = failure_line([&] { unpack(std::string_view(packed).substr(0, bytes), "a.gz"); });
      EXPECT_TRUE(error.starts_with("a.gz: found the end of the file within the ")) << bytes << ": " << error;
    }
  }
}

TEST(TextSource, AFileIsMappedAsItIs) {
  const TemporaryFolder folder;
  EXPECT_EQ(map_file(folder.write("a", "hello\n")).text, "hello\n");
  EXPECT_EQ(map_file(folder.write("empty", "")).text, "");
}

TEST(TextSource, WhatIsNoReadableFileIsNamed) {
  const TemporaryFolder folder;
  expect_has(failure_line([&] { map_file(folder.file("absent")); }), {"absent: cannot be opened (No such file"});
  expect_has(failure_line([&] { map_file(folder.path()); }), {"found a folder"});
  ASSERT_EQ(mkfifo(folder.file("pipe").c_str(), 0600), 0);
  expect_has(failure_line([&] { map_file(folder.file("pipe")); }), {"found a device, pipe or socket"});
  folder.write("secret", "x");
  chmod(folder.file("secret").c_str(), 0);
  if (geteuid() == 0) return;  // root reads everything
  expect_has(failure_line([&] { map_file(folder.file("secret")); }, ExitCode::kSystem), {"Permission denied"});
}

TEST(TextScan, PiecesAreWholeLinesThatAddUpToTheText) {
  std::mt19937_64 random(6);
  for (int repeat = 0; repeat < 2000; ++repeat) {
    std::string text;
    for (std::uint64_t i = random() % 40; i > 0; --i) text += "a\n\r"[random() % 3];
    std::string joined;
    for (const std::string_view piece : split_at_lines(text, 1 + random() % 6)) {
      const char before = joined.empty() ? '\n' : joined.back();
      EXPECT_TRUE(before == '\n' || (before == '\r' && piece.front() != '\n')) << repeat;
      joined += piece;
    }
    EXPECT_EQ(joined, text);
  }
}

TEST(TextScan, LinesAreNumberedWhateverTheyEndIn) {
  for (const std::string text : {"a\nb\nc", "a\r\nb\r\nc", "a\rb\rc"}) {
    EXPECT_EQ(line_number(text, text.find('a')), 1u);
    EXPECT_EQ(line_number(text, text.find('b')), 2u);
    EXPECT_EQ(line_number(text, text.find('c')), 3u);
  }
}

}  // namespace
}  // namespace ringside
