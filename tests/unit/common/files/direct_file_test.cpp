// SPDX-License-Identifier: BSD-3-Clause
// A file has the right bytes, no matter which of them are written without the page cache.
#include "common/files/direct_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/unit/lowered_limit.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

using testing::content_of;
using testing::TemporaryFolder;

constexpr std::size_t kDirect = DirectFile::kAlignment;

/// Bytes at an address that is `shift` bytes after the beginning of a page.
class Bytes {
 public:
  Bytes(std::size_t bytes, std::size_t shift) : pages_(bytes / kDirect + 2), bytes_(bytes), shift_(shift) {
    std::mt19937 generator(static_cast<unsigned>(bytes + shift));
    for (std::size_t i = 0; i < bytes; ++i) begin()[i] = static_cast<std::byte>(generator());
  }
  std::span<const std::byte> span() const {
    return {reinterpret_cast<const std::byte*>(pages_.data()) + shift_, bytes_};
  }
  std::string text() const { return {reinterpret_cast<const char*>(span().data()), bytes_}; }

 private:
  struct alignas(kDirect) Page {
    std::byte bytes[kDirect];
  };
  std::byte* begin() { return reinterpret_cast<std::byte*>(pages_.data()) + shift_; }

  std::vector<Page> pages_;
  std::size_t bytes_;
  std::size_t shift_;
};

UniqueFd made(const std::string& path) {
  return UniqueFd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
}

TEST(DirectFileTest, BytesOfEveryLengthAndPlaceAreWrittenAsTheyAre) {
  const TemporaryFolder folder;
  for (const std::string& path : {folder.file("on_disk"), "/dev/shm/ringside-direct-" + std::to_string(getpid())}) {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{5}, kDirect, 3 * kDirect, DirectFile::kPieceBytes,
                                    2 * DirectFile::kPieceBytes + 3 * kDirect + 7}) {
      for (const std::size_t shift : {0u, 8u}) {
        for (const std::size_t offset : {std::size_t{0}, kDirect, std::size_t{100}}) {
          const UniqueFd file = made(path);
          ASSERT_TRUE(file.valid());
          const std::string before(offset, 'b');
          ASSERT_EQ(pwrite(file.get(), before.data(), offset, 0), static_cast<ssize_t>(offset));
          const Bytes written(bytes, shift);
          std::uint64_t told = 0;
          ASSERT_EQ(DirectFile(file.get()).write(offset, written.span(), [&](std::uint64_t more) { told += more; }), 0);
          EXPECT_EQ(told, bytes);
          EXPECT_TRUE(content_of(path) == before + written.text()) << bytes << ' ' << shift << ' ' << offset;
          unlink(path.c_str());
        }
      }
    }
  }
}

TEST(DirectFileTest, AFileThatMayNotGrowGivesTheReason) {
  const TemporaryFolder folder;
  const UniqueFd file = made(folder.file("x"));
  const testing::LoweredLimit small(RLIMIT_FSIZE, 10 * kDirect);
  EXPECT_EQ(DirectFile(file.get()).write(0, Bytes(64 * kDirect, 0).span()), EFBIG);
}

TEST(DirectFileTest, TheCallbackOfProgressMayEndTheWrite) {
  const TemporaryFolder folder;
  const UniqueFd file = made(folder.file("x"));
  DirectFile direct(file.get());
  const Bytes written(3 * DirectFile::kPieceBytes, 0);
  EXPECT_THROW(direct.write(0, written.span(), [](std::uint64_t) { throw std::runtime_error("stop"); }),
               std::runtime_error);
  EXPECT_EQ(content_of(folder.file("x")).size(), DirectFile::kPieceBytes);
}

}  // namespace
}  // namespace ringside
