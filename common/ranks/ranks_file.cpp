// SPDX-License-Identifier: BSD-3-Clause
#include "common/ranks/ranks_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <span>
#include <system_error>
#include <utility>

#include "common/files/beside_pool.hpp"
#include "common/files/new_file.hpp"
#include "common/files/output_file.hpp"
#include "common/files/regular_file.hpp"
#include "common/json/json.hpp"
#include "common/platform/error.hpp"
#include "common/schema/schema_layout.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

constexpr const char* kVersionKey = "ringside_ranks";
constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kMostNodes = 1 << 20;
constexpr std::size_t kMostRanks = 1 << 22;
constexpr std::size_t kMostText = 8192;

Json list_of(const std::array<std::uint64_t, kMostDims>& numbers, std::size_t dims) {
  return Json(std::vector<std::uint64_t>(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(dims)));
}

Json to_json(const Variable& variable, const Box& box) {
  if (box.distribution == Distribution::kReplicated) return {};
  const std::size_t dims = variable.shape.size();
  return {{"offset", list_of(box.offset, dims)}, {"extent", list_of(box.extent, dims)}};
}

/// A value in the file. A refusal names the place of the value ("nodes[1].ranks[0].boxes[2]").
class Value {
 public:
  Value(const Json& value, const std::string& where, std::string place = {})
      : value_(value), where_(where), place_(std::move(place)) {}

  Value at(const char* key) const {
    if (!value_.is_object() || !value_.contains(key)) refuse(formatted("an object with the key '{}'", key));
    return {value_.at(key), where_, place_.empty() ? std::string(key) : formatted("{}.{}", place_, key)};
  }

  std::vector<Value> items(std::size_t least, std::size_t most) const {
    if (!value_.is_array() || value_.size() < least || value_.size() > most) {
      refuse(least == most ? formatted("a list of {}", least) : formatted("a list of {} to {}", least, most));
    }
    std::vector<Value> items;
    for (std::size_t i = 0; i < value_.size(); ++i) {
      items.push_back({value_[i], where_, formatted("{}[{}]", place_, i)});
    }
    return items;
  }

  std::uint64_t number(std::uint64_t most) const {
    if (!value_.is_number_unsigned() || value_.get<std::uint64_t>() > most) {
      refuse(formatted("a whole number from 0 to {}", most));
    }
    return value_.get<std::uint64_t>();
  }

  std::string text() const {
    if (!value_.is_string() || value_.text().size() > kMostText) {
      refuse(formatted("a text of at most {} bytes", kMostText));
    }
    return value_.get<std::string>();
  }

  Id128 id() const {
    const std::string digits = text();
    const bool are_hexadecimal = digits.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (digits.size() != 32 || !are_hexadecimal) refuse("32 hexadecimal digits");
    Id128 id;
    // The digits have the form of to_string(Id128).
    id.high = std::stoull(digits.substr(0, 16), nullptr, 16);
    id.low = std::stoull(digits.substr(16), nullptr, 16);
    return id;
  }

  std::vector<std::uint64_t> numbers(std::size_t least, std::size_t most) const {
    std::vector<std::uint64_t> numbers;
    for (const Value& one : items(least, most)) numbers.push_back(one.number(~std::uint64_t{0}));
    return numbers;
  }

  bool is_null() const noexcept { return value_.is_null(); }

  [[noreturn]] void refuse(const std::string& expected) const {
    throw usage_error("{}: {}: found {}, expected {} (docs/formats/files.md)", where_,
                      place_.empty() ? "the file" : place_, found(), expected);
  }

 private:
  /// The value as text for a refusal. Only scalars are printed in full: printing other values is recursive, and a
  /// hostile file may nest them too deeply.
  std::string found() const {
    if (value_.is_object()) return "an object";
    if (value_.is_array()) return formatted("a list of {}", value_.size());
    return shortened(value_.dump_ascii());
  }

  const Json& value_;
  const std::string& where_;
  std::string place_;
};

Variable variable_of(const Value& value) {
  Variable variable;
  variable.name = value.at("name").text();
  const std::string dtype = value.at("dtype").text();
  if (!dtype_named(dtype)) value.at("dtype").refuse("a dtype such as f64");
  variable.dtype = *dtype_named(dtype);
  variable.shape = value.at("shape").numbers(0, kMostDims);
  const std::string role = value.at("role").text();
  if (role != to_string(Role::kField) && role != to_string(Role::kState)) value.at("role").refuse("field or state");
  variable.role = role == to_string(Role::kField) ? Role::kField : Role::kState;
  variable.unit = value.at("unit").text();
  return variable;
}

Box box_of(const Value& value, const Variable& variable) {
  Box box;
  if (value.is_null()) {
    box.distribution = Distribution::kReplicated;
    return box;
  }
  const std::size_t dims = variable.shape.size();
  std::ranges::copy(value.at("offset").numbers(dims, dims), box.offset.begin());
  std::ranges::copy(value.at("extent").numbers(dims, dims), box.extent.begin());
  return box;
}

