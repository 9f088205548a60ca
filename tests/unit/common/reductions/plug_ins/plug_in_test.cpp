// SPDX-License-Identifier: BSD-3-Clause
// The texts that --reduce-with accepts.
#include "common/reductions/plug_ins/plug_in.hpp"

#include <gtest/gtest.h>

#include "common/platform/error.hpp"

namespace ringside {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

TEST(PlugInSpecTest, FileNameAndSettingsAreTakenApart) {
  const PlugInSpec spec = parse_plug_in("/a/libp.so:lp:p=4:file=/b/c:as=l4");
  EXPECT_EQ(spec.path, "/a/libp.so");
  EXPECT_EQ(spec.name, "lp");
  EXPECT_EQ(spec.as, "l4");
  EXPECT_EQ(spec.settings, (Settings{{"p", "4"}, {"file", "/b/c"}}));
  EXPECT_EQ(spec.absolute(), "/a/libp.so:lp:p=4:file=/b/c:as=l4");
}

TEST(PlugInSpecTest, AFileMayStandAloneAndMayHaveColonsAndEqualSignsInItsFolders) {
  EXPECT_EQ(parse_plug_in("/a/libp.so").name, "");
  EXPECT_EQ(parse_plug_in("/a:b=c/libp.so:lp").path, "/a:b=c/libp.so");
  EXPECT_EQ(parse_plug_in("/a:b=c/libp.so:lp").name, "lp");
}

TEST(PlugInSpecTest, WhatIsNoneIsRefused) {
  for (const char* text :
       {"", ":l3", "/a.so:", "/a.so:l3:=4", "/a.so:l3:p=1:p=2", "/a.so:l3:as=1", "/a.so:l3:as=b:as=c"}) {
    EXPECT_THROW(parse_plug_in(text), Error) << text;
  }
}

}  // namespace
}  // namespace ringside
