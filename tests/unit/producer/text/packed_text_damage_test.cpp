// SPDX-License-Identifier: BSD-3-Clause
// Damaged packed files: reading gives the same text, or an error that names the file. Every truncation and every
// flipped bit of small archives is tried, with the unpacker and with the reader of matrices.
#include <gtest/gtest.h>
#include <lzma.h>

#include <string>
#include <utility>
#include <vector>

#include "producer/matrix/matrix_source.hpp"
#include "producer/text/packed_text.hpp"
#include "tests/unit/expect_text.hpp"
#include "tests/unit/producer/matrix/matrix_testing.hpp"
#include "tests/unit/producer/openmp_threads.hpp"
#include "tests/unit/producer/text/archiving.hpp"
#include "tests/unit/producer/text/packing.hpp"

namespace ringside {
namespace {

using namespace testing;

const std::string kFirst = "0 1\n1 2\n";
const std::string kSecond = "2 3\n3 0\n";
const std::string kText = kFirst + kSecond;

struct TwoStreams {
  const char* name;
  std::string first;   // the first member or stream
  std::string second;  // the second one, with what follows it
  std::string whole() const { return first + second; }
};

std::vector<TwoStreams> archives() {
  return {{"two.gz", gzip_of(kFirst), gzip_of(kSecond)},
          {"padded.gz", gzip_of(kFirst), gzip_of(kSecond) + std::string(8, '\0')},
          {"two.xz", xz_of(kFirst), xz_of(kSecond)},
          {"crc32.xz", xz_of(kFirst, LZMA_CHECK_CRC32), xz_of(kSecond, LZMA_CHECK_CRC32)},
          {"padded.xz", xz_of(kFirst) + std::string(4, '\0'), xz_of(kSecond) + std::string(8, '\0')},
          {"two.bz2", bzip2_of(kFirst), bzip2_of(kSecond)},
          {"padded.bz2", bzip2_of(kFirst), bzip2_of(kSecond) + std::string(8, '\0')},
          {"two.zst", zstd_of_first_lines(), zstd_of_second_lines()}};
}

/// The text, or the error, which must name the file.
std::pair<std::string, std::string> unpacked(const std::string& packed, const std::string& name) {
  std::string text;
  std::string error = failure_line([&] { text = unpack(packed, name).text; });
  EXPECT_TRUE(error.empty() || error.starts_with(name + ": ")) << error;
  return {text, error};
}

TEST(PackedTextDamage, BothMembersAreRead) {
  for (const TwoStreams& archive : archives()) EXPECT_EQ(unpacked(archive.whole(), archive.name).first, kText);
}

TEST(PackedTextDamage, ADamagedSecondMemberIsRefused) {
  std::string damaged = gzip_of(kFirst) + gzip_of(kSecond);
  const std::size_t second = gzip_of(kFirst).size();
  damaged[second] ^= 1;
  const std::string error = unpacked(damaged, "a.gz").second;
  expect_has(error, {"after a whole gzip member, from byte " + std::to_string(second) + " on, expected another"});
}

TEST(PackedTextDamage, ABzip2StreamWhoseFirstBytesAreDamagedIsRefusedInsteadOfSkipped) {
  const std::size_t second = bzip2_of(kFirst).size();
  for (std::size_t byte = 0; byte < 10; ++byte) {
    std::string damaged = bzip2_of(kFirst) + bzip2_of(kSecond);
    damaged[second + byte] ^= 0x40;
    const std::string error = unpacked(damaged, "a.bz2").second;
    expect_has(error, {"after a whole bzip2 stream, from byte " + std::to_string(second) + " on, expected another"});
  }
}

TEST(PackedTextDamage, EveryFlippedBitGivesTheSameTextOrAnError) {
  for (const TwoStreams& archive : archives()) {
    const std::string whole = archive.whole();
    std::size_t refused = 0;
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
      std::string damaged = whole;
      damaged[bit / 8] ^= static_cast<char>(1 << bit % 8);
      const auto [text, error] = unpacked(damaged, archive.name);
      EXPECT_TRUE(!error.empty() || text == kText) << archive.name << ", bit " << bit << ": " << text;
      if (!error.empty()) ++refused;
    }
    // These bits are harmless: in gzip's header, time, system and compression level (7 bytes per member), and one flag.
    // In bzip2, there are fewer harmless bits: the size of the blocks, and the bits that fill the last byte.
    EXPECT_GE(refused, 8 * whole.size() - std::size_t{2} * (7 * 8 + 1)) << archive.name;
  }
}

// An archive that is cut off between two members is a valid archive, because neither format states how many members
// follow.
TEST(PackedTextDamage, EveryCutGivesTheSameTextOrAnErrorExceptBetweenMembers) {
  for (const TwoStreams& archive : archives()) {
    const std::string whole = archive.whole();
    const std::size_t first_end = archive.first.find_last_not_of('\0') + 1;
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
      const auto [text, error] = unpacked(whole.substr(0, bytes), archive.name);
      if (text == kFirst && error.empty()) {
        EXPECT_TRUE(bytes >= first_end && bytes <= archive.first.size()) << archive.name << ", byte " << bytes;
      } else {
        EXPECT_TRUE(!error.empty() || text == kText) << archive.name << ", byte " << bytes << ": " << text;
      }
    }
  }
}