RanksFile::Node node_of(const Value& value, std::size_t index, const std::vector<Variable>& variables) {
  RanksFile::Node node;
  if (value.at("node").number(kMostNodes) != index)
    value.at("node").refuse(formatted("{}: nodes in ascending order", index));
  node.host = value.at("host").text();
  node.pool = value.at("pool").text();
  for (const Value& rank : value.at("ranks").items(1, kMostRanks)) {
    RanksFile::Rank& made = node.ranks.emplace_back();
    made.rank = static_cast<std::uint32_t>(rank.at("rank").number(kMostRanks - 1));
    const std::vector<Value> boxes = rank.at("boxes").items(variables.size(), variables.size());
    for (std::size_t v = 0; v < variables.size(); ++v) made.boxes.push_back(box_of(boxes[v], variables[v]));
  }
  return node;
}

RanksFile::Round round_of(const Value& value, std::size_t nodes) {
  RanksFile::Round round{.attachment = value.at("attachment").id(), .places = {}};
  for (const Value& place : value.at("places").items(nodes, nodes)) {
    const std::vector<Value> both = place.items(2, 2);
    round.places.push_back({both[0].text(), both[1].text()});
  }
  return round;
}

/// The boxes of all ranks, in the order of the ranks.
std::vector<Box> boxes_of_all(const RanksFile& file, const std::string& where) {
  const std::size_t count = file.ranks();
  std::vector<const RanksFile::Rank*> by_rank(count, nullptr);
  for (std::size_t n = 0; n < file.nodes.size(); ++n) {
    for (const RanksFile::Rank& rank : file.nodes[n].ranks) {
      if (rank.rank < count && by_rank[rank.rank] == nullptr) {
        by_rank[rank.rank] = &rank;
        continue;
      }
      throw usage_error("{}: node {}: found rank {}{}, expected each rank from 0 to {} once (docs/formats/files.md)",
                        where, n, rank.rank, rank.rank < count ? " twice" : "", count - 1);
    }
  }
  std::vector<Box> boxes;
  for (const RanksFile::Rank* rank : by_rank) boxes.insert(boxes.end(), rank->boxes.begin(), rank->boxes.end());
  return boxes;
}

/// Makes the checks that the ranks make when they attach.
void check(const RanksFile& file, const std::string& where) {
  const std::size_t variables = file.variables.size();
  const std::vector<Box> boxes = boxes_of_all(file, where);
  try {
    for (std::size_t v = 0; v < variables; ++v) {
      const std::vector<Box> of_variable = boxes_of_variable(boxes, variables, v);
      for (const Box& box : of_variable) check_within(file.variables[v], box);
      check_cover(file.variables[v], of_variable);
    }
    for (std::size_t n = 0; n < file.nodes.size(); ++n) (void)file.layout_of(n);
  } catch (const Error& error) {
    throw usage_error("{}: {} (docs/formats/files.md)", where, error.what());
  }
}

}  // namespace

std::string read_ranks_text(const std::string& path) {
  const RegularFile file = open_regular(path, O_RDONLY);
  if (file.error == ENOENT || file.error == ENOTDIR) {
    throw usage_error("{}: there is no such file, expected a ranks file (docs/formats/files.md)", path);
  }
  if (!file.valid()) throw system_error("{}: {}; expected a ranks file (docs/formats/files.md)", path, file.why());
  if (file.status.st_size > static_cast<off_t>(kMostRanksBytes)) {
    throw usage_error("{}: found {} bytes, expected a ranks file of at most {} (docs/formats/files.md)", path,
                      file.status.st_size, kMostRanksBytes);
  }
  std::string content(static_cast<std::size_t>(file.status.st_size), '\0');
  const std::size_t bytes = read_whole(file.fd.get(), std::as_writable_bytes(std::span(content)), 0);
  if (bytes < content.size() && errno != 0) throw system_error("{}: cannot be read ({})", path, errno_text(errno));
  content.resize(bytes);
  return content;
}

std::size_t RanksFile::ranks() const noexcept {
  std::size_t count = 0;
  for (const Node& one : nodes) count += one.ranks.size();
  return count;
}

std::string RanksFile::ranks_text(std::size_t index) const {
  const std::vector<Rank>& its = nodes[index].ranks;
  if (its.size() == 1) return formatted("{}", its.front().rank);
  const bool together = its.back().rank - its.front().rank + 1 == its.size();
  return formatted("{}{}{}", its.front().rank, together ? " to " : ", ... ", its.back().rank);
}

std::string RanksFile::name_of(std::size_t index) const {
  return formatted("node {} (rank{} {})", index, nodes[index].ranks.size() == 1 ? "" : "s", ranks_text(index));
}

std::vector<Box> RanksFile::boxes_of(std::size_t index) const {
  std::vector<Box> boxes;
  for (const Rank& rank : nodes[index].ranks) boxes.insert(boxes.end(), rank.boxes.begin(), rank.boxes.end());
  return boxes;
}

