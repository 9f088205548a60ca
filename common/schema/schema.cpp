// SPDX-License-Identifier: BSD-3-Clause
#include "common/schema/schema.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "common/platform/error.hpp"
#include "common/schema/names.hpp"
#include "common/text/fixed_text.hpp"
#include "common/text/formatted.hpp"

namespace ringside {

struct Schema::Content {
  std::vector<Variable> variables;
  std::vector<VariablePlace> places;
  Id128 id;
};

namespace {

constexpr std::uint64_t round_up_to(std::uint64_t value, std::uint64_t unit) noexcept {
  return (value + unit - 1) / unit * unit;
}

/// A reserved first part of full names. No variable may have this name, because a name such as "solver.l2" would then
/// be ambiguous.
struct ReservedPart {
  std::string_view part;
  std::string_view names;
};
constexpr ReservedPart kReservedParts[] = {{"solver", "the solver's scalars"}, {"analysis", "results of analyses"}};

void check_not_reserved(const std::string& name, std::string_view where, std::size_t index) {
  const std::string_view first = std::string_view(name).substr(0, name.find('.'));
  for (const ReservedPart& reserved : kReservedParts) {
    if (first != reserved.part) continue;
    throw usage_error("{}: variable {}: '{}' begins with '{}', which is reserved for {}; expected another name", where,
                      index, name, reserved.part, reserved.names);
  }
}

std::string shape_text(const std::vector<std::uint64_t>& shape, std::string_view separator) {
  return joined(shape, separator);
}

void check_shape(const Variable& variable, std::string_view where) {
  const std::vector<std::uint64_t>& shape = variable.shape;
  if (shape.size() > kMostDimensions) {
    throw usage_error("{}: variable '{}': found {} dimensions; expected 0 to {}", where, variable.name, shape.size(),
                      kMostDimensions);
  }
  if (const auto zero = std::find(shape.begin(), shape.end(), 0u); zero != shape.end()) {
    throw usage_error("{}: variable '{}': shape ({}): dimension {} is 0; expected at least 1", where, variable.name,
                      shape_text(shape, ", "), zero - shape.begin());
  }
}

/// Requires that the shape was checked.
VariablePlace place_of(const Variable& variable, std::uint64_t offset, std::string_view where, std::uint64_t most_bytes) {
  const std::uint64_t most_entries = most_bytes / bytes_of(variable.dtype);
  std::uint64_t entries = 1;
  for (const std::uint64_t extent : variable.shape) {
    if (extent > most_entries / entries) {
      throw usage_error(
          "{}: variable '{}': shape ({}) of {} has more than {} bytes; expected a step of at most {} bytes "
          "in all",
          where, variable.name, shape_text(variable.shape, ", "), to_string(variable.dtype),
          most_entries * bytes_of(variable.dtype), most_bytes);
    }
    entries *= extent;
  }
  const std::uint64_t bytes = entries * bytes_of(variable.dtype);
  return {.offset = offset, .entries = entries, .bytes = bytes, .stored_bytes = round_up_to(bytes, 8)};
}

void check_total(const std::vector<Variable>& variables, const std::vector<VariablePlace>& places,
                 std::string_view where, std::uint64_t most_bytes) {
  const std::uint64_t total = places.back().offset + places.back().stored_bytes;  // at most 256 terms below 2^55
  if (total <= most_bytes) return;
  const auto less = [](const VariablePlace& a, const VariablePlace& b) { return a.bytes < b.bytes; };
  const auto largest = std::max_element(places.begin(), places.end(), less);
  throw usage_error(
      "{}: the {} variables have {} bytes together (the largest is '{}' with {}); expected at most {} bytes for a step",
      where, variables.size(), total, variables[static_cast<std::size_t>(largest - places.begin())].name,
      largest->bytes, most_bytes);
}

void check_names(const std::vector<Variable>& variables, std::string_view where) {
  std::unordered_map<std::string_view, std::size_t> seen;
  for (std::size_t v = 0; v < variables.size(); ++v) {
    check_name(variables[v].name, where, "variable", v);
    check_not_reserved(variables[v].name, where, v);
    const auto [first, is_new] = seen.emplace(variables[v].name, v);
    if (is_new) continue;
    throw usage_error("{}: variables {} and {} are both named '{}'; expected each name once", where, first->second, v,
                      variables[v].name);
  }
}

void check_numbers(const Variable& variable, std::string_view where) {
  const auto dtype = static_cast<std::uint16_t>(variable.dtype);
  if (!is_dtype(dtype)) {
    throw usage_error("{}: variable '{}': dtype {}; expected one of {}", where, variable.name, dtype,
                      joined(kDTypeNames, ", "));
  }
  const auto role = static_cast<std::uint16_t>(variable.role);
  if (variable.role != Role::kField && variable.role != Role::kState) {
    throw usage_error("{}: variable '{}': role {}; expected field or state", where, variable.name, role);
  }
}

void check_count(std::size_t variables, std::string_view where) {
  if (variables >= 1 && variables <= kMostVariables) return;
  throw usage_error("{}: found {} variables, expected 1 to {}", where, variables, kMostVariables);
}

VariableDescription encoded(const Variable& variable) noexcept {
  VariableDescription description;
  assign(description.name, variable.name);
  assign(description.unit, variable.unit);
  description.dtype = static_cast<std::uint16_t>(variable.dtype);
  description.role = static_cast<std::uint16_t>(variable.role);
  description.dims = static_cast<std::uint32_t>(variable.shape.size());
  std::copy(variable.shape.begin(), variable.shape.end(), description.shape);
  return description;
}

/// The text of a padded field. what: the name of the field.
template <std::size_t N>
std::string decoded_text(const char (&field)[N], std::string_view where, std::size_t variable, std::string_view what) {
  const std::string_view text = text_of(field);
  const bool padded = std::all_of(field + text.size(), field + N, [](char c) { return c == 0; });
  if (padded) return std::string(text);  // N bytes without a NUL: refused later as too long
  throw usage_error("{}: variable {}: bytes after its {} are not 0", where, variable, what);
}

Variable decoded(const VariableDescription& bytes, std::string_view where, std::size_t index) {
  Variable variable;
  variable.name = decoded_text(bytes.name, where, index, "name");
  variable.unit = decoded_text(bytes.unit, where, index, "unit");
  variable.dtype = DType{bytes.dtype};
  variable.role = Role{bytes.role};
  const std::size_t dims = std::min<std::size_t>(bytes.dims, kMostDimensions);
  if (std::any_of(bytes.shape + dims, bytes.shape + kMostDimensions,
                  [](std::uint64_t extent) { return extent != 0; })) {
    throw usage_error("{}: variable {}: numbers after its shape are not 0", where, index);
  }
  if (bytes.dims > kMostDimensions) {
    throw usage_error("{}: variable {}: found {} dimensions; expected 0 to {}", where, index, bytes.dims,
                      kMostDimensions);
  }
  variable.shape.assign(bytes.shape, bytes.shape + dims);
  return variable;
}

}  // namespace

Schema Schema::of(std::vector<Variable> variables, std::string_view where) {
  return make(std::move(variables), where, kMostPayloadBytes);
}

Schema Schema::of_whole(std::vector<Variable> variables, std::string_view where) {
  return make(std::move(variables), where, kMostWholeBytes);
}

Schema Schema::make(std::vector<Variable> variables, std::string_view where, std::uint64_t most_bytes) {
  check_count(variables.size(), where);
  check_names(variables, where);
  auto content = std::make_shared<Content>();
  std::uint64_t offset = 0;
  for (const Variable& variable : variables) {
    check_numbers(variable, where);
    check_unit(variable.unit, where, "variable", variable.name);
    check_shape(variable, where);
    const VariablePlace& place = content->places.emplace_back(place_of(variable, offset, where, most_bytes));
    offset = round_up_to(offset + place.stored_bytes, kVariableAlignment);
  }
  check_total(variables, content->places, where, most_bytes);
  content->variables = std::move(variables);
  Schema schema(content);
  const std::vector<VariableDescription> descriptions = schema.encode();
  content->id = hash128(descriptions.data(), descriptions.size() * sizeof(VariableDescription));
  return schema;
}

Schema Schema::x_only(std::uint64_t entries) {
  return of({{.name = "x", .dtype = DType::kF64, .shape = {entries}}});
}

Schema Schema::decode(std::span<const VariableDescription> descriptions, std::string_view where) {
  check_count(descriptions.size(), where);
  std::vector<Variable> variables;
  for (std::size_t v = 0; v < descriptions.size(); ++v) variables.push_back(decoded(descriptions[v], where, v));
  return of(std::move(variables), where);
}

std::vector<VariableDescription> Schema::encode() const {
  std::vector<VariableDescription> descriptions;
  for (const Variable& variable : variables()) descriptions.push_back(encoded(variable));
  return descriptions;
}

std::span<const Variable> Schema::variables() const noexcept {
  return content_->variables;
}

const VariablePlace& Schema::place(std::size_t variable) const noexcept {
  return content_->places[variable];
}

std::uint64_t Schema::payload_bytes() const noexcept {
  const VariablePlace& last = content_->places.back();
  return last.offset + last.stored_bytes;
}

Id128 Schema::id() const noexcept {
  return content_->id;
}

bool Schema::is_x_only() const noexcept {
  const Variable& first = variables().front();
  return size() == 1 && first.name == "x" && first.dtype == DType::kF64 && first.role == Role::kField &&
         first.shape.size() == 1 && first.unit.empty();
}

std::string to_text(const Variable& variable) {
  std::string text = formatted("{} {}", variable.name, to_string(variable.dtype));
  if (!variable.shape.empty()) text += "[" + shape_text(variable.shape, ",") + "]";
  if (!variable.unit.empty()) text += " " + variable.unit;
  if (variable.role == Role::kState) text += " state";
  return text;
}

namespace {

/// Shortens long lists, so that a message stays readable and fits a reply to a producer.
std::string listed(std::vector<std::string> texts) {
  constexpr std::size_t kMostListed = 8;
  if (texts.size() > kMostListed) {
    texts[kMostListed - 1] = formatted("and {} more", texts.size() - (kMostListed - 1));
    texts.resize(kMostListed);
  }
  return joined(texts, ", ");
}

}  // namespace

std::string to_text(const Schema& schema) {
  std::vector<std::string> texts;
  for (const Variable& variable : schema.variables()) texts.push_back(to_text(variable));
  return listed(std::move(texts));
}

std::string difference(const Schema& kept, const Schema& here) {
  std::vector<std::string> found;
  const std::size_t both = std::min(kept.size(), here.size());
  for (std::size_t v = 0; v < both; ++v) {
    const Variable& before = kept.variables()[v];
    const Variable& now = here.variables()[v];
    if (!(before == now)) found.push_back(to_text(now) + " instead of " + to_text(before));
  }
  for (std::size_t v = both; v < kept.size(); ++v) found.push_back("no " + to_text(kept.variables()[v]));
  for (std::size_t v = both; v < here.size(); ++v) found.push_back(to_text(here.variables()[v]) + " more");
  return listed(std::move(found));
}

Id128 problem_id_with(const Id128& solver_problem, const Schema& schema) noexcept {
  const Id128 both[] = {solver_problem, schema.id()};
  return hash128(both, sizeof(both));
}

}  // namespace ringside