TEST(PackedTextDamage, WhatFollowsTheLastMemberIsRefused) {
  std::vector<std::string> tails = {"x", "\n", "garbage", "\x1f", "\x1f\x8b", "BZh9", "\x28\xb5\x2f\xfd", kText};
  tails.insert(tails.end(), {std::string("\0\0\0\1", 4), std::string("\0x", 2), std::string("\xfd") + "7zXZ"});
  for (const std::string& tail : tails) {
    for (const std::string& packed : {gzip_of(kText), xz_of(kText), bzip2_of(kText), zstd_of_second_lines()}) {
      const auto [text, error] = unpacked(packed + tail, "a");
      EXPECT_FALSE(error.empty()) << "read as: " << text;
    }
  }
  EXPECT_FALSE(unpacked(gzip_of(kText) + xz_of(kText), "a").second.empty());
  EXPECT_FALSE(unpacked(xz_of(kText) + gzip_of(kText), "a").second.empty());
}

TEST(PackedTextDamage, ZerosBehindTheLastMemberAreWhatEachFormatAllows) {
  for (const std::size_t zeros : {1u, 2u, 3u, 4u, 5u, 8u, 512u, 4095u}) {
    EXPECT_EQ(unpacked(gzip_of(kText) + std::string(zeros, '\0'), "a").first, kText) << zeros;
    EXPECT_EQ(unpacked(bzip2_of(kText) + std::string(zeros, '\0'), "a").first, kText) << zeros;
    EXPECT_FALSE(unpacked(zstd_of_first_lines() + std::string(zeros, '\0'), "a").second.empty()) << zeros;
    const auto [text, error] = unpacked(xz_of(kText) + std::string(zeros, '\0'), "a");
    EXPECT_EQ(zeros % 4 == 0, error.empty()) << zeros << ": " << error;
    EXPECT_EQ(zeros % 4 == 0, text == kText) << zeros;
  }
}

/// Gives the stream a check that no version of liblzma knows: number 5, which has the same length as CRC64.
std::string with_an_unknown_check(std::string stream) {
  constexpr std::size_t kHeaderFlags = 6;
  const std::size_t footer = stream.size() - 12;
  const auto store_crc = [&stream](std::size_t at, std::size_t from, std::size_t bytes) {
    const std::uint32_t crc = lzma_crc32(reinterpret_cast<const std::uint8_t*>(stream.data()) + from, bytes, 0);
    for (int i = 0; i < 4; ++i) stream[at + static_cast<std::size_t>(i)] = static_cast<char>(crc >> 8 * i);
  };
  stream[kHeaderFlags + 1] = 5;
  store_crc(kHeaderFlags + 2, kHeaderFlags, 2);
  stream[footer + 9] = 5;
  store_crc(footer, footer + 4, 6);
  return stream;
}

TEST(PackedTextDamage, AnIntegrityCheckThatIsNotKnownIsRefusedInsteadOfSkipped) {
  const std::string error = unpacked(with_an_unknown_check(xz_of(kText)), "a.xz").second;
  expect_has(error, {"the integrity check 5, which is not supported here, expected CRC32"});
}

// The header of the frame has a window size of 2^31. The frame contains one raw block.
TEST(PackedTextDamage, AZstdFrameThatAsksForMuchMemoryIsRefused) {
  const std::string frame(
      "\x28\xb5\x2f\xfd\x00\xa8\x41\x00\x00"
      "0 1\n1 2\n",
      17);
  const std::string error = unpacked(frame, "a.zst").second;
  expect_has(error, {"damaged zstd data near byte 0 (Zstd decompression failed: Frame requires too much memory"});
}

TEST(PackedTextDamage, TextThatIsPackedTwiceIsUnpackedOnce) {
  EXPECT_EQ(unpacked(bzip2_of(bzip2_of(kText)), "a").first, bzip2_of(kText));
}

TEST(PackedTextDamage, AMatrixIsReadWholeOrRefusedWhicheverBitIsFlipped) {
  const TemporaryFolder folder;
  const OpenMpThreads one_at_first(1);  // thousands of tiny matrices: threads would only wait for each other
  const auto load = [&](const std::string& path) {
    return load_matrix({.matrix = path}, Orientation::kRows).content_id;
  };
  for (const TwoStreams& archive : archives()) {
    const std::string whole = archive.whole();
    const Id128 expected = load(folder.write(archive.name, whole));
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
      std::string damaged = whole;
      damaged[bit / 8] ^= static_cast<char>(1 << bit % 8);
      const std::string path = folder.write(archive.name, damaged);
      Id128 found = expected;
      const std::string error = failure_line([&] { found = load(path); });
      EXPECT_EQ(found, expected) << archive.name << ", bit " << bit;
      EXPECT_TRUE(error.empty() || error.starts_with(path)) << error;
    }
  }
}

}  // namespace
}  // namespace ringside