std::string to_text(const RanksFile& file) {
  Json whole = {{kVersionKey, kVersion}, {"run_id", to_string(file.run_id)}, {"problem_id", to_string(file.problem_id)},
                {"node", file.node},     {"variables", Json::array()},       {"nodes", Json::array()}};
  for (const Variable& variable : file.variables) {
    whole["variables"].push_back({{"name", variable.name},
                                  {"dtype", to_string(variable.dtype)},
                                  {"shape", variable.shape},
                                  {"role", to_string(variable.role)},
                                  {"unit", variable.unit}});
  }
  for (std::size_t n = 0; n < file.nodes.size(); ++n) {
    const RanksFile::Node& node = file.nodes[n];
    Json ranks = Json::array();
    for (const RanksFile::Rank& rank : node.ranks) {
      Json boxes = Json::array();
      for (std::size_t v = 0; v < rank.boxes.size(); ++v) boxes.push_back(to_json(file.variables[v], rank.boxes[v]));
      ranks.push_back({{"rank", rank.rank}, {"boxes", std::move(boxes)}});
    }
    whole["nodes"].push_back({{"node", n}, {"host", node.host}, {"pool", node.pool}, {"ranks", std::move(ranks)}});
  }
  if (file.round) {
    Json places = Json::array();
    for (const RanksFile::Round::Place& place : file.round->places) places.push_back({place.address, place.public_key});
    whole["round"] = {{"attachment", to_string(file.round->attachment)}, {"places", std::move(places)}};
  }
  std::string text = whole.dump() + "\n";
  if (text.size() > kMostRanksBytes) {
    throw usage_error(
        "{} ranks with {} variables need a ranks file of {} bytes; expected at most {} (docs/formats/files.md)",
        file.ranks(), file.variables.size(), text.size(), kMostRanksBytes);
  }
  return text;
}

RanksFile parse_ranks(std::string_view text, const std::string& where) {
  const Json parsed = Json::try_parse(text);
  const Value whole(parsed, where);
  if (parsed.is_discarded() || !parsed.is_object() || !parsed.contains(kVersionKey)) {
    throw usage_error("{}: is not a ranks file; expected an object with \"{}\": {} (docs/formats/files.md)", where,
                      kVersionKey, kVersion);
  }
  if (parsed[kVersionKey] != kVersion) {
    whole.at(kVersionKey).refuse(formatted("{}: the version of this release", kVersion));
  }
  RanksFile file;
  file.run_id = whole.at("run_id").id();
  file.problem_id = whole.at("problem_id").id();
  for (const Value& variable : whole.at("variables").items(1, kMostVariables)) {
    file.variables.push_back(variable_of(variable));
  }
  const std::vector<Value> nodes = whole.at("nodes").items(1, kMostNodes);
  for (std::size_t n = 0; n < nodes.size(); ++n) file.nodes.push_back(node_of(nodes[n], n, file.variables));
  file.node = static_cast<std::uint32_t>(whole.at("node").number(nodes.size() - 1));
  if (parsed.contains("round")) file.round = round_of(whole.at("round"), nodes.size());
  check(file, where);
  return file;
}

std::string ranks_path(const std::string& pool) {
  return beside_pool(pool, std::string(kRanksEnding));
}

RanksFile read_ranks(const std::string& path) {
  return parse_ranks(read_ranks_text(path), path);
}

RanksOfOtherNodes::RanksOfOtherNodes(const RanksFile& file) : nodes_(static_cast<std::uint32_t>(file.nodes.size())) {
  RanksFile first = file;
  first.node = 0;
  text_ = to_text(first);
  // The first match is the right one, because only the version and two hexadecimal numbers precede it.
  constexpr std::string_view kNode = "\"node\":";
  place_ = text_.find(kNode) + kNode.size();
}

std::optional<std::uint32_t> RanksOfOtherNodes::node_of(std::string_view text) const noexcept {
  const std::string_view before = std::string_view(text_).substr(0, place_);
  const std::string_view behind = std::string_view(text_).substr(place_ + 1);
  if (text.size() <= before.size() + behind.size() || !text.starts_with(before) || !text.ends_with(behind)) return {};
  const std::string_view digits = text.substr(place_, text.size() - before.size() - behind.size());
  std::uint32_t node = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), node);
  const bool is_number = error == std::errc() && end == digits.data() + digits.size();
  // JSON allows no leading 0 in a number.
  if (!is_number || node >= nodes_ || (digits.size() > 1 && digits.front() == '0')) return {};
  return node;
}

void write_ranks(const std::string& pool, const RanksFile& file) {
  const std::string name = ranks_path(pool);
  const std::string text = to_text(file);
  const auto fail = [&name](int error) { return system_error("{}: cannot be written ({})", name, errno_text(error)); };
  NewFile made(name, kPrivateMode);
  if (!made.fd().valid()) throw fail(errno);
  if (write_whole(made.fd().get(), std::as_bytes(std::span(text)), 0) < text.size()) throw fail(errno);
  if (const int error = made.publish()) throw fail(error);
  if (const int error = sync_folder_of(name)) throw fail(error);  // makes the name survive a power loss
}

void remove_ranks(const std::string& pool) {
  remove_file(ranks_path(pool));
}

}  // namespace ringside
