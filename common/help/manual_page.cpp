// SPDX-License-Identifier: BSD-3-Clause
#include "common/help/manual_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "common/platform/version.hpp"

namespace ringside {
namespace {

struct SettingsFile {
  std::string_view program;
  std::string_view path;
};
constexpr std::array kServiceSettings = {
    SettingsFile{"ringside-analyzer", "/etc/ringside/analyzer.toml"},
    SettingsFile{"ringside-producer", "/etc/ringside/jobs/NAME.toml"},
    SettingsFile{"ringside serve", "/etc/ringside/serve.toml"},
};

/// Escapes text for troff, so that a terminal shows each hyphen as a hyphen, and troff reads no line as a request. Text
/// in backquotes becomes bold.
std::string prose(std::string_view text) {
  std::string out;
  bool bold = false;
  for (const char c : text) {
    switch (c) {
      case '\\': out += "\\e"; break;
      case '-': out += "\\-"; break;
      case '\'': out += "\\(aq"; break;
      case '\n': out += ' '; break;
      case '`':
        bold = !bold;
        out += bold ? "\\fB" : "\\fR";
        break;
      default: out += c;
    }
  }
  return out.starts_with('.') ? "\\&" + out : out;
}

std::string bold(std::string_view text) {
  return "\\fB" + prose(text) + "\\fR";
}

std::string italic(std::string_view text) {
  return "\\fI" + prose(text) + "\\fR";
}

/// The name of a page: "ringside-run" for "ringside run".
std::string page_name(std::string_view program) {
  return replaced(std::string(program), " ", "-");
}

/// A description's first clause, for the section NAME: "Shows a pool: runs, slots. Works …" becomes "shows a pool".
std::string in_short(std::string_view text) {
  std::size_t stop = text.size();
  for (const std::string_view end : {". ", ": ", "; "}) stop = std::min(stop, text.find(end));
  std::string sentence(text.substr(0, stop));
  if (sentence.ends_with('.')) sentence.pop_back();
  if (!sentence.empty()) sentence[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(sentence[0])));
  return sentence;
}

std::string title(std::string_view program, std::string_view description) {
  const std::string page = page_name(program);
  std::string upper = page;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  // .nh: no hyphenation of option names; .ad l: no gaps between the words of short lines.
  return fmt::format(".TH {} 1 \"\" \"ringside {}\" \"Ringside\"\n.nh\n.ad l\n.SH NAME\n{} \\- {}\n", prose(upper),
                     version(), prose(page), prose(in_short(description)));
}

/// How the synopsis shows an option: `--name VALUE`, `-n VALUE`, as in --help.
std::string synopsis_of(const OptionDescription& option) {
  std::string text;
  for (const std::string& name : names_of(option)) text += (text.empty() ? "" : ", ") + bold(name);
  const OptionValue value = value_of(option);
  if (value.kind == OptionValue::Kind::kNone || option.value_name.empty()) return text;
  const std::string argument = italic(option.value_name);
  return text + (value.optional ? "[=" + argument + "]" : " " + argument);
}

std::string entry(const std::string& tag, std::string_view text) {
  return fmt::format(".TP\n{}\n{}\n", tag, prose(text));
}

std::string usage(const CommandDescription& command) {
  std::string text = ".SH SYNOPSIS\n" + bold(command.name);
  for (const OptionGroup& group : option_groups_of(command)) {
    for (const OptionDescription& option : group.options) {
      if (option.is_required || option.is_for_own_work) text += " " + synopsis_of(option);
    }
  }
  text += " [" + italic("OPTIONS") + "]";
  for (const OptionDescription& argument : arguments_of(command)) {
    const std::string name = italic(argument.name);
    text += argument.is_required ? " " + name : " [" + name + "]";
  }
  if (command.takes_program) {
    text += fmt::format("\n.br\n{} [{}] {} {} [{}]", bold(command.name), italic("OPTIONS"), bold("--"),
                        italic("PROGRAM"), italic("ARGS..."));
  }
  return text + "\n";
}

std::string options(const CommandDescription& command) {
  std::string text;
  for (const OptionDescription& argument : arguments_of(command)) {
    text += entry(italic(argument.name), description_of(argument));
  }
  if (!text.empty()) text = ".SH ARGUMENTS\n" + text;
  text += ".SH OPTIONS\n";
  for (const OptionGroup& group : option_groups_of(command)) {
    if (!group.name.empty()) text += ".SS " + prose(group.name) + "\n";
    for (const OptionDescription& option : group.options) text += entry(synopsis_of(option), description_of(option));
  }
  return text;
}

std::string exit_status() {
  std::string text = ".SH EXIT STATUS\n";
  for (const ExitMeaning& exit : kExitMeanings) {
    text += entry(bold(std::to_string(static_cast<int>(exit.code))), exit.meaning);
  }
  return text;
}

std::string environment(const CommandDescription& command) {
  std::string text;
  for (const OptionDescription& option : command.options) {
    if (option.environment.empty()) continue;
    text += entry(bold(option.environment), "gives the value of " + option.name + " if that option is not given");
  }
  return text.empty() ? text : ".SH ENVIRONMENT\n" + text;
}

std::string files(const CommandDescription& command) {
  std::string text;
  if (const std::string_view settings = service_settings(command.name); !settings.empty()) {
    text += entry(italic(settings), "the settings that the service reads by --config: a key for each option");
  }
  if (command.has("--socket")) {
    text +=
        entry(italic("/run/ringside/"), "the socket of the service's analyzer; only the service's user may connect");
  }
  if (command.has("--pool")) {
    text += entry(italic("/var/lib/ringside/"),
                  "the service's pools, each with its journal beside it; only the service's user may enter");
  }
  return text.empty() ? text : ".SH FILES\n" + text;
}

std::string see_also(const std::vector<std::string>& pages) {
  std::string text = ".SH SEE ALSO\n";
  for (std::size_t i = 0; i < pages.size(); ++i) {
    text += fmt::format(".BR {} (1){}\n", prose(pages[i]), i + 1 < pages.size() ? "," : "");
  }
  return text;
}

}  // namespace

