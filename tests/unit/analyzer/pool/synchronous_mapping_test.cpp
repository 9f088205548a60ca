// SPDX-License-Identifier: BSD-3-Clause
// The lines of /proc/PID/smaps for a pool on persistent memory, copied from a machine with an NVDIMM (ext4,
// dax=always).
#include "analyzer/pool/dax.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace ringside {
namespace {

std::string mapping(const char* range, const char* flags) {
  return std::string(range) + " rw-s 00000000 103:00 13                        /mnt/ringside.pool\n" +
         "Size:              16384 kB\nKernelPageSize:        4 kB\nTHPeligible:           0\nVmFlags: " + flags +
         " \n";
}

const char* const kSynchronous = "rd wr sh mr mw me ms sf sd hg";
const char* const kPageCache = "rd wr sh mr mw me ms sd";

bool is_synchronous(const std::string& smaps, std::uintptr_t begin, std::uintptr_t end) {
  std::istringstream stream(smaps);
  return is_mapped_synchronously(stream, begin, end);
}

TEST(SynchronousMappingTest, AMappingWithSynchronousFaultsPersistsInPlace) {
  const std::string smaps = mapping("00400000-00500000", kPageCache) +
                            mapping("7fa42bc00000-7fa42cc00000", kSynchronous) +
                            mapping("7fa42ce00000-7fa42d200000", kPageCache);
  EXPECT_TRUE(is_synchronous(smaps, 0x7fa42bc00000, 0x7fa42cc00000));
  EXPECT_TRUE(is_synchronous(smaps, 0x7fa42bc01000, 0x7fa42bc02000));
  EXPECT_FALSE(is_synchronous(smaps, 0x400000, 0x401000)) << "a page cache";
}

TEST(SynchronousMappingTest, EveryPartOfTheMappingMustBeSynchronous) {
  const std::string first = mapping("7fa42bc00000-7fa42cc00000", kSynchronous);
  EXPECT_TRUE(
      is_synchronous(first + mapping("7fa42cc00000-7fa42d000000", kSynchronous), 0x7fa42bc00000, 0x7fa42d000000))
      << "in two pieces";
  EXPECT_FALSE(
      is_synchronous(first + mapping("7fa42cc00000-7fa42d000000", kPageCache), 0x7fa42bc00000, 0x7fa42d000000));
  EXPECT_FALSE(is_synchronous(first, 0x7fa42bc00000, 0x7fa42cc00001)) << "one byte is not mapped";
  EXPECT_FALSE(is_synchronous(first, 0x7fa42bbfffff, 0x7fa42cc00000)) << "one byte is not mapped";
}

TEST(SynchronousMappingTest, AKernelThatSaysNothingIsNotBelieved) {
  EXPECT_FALSE(is_synchronous("", 0x1000, 0x2000));
  EXPECT_FALSE(is_synchronous("00001000-00002000 rw-s 00000000 103:00 13 /x\nSize: 4 kB\n", 0x1000, 0x2000));
  EXPECT_FALSE(is_synchronous(mapping("00001000-00002000", "rd wr sfx"), 0x1000, 0x2000)) << "another word";
}

TEST(SynchronousMappingTest, OrdinaryMemoryIsNotSynchronous) {
  const std::vector<std::byte> memory(100'000);
  EXPECT_FALSE(is_mapped_synchronously(memory.data(), memory.size()));
}

}  // namespace
}  // namespace ringside
