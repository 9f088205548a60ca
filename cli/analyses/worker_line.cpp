// SPDX-License-Identifier: BSD-3-Clause
#include "cli/analyses/worker_line.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <utility>

#include "common/json/json.hpp"
#include "common/records/analysis_results.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

constexpr std::size_t kMostAnalyses = 64;  // the most analyses of one file
constexpr std::size_t kMostWhyBytes = 4096;
constexpr std::size_t kDigitsOfWord = 16;
constexpr std::size_t kDigitsOfId = 32;

std::optional<std::uint64_t> word_of(std::string_view digits) {
  std::uint64_t word = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), word, 16);
  if (digits.size() != kDigitsOfWord || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return word;
}

/// The 16 bytes that 32 hexadecimal digits represent; empty for any other text.
std::optional<std::string> id_of_digits(std::string_view digits) {
  if (digits.size() != kDigitsOfId) return std::nullopt;
  std::string id;
  for (const std::string_view half : {digits.substr(0, kDigitsOfWord), digits.substr(kDigitsOfWord)}) {
    const std::optional<std::uint64_t> word = word_of(half);
    if (!word) return std::nullopt;
    for (int shift = 56; shift >= 0; shift -= 8) id += static_cast<char>(*word >> shift & 0xff);
  }
  return id;
}

/// The members of a line's object. A member that is missing or of another type makes the line invalid.
class Members {
 public:
  explicit Members(const Json& object) : object_(object) {}

  std::uint64_t number(const char* key) { return number_in(member(key)); }
  std::string text(const char* key) { return text_in(member(key)); }
  const Json& list(const char* key, std::size_t most) { return list_in(member(key), most); }

  std::uint64_t number_in(const Json& value) {
    if (value.is_number_unsigned()) return value.get<std::uint64_t>();
    valid_ = false;
    return 0;
  }
  std::string text_in(const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    valid_ = false;
    return {};
  }
  const Json& list_in(const Json& value, std::size_t most) {
    static const Json none = Json::array();
    if (value.is_array() && value.size() <= most) return value;
    valid_ = false;
    return none;
  }
  void refuse() noexcept { valid_ = false; }
  bool valid() const noexcept { return valid_; }

 private:
  const Json& member(const char* key) {
    static const Json missing;
    const auto found = object_.find(key);
    return found == object_.end() ? missing : *found;
  }

  const Json& object_;
  bool valid_ = true;
};

void take_step(Members& members, WorkerLine& line) {
  line.analysis = members.number("analysis");
  if (line.analysis >= kMostAnalyses) members.refuse();
  wire::AnalysisResults& results = line.results;
  const std::optional<std::string> run_id = id_of_digits(members.text("run"));
  if (!run_id) return members.refuse();
  results.set_run_id(*run_id);
  results.set_step(members.number("step"));
  results.set_iteration(members.number("iteration"));
  results.set_commit_seq(members.number("commit_seq"));
  results.set_skipped(members.number("skipped"));
}

void take_values(Members& members, WorkerLine& line) {
  for (const Json& name : members.list("names", kMostAnalysisResults)) line.results.add_name(members.text_in(name));
  for (const Json& digits : members.list("values", kMostAnalysisResults)) {
    const std::optional<std::uint64_t> word = word_of(members.text_in(digits));
    if (!word) return members.refuse();
    line.results.add_value(std::bit_cast<double>(*word));
  }
  if (members.valid() && !problem_of(line.results).empty()) members.refuse();
}

void take_analyses(Members& members, WorkerLine& line) {
  for (const Json& one : members.list("analyses", kMostAnalyses)) {
    const Json& pair = members.list_in(one, 2);
    if (pair.size() != 2) return members.refuse();
    NamedAnalysis named{.name = members.text_in(pair[0]), .every = members.number_in(pair[1])};
    if (!is_analysis_name(named.name) || named.every == 0) return members.refuse();
    line.analyses.push_back(std::move(named));
  }
  if (line.analyses.empty()) members.refuse();
}

constexpr std::array<std::pair<std::string_view, WorkerSays>, 8> kKinds = {{{"hello", WorkerSays::kHello},
                                                                            {"ready", WorkerSays::kReady},
                                                                            {"refused", WorkerSays::kRefused},
                                                                            {"result", WorkerSays::kResult},
                                                                            {"nothing", WorkerSays::kNothing},
                                                                            {"failed", WorkerSays::kFailed},
                                                                            {"stopped", WorkerSays::kStopped},
                                                                            {"end", WorkerSays::kEnd}}};

std::optional<WorkerSays> kind_of(const std::string& text) {
  for (const auto& [name, says] : kKinds) {
    if (name == text) return says;
  }
  return std::nullopt;
}

}  // namespace

std::optional<WorkerLine> parse_worker_line(std::string_view text) {
  const Json object = Json::try_parse(text);
  if (!object.is_object()) return std::nullopt;
  Members members(object);
  const std::optional<WorkerSays> says = kind_of(members.text("kind"));
  if (!says) return std::nullopt;
  WorkerLine line;
  line.says = *says;
  switch (*says) {
    case WorkerSays::kHello: break;
    case WorkerSays::kReady: take_analyses(members, line); break;
    case WorkerSays::kRefused:
    case WorkerSays::kStopped: line.why = std::string(utf8_prefix(members.text("why"), kMostWhyBytes)); break;
    case WorkerSays::kResult:
      take_step(members, line);
      take_values(members, line);
      break;
    case WorkerSays::kNothing:
    case WorkerSays::kFailed: take_step(members, line); break;
    case WorkerSays::kEnd:
      for (const Json& count : members.list("skipped", kMostAnalyses)) {
        line.all_skipped.push_back(members.number_in(count));
      }
      break;
  }
  return members.valid() ? std::optional(std::move(line)) : std::nullopt;
}

}  // namespace ringside