std::string_view service_settings(std::string_view program) {
  for (const SettingsFile& file : kServiceSettings) {
    if (file.program == program) return file.path;
  }
  return {};
}

std::string manual_page(const CommandDescription& command) {
  const std::string description = replaced(command.description, "\n", " ");
  std::string text = title(command.name, description) + usage(command);
  text += ".SH DESCRIPTION\n" + prose(description) + "\n";
  text += options(command);
  if (!command.footer.empty()) text += ".SH NOTES\n" + prose(command.footer) + "\n";
  text += exit_status() + environment(command) + files(command);
  std::vector<std::string> others;
  for (const std::string_view page : {"ringside", "ringside-run", "ringside-analyzer", "ringside-producer"}) {
    if (page != page_name(command.name)) others.emplace_back(page);
  }
  if (page_name(command.name).starts_with("ringside-memory-")) others.emplace_back("ringside-memory");
  return text + see_also(others);
}

std::string manual_page(std::string_view program, std::string_view description,
                        std::span<const CommandSummary> subcommands) {
  std::string text = title(program, description);
  text += fmt::format(".SH SYNOPSIS\n{0} {1} [{2}]\n.br\n{0} {1} {3}\n.br\n{0} {4}|{5}\n", bold(program),
                      italic("SUBCOMMAND"), italic("OPTIONS"), bold("--help"), bold("--help"), bold("--version"));
  text += fmt::format(".SH DESCRIPTION\n{}\n.PP\nEach subcommand has a page of its own: {}.\n", prose(description),
                      bold(fmt::format("man {}-{}", program, subcommands.front().name)));
  text += ".SH SUBCOMMANDS\n";
  std::vector<std::string> pages;
  for (const CommandSummary& s : subcommands) {
    text += entry(fmt::format("{} {}", bold(s.name), italic(s.arguments)), s.does);
    pages.push_back(fmt::format("{}-{}", program, s.name));
  }
  const char* const other = program == "ringside" ? "ringside-memory" : "ringside";
  pages.insert(pages.end(), {other, "ringside-analyzer", "ringside-producer"});
  return text + exit_status() + see_also(pages);
}

}  // namespace ringside
