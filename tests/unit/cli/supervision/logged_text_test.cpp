// SPDX-License-Identifier: BSD-3-Clause
#include "cli/supervision/logged_text.hpp"

#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(LoggedTextTest, MissingRecordsAreToldInTheirSentence) {
  EXPECT_EQ(sentence_of("2026-11-23T08:00:00.000+0000 ringside-analyzer level=warning event=records_missing run_id=0a "
                        "first_step=3 steps=2 first_iteration=3 last_iteration=4 text=\"2 steps have no record\""),
            "2 steps have no record");
  EXPECT_EQ(sentence_of("x ringside-analyzer level=warning event=frozen pool=a text=\"the ring is frozen\""),
            "the ring is frozen");
}

TEST(LoggedTextTest, OtherLinesAreNotChanged) {
  EXPECT_EQ(sentence_of("ringside: no analyzer"), std::nullopt);
  EXPECT_EQ(sentence_of("2026-11-23T08:00:00.000+0000 ringside-analyzer level=warning event=storage text=\"synced\""),
            std::nullopt);
  EXPECT_EQ(sentence_of("x ringside-analyzer level=warning event=records_missing steps=2"), std::nullopt);
  EXPECT_EQ(sentence_of("x ringside-analyzer level=warning event=records_missing text=\""), std::nullopt);
}

}  // namespace
}  // namespace ringside
