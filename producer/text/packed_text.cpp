// SPDX-License-Identifier: BSD-3-Clause
// The table of packings, and the unpackers of gzip (zlib) and xz (liblzma); producer/text/archive has those of bzip2
// and zstd. libarchive also reads gzip and xz, but less strictly (measured with version 3.6.2). It checks neither the
// CRC-32 nor the length at the end of a gzip member. Of the 448 bits of a small archive of two members, 101 can be
// flipped: libarchive then reads all bytes and returns another text without an error. It unpacks xz data without a
// check if liblzma does not support the check, and it allocates any amount of memory that an xz header requests.
#include "producer/text/packed_text.hpp"

#include <lzma.h>
#include <zlib.h>

#include <algorithm>
#include <limits>

#include "common/platform/error.hpp"
#include "producer/text/archive.hpp"
#include "producer/text/packing_errors.hpp"

namespace ringside {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kGzipMagic = "\x1f\x8b"sv;

Text unpack_gzip(std::string_view packed, const std::string& name) {
  struct Stream : z_stream {
    Stream() : z_stream() {}
    ~Stream() { inflateEnd(this); }
  } stream;
  constexpr int kGzipOnly = 16 + MAX_WBITS;
  if (inflateInit2(&stream, kGzipOnly) != Z_OK) throw system_error("{}: not enough memory to unpack it", name);
  GrowingBytes unpacked;
  std::size_t taken = 0;
  for (;;) {
    // zlib counts bytes in 32 bits.
    constexpr std::size_t kMost = std::numeric_limits<uInt>::max();
    if (unpacked.free_bytes() == 0) unpacked.grow();
    const std::size_t input = std::min(packed.size() - taken, kMost);
    const std::size_t output = std::min(unpacked.free_bytes(), kMost);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + taken));
    stream.avail_in = static_cast<uInt>(input);
    stream.next_out = unpacked.free_space();
    stream.avail_out = static_cast<uInt>(output);
    const int result = inflate(&stream, Z_NO_FLUSH);
    taken += input - stream.avail_in;
    unpacked.add(output - stream.avail_out);
    if (result == Z_STREAM_END) {
      const std::string_view rest = packed.substr(taken);
      if (only_zeros(rest)) return unpacked.take();
      if (!rest.starts_with(kGzipMagic)) {
        if (kGzipMagic.starts_with(rest)) throw cut_short(name, "gzip");
        throw bytes_behind(name, "gzip", "member", rest, taken);
      }
      if (inflateReset(&stream) != Z_OK) throw system_error("{}: not enough memory to unpack it", name);
    } else if (result == Z_MEM_ERROR) {
      throw system_error("{}: not enough memory to unpack it", name);
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      throw damaged_near(name, "gzip", taken, stream.msg != nullptr ? stream.msg : "not gzip");
    } else if (taken == packed.size() && stream.avail_out > 0) {
      throw cut_short(name, "gzip");
    }
  }
}

Text unpack_xz(std::string_view packed, const std::string& name) {
  struct Stream : lzma_stream {
    Stream() : lzma_stream(LZMA_STREAM_INIT) {}
    ~Stream() { lzma_end(this); }
  } stream;
  // The dictionary's size is a number in a header, so it needs a limit; xz's own strongest preset requires 64 MiB.
  constexpr std::uint64_t kMemoryLimitBytes = (std::uint64_t{256} << 20) + (std::uint64_t{1} << 20);
  if (lzma_stream_decoder(&stream, kMemoryLimitBytes, LZMA_CONCATENATED | LZMA_TELL_UNSUPPORTED_CHECK) != LZMA_OK) {
    throw system_error("{}: not enough memory to unpack it", name);
  }
  GrowingBytes unpacked;
  stream.next_in = reinterpret_cast<const std::uint8_t*>(packed.data());
  stream.avail_in = packed.size();
  for (;;) {
    if (unpacked.free_bytes() == 0) unpacked.grow();
    stream.next_out = unpacked.free_space();
    stream.avail_out = unpacked.free_bytes();
    const lzma_ret result = lzma_code(&stream, LZMA_FINISH);
    unpacked.add(unpacked.free_bytes() - stream.avail_out);
    switch (result) {
      case LZMA_OK: break;
      case LZMA_STREAM_END: return unpacked.take();
      case LZMA_BUF_ERROR: throw cut_short(name, "xz");
      case LZMA_MEM_ERROR: throw system_error("{}: not enough memory to unpack it", name);
      case LZMA_UNSUPPORTED_CHECK:  // otherwise liblzma would not check the text for damage
        throw usage_error(
            "{}: found xz data with the integrity check {}, which is not supported here, expected CRC32, CRC64 or "
            "SHA-256 (pack it anew with xz)",
            name, static_cast<int>(lzma_get_check(&stream)));
      case LZMA_MEMLIMIT_ERROR:
        throw usage_error("{}: found xz data that takes {} MiB to unpack, expected at most {} MiB (pack it with xz -9)",
                          name, lzma_memusage(&stream) >> 20, kMemoryLimitBytes >> 20);
      default: throw damaged_near(name, "xz", stream.total_in, "");
    }
  }
}

struct Packing {
  std::string_view magic;   // the first bytes of a file
  std::string_view ending;  // the end of a file's name
  Text (*unpack)(std::string_view packed, const std::string& name);
};

constexpr Packing kPackings[] = {
    {kGzipMagic, ".gz", unpack_gzip},
    {"\xfd"
     "7zXZ\0"sv,
     ".xz", unpack_xz},
    {"BZh"sv, ".bz2", unpack_bzip2},
    {"\x28\xb5\x2f\xfd"sv, ".zst", unpack_zstd},
    {"\x50\x2a\x4d\x18"sv, ".zst", unpack_zstd},  // pzstd begins with its own frame, which holds no text
};

const Packing* packing_of(std::string_view bytes) {
  const auto* const found = std::find_if(std::begin(kPackings), std::end(kPackings),
                                         [&](const Packing& packing) { return bytes.starts_with(packing.magic); });
  return found == std::end(kPackings) ? nullptr : found;
}

}  // namespace

bool is_packed(std::string_view bytes) {
  return packing_of(bytes) != nullptr;
}

Text unpack(std::string_view packed, const std::string& name) {
  const Packing* const packing = packing_of(packed);
  if (packing == nullptr) throw usage_error("{}: found no packed text, expected gzip, xz, bzip2 or zstd data", name);
  return packing->unpack(packed, name);
}

std::string_view name_without_packing(std::string_view file_name) {
  for (const Packing& packing : kPackings) {
    if (file_name.ends_with(packing.ending)) return file_name.substr(0, file_name.size() - packing.ending.size());
  }
  return file_name;
}

}  // namespace ringside
