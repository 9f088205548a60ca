// SPDX-License-Identifier: BSD-3-Clause
// Where mappings with huge pages begin, what is advised for them, and that a collapse keeps their content.
#include "common/platform/huge_pages.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "common/platform/system_files.hpp"
#include "common/platform/unique_fd.hpp"
#include "tests/unit/smaps.hpp"

namespace ringside {
namespace {

constexpr int kReadWrite = PROT_READ | PROT_WRITE;
constexpr int kPrivate = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

class Mapping {
 public:
  Mapping(std::size_t bytes, int flags, int fd = -1)
      : data_(static_cast<char*>(map_at_huge_page(bytes, kReadWrite, flags, fd))), bytes_(bytes) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (data_ != MAP_FAILED) munmap(data_, bytes_);
  }

  char* data() const noexcept { return data_; }
  std::size_t offset() const noexcept { return reinterpret_cast<std::uintptr_t>(data_) % kHugePageBytes; }

 private:
  char* data_;
  std::size_t bytes_;
};

TEST(HugePagesTest, LargeMappingsBeginAtAHugePage) {
  const Mapping small(8192, kPrivate);  // so that the next free address is not at a huge page
  ASSERT_NE(small.data(), MAP_FAILED);
  const Mapping first(kHugePageBytes, kPrivate);
  const Mapping second(2 * kHugePageBytes + 12345, kPrivate);
  const Mapping third(5 * kHugePageBytes, kPrivate);
  for (const Mapping* const mapping : {&first, &second, &third}) {
    ASSERT_NE(mapping->data(), MAP_FAILED);
    EXPECT_EQ(mapping->offset(), 0u);
  }
}

TEST(HugePagesTest, AMappingTakesNoMemoryBehindItsEnd) {
  constexpr std::size_t kBytes = 2 * kHugePageBytes + 12345;
  // Shared memory, because the kernel joins neighbouring private mappings.
  const Mapping mapping(kBytes, MAP_SHARED | MAP_ANONYMOUS);
  ASSERT_NE(mapping.data(), MAP_FAILED);
  advise_huge_pages(mapping.data(), kBytes);
  std::memset(mapping.data(), 1, kBytes);
  EXPECT_EQ(testing::smaps_kib(mapping.data(), "Rss:"), (2 * kHugePageBytes + 16384) / 1024);
}

TEST(HugePagesTest, TheKernelKnowsTheAdvice) {
  if (!first_line("/sys/kernel/mm/transparent_hugepage/enabled")) GTEST_SKIP() << "a kernel without huge pages";
  constexpr std::size_t kBytes = 2 * kHugePageBytes;
  const Mapping advised(kBytes, MAP_SHARED | MAP_ANONYMOUS);
  const Mapping plain(kBytes, MAP_SHARED | MAP_ANONYMOUS);
  ASSERT_NE(advised.data(), MAP_FAILED);
  ASSERT_NE(plain.data(), MAP_FAILED);
  advise_huge_pages(advised.data(), kBytes);
  EXPECT_NE(testing::smaps_line(advised.data(), "VmFlags:").find(" hg"), std::string::npos);
  EXPECT_EQ(testing::smaps_line(plain.data(), "VmFlags:").find(" hg"), std::string::npos);
}

TEST(HugePagesTest, ACollapseKeepsTheContentAndMakesHugePagesOfAllThatFit) {
  constexpr std::size_t kBytes = 3 * kHugePageBytes + 4096;
  const UniqueFd fd(memfd_create("test", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(fd.get(), kBytes), 0);
  const Mapping mapping(kBytes, MAP_SHARED, fd.get());
  ASSERT_NE(mapping.data(), MAP_FAILED);
  for (std::size_t i = 0; i < kBytes; ++i) mapping.data()[i] = static_cast<char>(i % 251);
  // Finds out whether the kernel can do this, and has memory for it.
  if (madvise(mapping.data(), 3 * kHugePageBytes, 25 /* MADV_COLLAPSE, Linux 6.1 */) != 0) {
    GTEST_SKIP() << "the kernel does not collapse shared memory: " << std::strerror(errno);
  }
  collapse_to_huge_pages(mapping.data(), kBytes);
  EXPECT_EQ(testing::smaps_kib(mapping.data(), "ShmemPmdMapped:"), 3 * kHugePageBytes / 1024);
  for (std::size_t i = 0; i < kBytes; ++i) ASSERT_EQ(mapping.data()[i], static_cast<char>(i % 251)) << i;
}

}  // namespace
}  // namespace ringside
