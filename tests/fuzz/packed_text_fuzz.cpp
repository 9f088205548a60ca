// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a packed file or a tar archive must give one Error or a text. For gzip and xz, the text must equal that
// of a slow reader that unpacks one member after another. The text of an archive's member must be a part of the
// archive's bytes.
#include <lzma.h>
#include <zlib.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "producer/text/archive.hpp"
#include "producer/text/matrix_text.hpp"
#include "producer/text/packed_text.hpp"
#include "tests/fuzz/fuzzing.hpp"

namespace {

using Bytes = std::string_view;

std::uint32_t little_endian(Bytes bytes, std::size_t at, int count) {
  std::uint32_t number = 0;
  for (int i = 0; i < count; ++i) {
    number |= std::uint32_t{static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)])} << 8 * i;
  }
  return number;
}

const Bytef* bytef(Bytes bytes) {
  return reinterpret_cast<const Bytef*>(bytes.data());
}

/// The length of a gzip member's header (RFC 1952); empty if `packed` does not begin with one.
std::optional<std::size_t> gzip_header_bytes(Bytes packed) {
  constexpr std::size_t kFixed = 10;
  constexpr unsigned kHeaderCrc = 2;
  constexpr unsigned kExtra = 4;
  constexpr unsigned kName = 8;
  constexpr unsigned kComment = 16;
  constexpr unsigned kReserved = 0xe0;
  if (packed.size() < kFixed || !packed.starts_with("\x1f\x8b\x08")) return std::nullopt;
  const auto flags = static_cast<unsigned char>(packed[3]);
  if ((flags & kReserved) != 0) return std::nullopt;
  std::size_t at = kFixed;
  if ((flags & kExtra) != 0) {
    if (packed.size() < at + 2) return std::nullopt;
    at += 2 + little_endian(packed, at, 2);
  }
  for (const unsigned flag : {kName, kComment}) {
    if ((flags & flag) == 0) continue;
    const std::size_t end = at <= packed.size() ? packed.find('\0', at) : Bytes::npos;
    if (end == Bytes::npos) return std::nullopt;
    at = end + 1;
  }
  if ((flags & kHeaderCrc) != 0) {
    if (packed.size() < at + 2) return std::nullopt;
    const auto crc = static_cast<std::uint32_t>(crc32(0, bytef(packed), static_cast<uInt>(at)));
    if (little_endian(packed, at, 2) != (crc & 0xffff)) return std::nullopt;
    at += 2;
  }
  return at <= packed.size() ? std::optional(at) : std::nullopt;
}

/// Appends the text of raw deflate data; returns the number of bytes that the data occupy.
std::optional<std::size_t> inflate_raw(Bytes packed, std::string& text) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return std::nullopt;
  stream.next_in = const_cast<Bytef*>(bytef(packed));
  stream.avail_in = static_cast<uInt>(packed.size());
  int result = Z_OK;
  while (result == Z_OK) {
    char piece[4096];
    stream.next_out = reinterpret_cast<Bytef*>(piece);
    stream.avail_out = sizeof piece;
    result = inflate(&stream, Z_NO_FLUSH);
    text.append(piece, sizeof piece - stream.avail_out);
  }
  const std::size_t taken = packed.size() - stream.avail_in;
  inflateEnd(&stream);
  return result == Z_STREAM_END ? std::optional(taken) : std::nullopt;
}

std::optional<std::string> gzip_text(Bytes packed) {
  constexpr std::size_t kTrailer = 8;
  std::string text;
  do {
    const auto header = gzip_header_bytes(packed);
    if (!header) return std::nullopt;
    packed.remove_prefix(*header);
    std::string member;
    const auto taken = inflate_raw(packed, member);
    if (!taken || packed.size() < *taken + kTrailer) return std::nullopt;
    const auto crc = static_cast<std::uint32_t>(crc32(0, bytef(member), static_cast<uInt>(member.size())));
    if (little_endian(packed, *taken, 4) != crc) return std::nullopt;
    if (little_endian(packed, *taken + 4, 4) != member.size()) return std::nullopt;
    packed.remove_prefix(*taken + kTrailer);
    text += member;
  } while (packed.find_first_not_of('\0') != Bytes::npos);
  return text;
}

std::optional<std::string> xz_text(Bytes packed) {
  constexpr std::uint64_t kMemoryLimitBytes = std::uint64_t{257} << 20;
  std::string text;
  while (!packed.empty()) {
    lzma_stream stream = LZMA_STREAM_INIT;
    if (lzma_stream_decoder(&stream, kMemoryLimitBytes, LZMA_TELL_UNSUPPORTED_CHECK) != LZMA_OK) return std::nullopt;
    stream.next_in = reinterpret_cast<const std::uint8_t*>(packed.data());
    stream.avail_in = packed.size();
    lzma_ret result = LZMA_OK;
    while (result == LZMA_OK) {
      char piece[4096];
      stream.next_out = reinterpret_cast<std::uint8_t*>(piece);
      stream.avail_out = sizeof piece;
      result = lzma_code(&stream, LZMA_FINISH);
      text.append(piece, sizeof piece - stream.avail_out);
    }
    packed.remove_prefix(packed.size() - stream.avail_in);
    lzma_end(&stream);
    if (result != LZMA_STREAM_END) return std::nullopt;
    const std::size_t padding = std::min(packed.find_first_not_of('\0'), packed.size());
    if (padding % 4 != 0) return std::nullopt;
    packed.remove_prefix(padding);
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace ringside;
  const std::string_view packed(reinterpret_cast<const char*>(data), bytes);
  MatrixText input;
  fuzzing::run([&] { input = matrix_text({nullptr, packed}, {"fuzz.tar.gz"}); });
  if (is_tar(packed)) {
    std::vector<TarMember> members;
    fuzzing::run([&] { members = tar_members(packed, "fuzz.tar"); });
    for (const TarMember& member : members) {
      const bool is_inside = member.text.empty() || (member.text.data() >= packed.data() &&
                                                     member.text.data() + member.text.size() <= packed.data() + bytes);
      fuzzing::demand(is_inside, "a member is a part of the archive");
    }
    return 0;
  }
  if (is_zip(packed)) return 0;
  if (!is_packed(packed)) return -1;
  Text unpacked;
  const std::string error = fuzzing::run([&] { unpacked = unpack(packed, "fuzz.gz"); });
  const bool is_gzip = packed.starts_with("\x1f");
  if (!is_gzip && !packed.starts_with("\xfd")) return 0;
  const std::optional<std::string> expected = is_gzip ? gzip_text(packed) : xz_text(packed);
  fuzzing::demand(error.empty() == expected.has_value(), "what is valid is read, all else is an error");
  if (expected) fuzzing::demand(unpacked.text == *expected, "the text is that of all members, whole");
  return 0;
}
