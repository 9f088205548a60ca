// SPDX-License-Identifier: BSD-3-Clause
#include "common/help/help_forms.hpp"

#include <gtest/gtest.h>

#include "common/options/command_line.hpp"
#include "common/platform/error.hpp"

namespace ringside {
namespace {

/// A program whose texts contain characters that are special to troff and to shells.
class HelpFormsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    line_.option("--how", how_, ".it's a [choice]: `slow`, C:\\fast")
        .value_name("slow|fast")
        .show_default()
        .group("Ways");
    line_.option("--to", to_, "where to").value_name("DIR").required();
    line_.flag("--now", now_, "at once");
    line_.option("POOL", pool_, "what of").value_name("FILE");
    line_.declare_config_file();
  }

  bool told(const std::string& form, const std::string& what) {
    text_ = help_as(form, line_.describe());
    return text_.find(what) != std::string::npos;
  }

  /// The output of the program when it is called with these arguments.
  std::string printed(std::vector<const char*> arguments, int expected = 0) {
    arguments.insert(arguments.begin(), "try");
    ::testing::internal::CaptureStdout();
    const auto code = parse_or_exit_code(line_, static_cast<int>(arguments.size()), arguments.data());
    std::string out = ::testing::internal::GetCapturedStdout();
    EXPECT_EQ(code, expected);
    return out;
  }

  std::string how_ = "slow";
  std::string to_;
  std::string pool_;
  bool now_ = false;
  std::string text_;
  CommandLine line_{"Does it: at once. Or later.", "ringside try"};
};

TEST_F(HelpFormsTest, APageHoldsTextThatTroffWouldTakeForSomethingElse) {
  EXPECT_TRUE(told("man", "\n\\&.it\\(aqs a [choice]: \\fBslow\\fR, C:\\efast (default: slow)\n")) << text_;
  EXPECT_TRUE(told("man", "\nringside\\-try \\- does it\n")) << text_;
  EXPECT_TRUE(told("man", "\\fBringside try\\fR \\fB\\-\\-to\\fR \\fIDIR\\fR [\\fIOPTIONS\\fR] [\\fIPOOL\\fR]\n"))
      << text_;
  EXPECT_TRUE(told("man", ".SS Ways\n")) << text_;
}

TEST_F(HelpFormsTest, ACompletionHoldsTextThatAShellWouldTakeForSomethingElse) {
  EXPECT_TRUE(told("bash", "    try)\n")) << text_;
  EXPECT_TRUE(told("bash", "'--how=slow fast'")) << text_;
  EXPECT_TRUE(told("bash", "'--to=@directory'")) << text_;
  EXPECT_TRUE(told("bash", "'@file'")) << text_;
  EXPECT_TRUE(told("bash", "'--now'")) << text_;
  EXPECT_TRUE(
      told("zsh", R"('--how=[.it'\''s a \[choice\]\: `slow`, C\:\\fast (default\: slow)]:slow|fast:(slow fast)')"))
      << text_;
  EXPECT_TRUE(told("fish", R"(-l how -r -f -a 'slow fast' -d '.it'\''s a [choice]: `slow`, C:\\fast (default: slow)')"))
      << text_;
}

TEST_F(HelpFormsTest, SettingsShowDefaultsAsCommentsAndWhatIsGivenAsKeys) {
  const std::string text = printed({"--help-as=toml", "--how=fast"});
  EXPECT_NE(text.find("\nhow = \"fast\"\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n#to = \"DIR\"\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n#now = false\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("config ="), std::string::npos) << text;
}

TEST_F(HelpFormsTest, SettingsThatAreWrongAreRefused) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(printed({"--nothing=1", "--help-as=toml"}, 2), "");
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("--nothing"), std::string::npos);
}

TEST_F(HelpFormsTest, HelpNeedsNoRequiredOptions) {
  EXPECT_NE(printed({"--help-as=man"}).find(".TH RINGSIDE"), std::string::npos);
}

TEST_F(HelpFormsTest, OnlyAProgramWithASettingsFilePrintsSettings) {
  const CommandLine without("Has none.", "ringside without");
  EXPECT_THROW(help_as("toml", without.describe()), Error);
  EXPECT_THROW(help_as("", line_.describe()), Error);
}

TEST_F(HelpFormsTest, EveryFormShowsThatAProgramMayFollow) {
  EXPECT_FALSE(told("bash", "@program'"));
  std::vector<std::string> program;
  line_.take_program(program);
  EXPECT_TRUE(
      told("man", "\n.br\n\\fBringside try\\fR [\\fIOPTIONS\\fR] \\fB\\-\\-\\fR \\fIPROGRAM\\fR [\\fIARGS...\\fR]\n"))
      << text_;
  EXPECT_TRUE(told("bash", "'@program'\n")) << text_;
  EXPECT_TRUE(told("zsh", "'*:::program and its arguments: _normal'")) << text_;
  EXPECT_TRUE(told("fish", "complete -c ringside -n 'contains -- -- (commandline -opc)'")) << text_;
}

}  // namespace
}  // namespace ringside
