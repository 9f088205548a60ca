// SPDX-License-Identifier: BSD-3-Clause
// Golden bytes of the journal's records. A separate program computed them from docs/formats/files.md and the
// packaged libxxhash. If one of them changes, existing journals can no longer be read, and kJournalVersion has to
// change too.
#include "common/journal/journal_layout.hpp"

#include <gtest/gtest.h>

#include <array>

#include "tests/unit/analyzer/golden_bytes.hpp"

namespace ringside {
namespace {

JournalHeader golden_header() {
  JournalHeader header{.log = 1, .generation = 7, .first_seq = 1001, .created_realtime_ns = 1'700'000'000'000'000'000};
  header.hash = journal_header_hash(header);
  return header;
}

TEST(JournalLayoutTest, HeaderHasItsGoldenBytes) {
  const JournalHeader header = golden_header();
  EXPECT_EQ(hex(&header, sizeof(header)),
            "52534a524e4c303101000000010000000700000000000000e903000000000000"
            "00002a36fe9c971700000000000000000000000000000000d65c3e66dc7ad0d9");
}

TEST(JournalLayoutTest, FrameHasItsGoldenBytes) {
  std::array<std::byte, 40> frame;
  frame.fill(std::byte{0xff});  // the padding is also written
  ASSERT_EQ(frame_bytes(11), frame.size());
  encode_frame(frame.data(), 1001, "hello, ring", golden_header().hash);
  EXPECT_EQ(hex(frame.data(), frame.size()),
            "a16ee3ae3bebbf1e4652414d0b000000e90300000000000068656c6c6f2c2072"
            "696e670000000000");
}

TEST(JournalLayoutTest, AFrameThatFillsItsLastWordHasNoPadding) {
  EXPECT_EQ(frame_bytes(8), 32u);
  EXPECT_EQ(frame_bytes(9), 40u);
  std::array<std::byte, 32> frame;
  encode_frame(frame.data(), 1, "12345678", 0);
  EXPECT_EQ(hex(frame.data() + 24, 8), "3132333435363738");
}

}  // namespace
}  // namespace ringside
