// Maps plain files; unpacks gzip (zlib) and xz (liblzma) into memory that grows as it fills.
#include "producer/text/text_source.hpp"

#include <fcntl.h>
#include <lzma.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "common/files/watched_mapping.hpp"
#include "common/platform/error.hpp"

namespace ringside {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kGzipMagic = "\x1f\x8b"sv;
constexpr std::string_view kXzMagic =
    "\xfd"
    "7zXZ\0"sv;

// A regular file, opened to be read.
class InputFile {
 public:
  explicit InputFile(const std::string& path) {
    // O_NONBLOCK: opening a pipe without a writer must not hang; on regular files it has no effect.
    descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor_ < 0 || fstat(descriptor_, &status_) != 0) {
      const int error = errno;
      if (descriptor_ >= 0) close(descriptor_);
      if (error == EACCES || error == EPERM) {
        throw system_error("{}: cannot be opened ({}), expected a file this user may read", path, errno_text(error));
      }
      throw usage_error("{}: cannot be opened ({}), expected a readable file", path, errno_text(error));
    }
    if (!S_ISREG(status_.st_mode)) {
      close(descriptor_);
      throw usage_error("{}: found a {}, expected a regular file", path,
                        S_ISDIR(status_.st_mode) ? "folder" : "device, pipe or socket");
    }
  }
  ~InputFile() { close(descriptor_); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  int descriptor() const { return descriptor_; }
  FileStamp stamp() const {
    return {static_cast<std::uint64_t>(status_.st_size),
            static_cast<std::int64_t>(status_.st_mtim.tv_sec) * 1'000'000'000 + status_.st_mtim.tv_nsec};
  }

 private:
  int descriptor_ = -1;
  struct stat status_ = {};
};

// Memory that doubles as it fills. Growing moves page tables, not bytes.
class GrowingBytes {
 public:
  ~GrowingBytes() {
    if (data_ != nullptr) munmap(data_, capacity_);
  }
  unsigned char* free_space() { return data_ + size_; }
  std::size_t free_bytes() const { return capacity_ - size_; }
  void add(std::size_t bytes) { size_ += bytes; }

  void grow() {
    constexpr std::size_t kFirstBytes = std::size_t{1} << 20;
    const std::size_t wanted = capacity_ == 0 ? kFirstBytes : 2 * capacity_;
    void* const grown = capacity_ == 0 ? mmap(nullptr, wanted, PROT_READ | PROT_WRITE,
                                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                                       : mremap(data_, capacity_, wanted, MREMAP_MAYMOVE);
    if (grown == MAP_FAILED) {
      throw system_error("cannot allocate {} bytes to unpack the text ({})", wanted, errno_text(errno));
    }
    data_ = static_cast<unsigned char*>(grown);
    capacity_ = wanted;
  }

  Text take() {
    const std::string_view text(reinterpret_cast<const char*>(data_), size_);
    std::shared_ptr<void> owner(data_, [capacity = capacity_](void* p) {
      if (p != nullptr) munmap(p, capacity);
    });
    data_ = nullptr;
    return {std::move(owner), text};
  }

 private:
  unsigned char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

Error cut_short(const std::string& name, const char* format) {
  return usage_error("{}: found the end of the file within the {} data, expected a whole file (was it cut short?)",
                     name, format);
}

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
    // zlib counts in 32 bits.
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
      // Zeros alone fill the last block of a tape or a disk. Other bytes must be a member: skipping them could skip a
      // member whose first bytes are damaged.
      if (rest.find_first_not_of('\0') == std::string_view::npos) return unpacked.take();
      if (!rest.starts_with(kGzipMagic)) {
        if (kGzipMagic.starts_with(rest)) throw cut_short(name, "gzip");
        throw usage_error(
            "{}: found {} bytes that are not gzip data behind a whole gzip member, from byte {} on, expected another "
            "member, zeros or the end of the file",
            name, rest.size(), taken);
      }
      if (inflateReset(&stream) != Z_OK) throw system_error("{}: not enough memory to unpack it", name);
    } else if (result == Z_MEM_ERROR) {
      throw system_error("{}: not enough memory to unpack it", name);
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      throw usage_error("{}: found damaged gzip data near byte {} ({}), expected a file that gzip can test", name,
                        taken, stream.msg != nullptr ? stream.msg : "not gzip");
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
  // The dictionary's size is a number in a header: xz's own strongest preset asks for 64 MiB.
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
      case LZMA_UNSUPPORTED_CHECK:  // liblzma would unpack the text without any check for damage
        throw usage_error(
            "{}: found xz data with the integrity check {}, which is not known here, expected CRC32, CRC64 or SHA-256 "
            "(pack it anew with xz)",
            name, static_cast<int>(lzma_get_check(&stream)));
      case LZMA_MEMLIMIT_ERROR:
        throw usage_error("{}: found xz data that takes {} MiB to unpack, expected at most {} MiB (pack it with xz -9)",
                          name, lzma_memusage(&stream) >> 20, kMemoryLimitBytes >> 20);
      default:
        throw usage_error("{}: found damaged xz data near byte {}, expected a file that xz can test", name,
                          stream.total_in);
    }
  }
}

}  // namespace

FileStamp stamp_of(const std::string& path) {
  return InputFile(path).stamp();
}

Text map_file(const std::string& path) {
  const InputFile file(path);
  const std::size_t bytes = file.stamp().size_bytes;
  if (bytes == 0) return {};
  void* const map = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.descriptor(), 0);
  if (map == MAP_FAILED) throw system_error("{}: cannot be mapped ({})", path, errno_text(errno));
  madvise(map, bytes, MADV_WILLNEED);
  auto watched = std::make_shared<WatchedMapping>(path, file.descriptor(), map, bytes);
  return {{map, [bytes, watched = std::move(watched)](void* p) { munmap(p, bytes); }},
          {static_cast<const char*>(map), bytes}};
}

bool is_packed(std::string_view bytes) {
  return bytes.starts_with(kGzipMagic) || bytes.starts_with(kXzMagic);
}

Text unpack(std::string_view packed, const std::string& name) {
  return packed.starts_with(kXzMagic) ? unpack_xz(packed, name) : unpack_gzip(packed, name);
}

}  // namespace ringside
