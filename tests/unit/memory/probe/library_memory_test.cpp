// SPDX-License-Identifier: BSD-3-Clause
// The probes find the DRAM limit, the granule and the read-ahead of libringside_memory. A fault takes microseconds, so
// the load of the machine rarely affects the answers. If it does, the answer is "undetermined", and never wrong.
#include "memory/probe/library_memory.hpp"

#include <gtest/gtest.h>

#include "memory/probe/validation.hpp"
#include "memory/ringside_memory.h"
#include "tests/unit/sanitized.hpp"

namespace ringside::probe {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

TEST(LibraryMemory, IsFoundWithItsLimitAndItsGranule) {
  if (testing::kSanitized) GTEST_SKIP() << "its very many timed loads take a minute in a sanitizer's build";
  ProbeChoice questions;
  questions.questions = {"size", "line", "prefetch"};
  try {
    const LibraryCase found = probe_library({"/dev/shm", 3 * kMiB, 16384, true}, questions);
    ASSERT_EQ(found.report.answers.size(), 3U) << found.report.remark;
    for (const Answer& answer : found.report.answers) {
      std::printf("%s: %s (%.2f; %s)\n", answer.question.c_str(), answer.answer.c_str(), answer.confidence,
                  answer.evidence.c_str());
    }
    EXPECT_TRUE(found.no_answer_is_wrong());
    EXPECT_TRUE(found.is_right("line"));
  } catch (const LibraryRefusal& refusal) {
    if (!refusal.not_permitted()) throw;
    GTEST_SKIP() << refusal.what();
  }
}

TEST(LibraryMemory, GivesMemoryThatNoTouchUsed) {
  try {
    LibraryMemory memory({"/dev/shm", kMiB, 4096, true});
    struct ringside_memory_stats before {}, after {};
    before.struct_bytes = after.struct_bytes = sizeof before;
    for (int region = 0; region < 100; ++region) {
      const Address first = memory.fresh(4 * kMiB);
      EXPECT_EQ(first % (2 * kMiB), 0U);
      ASSERT_EQ(ringside_memory_stats(&before), 0);
      memory.touch(first + 4 * kMiB - 8, Access::kRead);
      ASSERT_EQ(ringside_memory_stats(&after), 0);
      EXPECT_EQ(after.faults, before.faults + 1);
    }
  } catch (const LibraryRefusal& refusal) {
    if (!refusal.not_permitted()) throw;
    GTEST_SKIP() << refusal.what();
  }
}

TEST(LibraryMemory, AFarFolderThatIsMissingIsRefusedInOneLine) {
  try {
    LibraryMemory memory({"/no/such/folder", kMiB, 4096, true});
    FAIL() << "it started";
  } catch (const LibraryRefusal& refusal) {
    if (refusal.not_permitted()) GTEST_SKIP() << refusal.what();
    EXPECT_NE(std::string(refusal.what()).find("/no/such/folder"), std::string::npos) << refusal.what();
  }
}

}  // namespace
}  // namespace ringside::probe
