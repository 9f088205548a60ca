// SPDX-License-Identifier: BSD-3-Clause
#include "common/triggers/condition.hpp"

#include <fmt/format.h>
#include <muParser.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <iterator>

#include "common/platform/error.hpp"
#include "common/schema/names.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

using Value = ConditionInputs::Value;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

double remainder_of(double a, double b) {
  return std::fmod(a, b);
}
double negation_of(double truth) {
  return truth == 0 ? 1 : 0;
}

constexpr std::size_t kMostInexact = 4;  // the number of inexact inputs whose combinations are all tried
// Functions that are monotonic between two neighbouring doubles.
constexpr std::string_view kSteady[] = {"abs", "min", "max", "sqrt", "exp", "log", "log2", "log10", "ln", "sum", "avg"};

/// Rewrites a condition for muParser: each name becomes v0, v1 …, in the order of `values`.
class Translation {
 public:
  Translation(std::string_view text, ConditionInputs& inputs, const std::string& where)
      : rest_(text), inputs_(inputs), where_(where) {
    while (!rest_.empty()) take_token();
    if (brackets_.size() != 1) throw fail("has a '(' without its ')'");
    if (values.empty()) throw fail("depends on nothing; expected the name of a result, or iteration, time …");
    if (!compares_) throw fail("is a number, not a condition; expected a comparison, as in `x.l2 > 0`");
  }

  std::string expression;
  std::vector<const Value*> values;
  bool jumps = false;

 private:
  Error fail(const std::string& why) const { return usage_error("{}: the condition {}", where_, why); }

  void take_token() {
    const char c = rest_.front();
    if (may_begin_name(c)) return take_name();
    if (is_digit(c) || c == '.') return take_number();
    for (const std::string_view comparison : {"==", "!=", "<=", ">=", "<", ">", "&&", "||"}) {
      if (!rest_.starts_with(comparison)) continue;
      compares_ = true;
      const bool joins = comparison == "&&" || comparison == "||";
      if (!joins && !brackets_.back().empty()) {
        throw fail(fmt::format(
            "has a chain of comparisons, '{}' after '{}'; expected separate ones, as in `3 < x.max && x.max < 5`",
            comparison, brackets_.back()));
      }
      brackets_.back() = joins ? std::string_view() : comparison;
      return take(comparison.size());
    }
    if (c == '=') throw fail("has a single '=', expected '=='");
    if (c == '!') {
      rest_.remove_prefix(1);
      expression += " ! ";  // with blanks, to separate it from neighbouring operators
      return;
    }
    if (std::string_view("+-*/%^()?:, \t").find(c) == std::string_view::npos) {
      throw fail(fmt::format("has '{}', expected names, numbers, operators and brackets",
                             shortened(rest_.substr(0, rest_.find_first_of(" \t")))));
    }
    if (c == '(') brackets_.emplace_back();
    if (c == ')' && brackets_.size() == 1) throw fail("has a ')' without its '('");
    if (c == ')') brackets_.pop_back();
    if (c == '?' || c == ':' || c == ',') brackets_.back() = {};
    jumps = jumps || c == '%' || c == '^';
    take(1);
  }

  void take(std::size_t bytes) {
    expression += rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
  }

  /// Takes a number with its exponent, so that the exponent's letter does not begin a name.
  void take_number() {
    std::size_t end = 0;
    const auto skip_digits = [&] {
      while (end < rest_.size() && (is_digit(rest_[end]) || rest_[end] == '.')) ++end;
    };
    skip_digits();
    const std::string digits(rest_.substr(0, end));
    if (end < rest_.size() && (rest_[end] == 'e' || rest_[end] == 'E')) {
      ++end;
      if (end < rest_.size() && (rest_[end] == '+' || rest_[end] == '-')) ++end;
      skip_digits();
    }
    if (end < rest_.size() && may_begin_name(rest_[end])) {
      throw fail(fmt::format("has '{}', expected a number", shortened(rest_.substr(0, end + 1))));
    }
    const bool is_whole = digits.size() == end && digits.size() > 15 && digits.find('.') == digits.npos;
    const std::string held = is_whole ? fmt::format("{:.0f}", std::strtod(digits.c_str(), nullptr)) : std::string();
    if (is_whole && digits.substr(std::min(digits.find_first_not_of('0'), digits.size() - 1)) != held) {
      throw fail(fmt::format("has {}, expected a number that a double holds: {}", shortened(digits), held));
    }
    take(end);
  }

  void take_name() {
    std::size_t end = 1;
    while (end < rest_.size() && may_continue_name(rest_[end])) ++end;
    const std::string_view longest = rest_.substr(0, end);
    // muParser's functions and constants stay unchanged.
    const std::string_view plain = longest.substr(0, longest.find_first_of(".-"));
    const std::string_view behind = rest_.substr(plain.size());
    const std::size_t next = behind.find_first_not_of(" \t");
    const bool is_call = next != behind.npos && behind[next] == '(';
    if (is_call && plain == "prev") return take_previous();
    if (is_call) jumps = jumps || std::find(std::begin(kSteady), std::end(kSteady), plain) == std::end(kSteady);
    if (is_call || plain == "_pi" || plain == "_e") return take(plain.size());
    const auto [bytes, input] = longest_known(longest);
    add(input->now);
    rest_.remove_prefix(bytes);
  }

  /// Takes the longest known name: `a-b` is a name if the run has that name, otherwise a difference.
  std::pair<std::size_t, ConditionInputs::Input*> longest_known(std::string_view name) {
    std::string why_not;
    std::string why_not_longest;
    for (std::size_t bytes = name.size(); bytes != 0 && bytes != name.npos; bytes = name.substr(0, bytes).rfind('-')) {
      if (ConditionInputs::Input* input = inputs_.find(name.substr(0, bytes), why_not)) return {bytes, input};
      why_not_longest = why_not;  // in the end: for the shortest name, because the longer ones contain a minus
    }
    throw fail(fmt::format("cannot be used: {}", why_not_longest));
  }

  void take_previous() {
    const std::size_t open = rest_.find('(');
    const std::size_t close = rest_.find(')', open);
    std::string_view name = rest_.substr(open + 1, close == rest_.npos ? rest_.npos : close - open - 1);
    name.remove_prefix(std::min(name.find_first_not_of(" \t"), name.size()));
    name = name.substr(0, name.find_last_not_of(" \t") + 1);
    if (close == rest_.npos || name.empty()) throw fail("has `prev` without a name, expected prev(NAME)");
    std::string why_not;
    ConditionInputs::Input* input = inputs_.find(name, why_not);
    if (input == nullptr) throw fail(fmt::format("cannot be used: in prev(): {}", why_not));
    add(input->before);
    rest_.remove_prefix(close + 1);
  }

  void add(const Value& value) {
    const auto found = std::find(values.begin(), values.end(), &value);
    expression += fmt::format("v{}", found - values.begin());
    if (found == values.end()) values.push_back(&value);
  }

  std::string_view rest_;
  ConditionInputs& inputs_;
  const std::string& where_;
  // The last comparison of the whole text and of each open bracket: another comparison after it would make a chain.
  std::vector<std::string_view> brackets_ = std::vector<std::string_view>(1);
  bool compares_ = false;
};

}  // namespace

struct Condition::Parser {
  mu::Parser parser;
};

Condition::Condition(std::string_view text, ConditionInputs& inputs, const std::string& where)
    : parser_(std::make_unique<Parser>()) {
  const Translation translation(text, inputs, where);
  used_ = translation.values;
  numbers_.resize(used_.size());
  jumps_ = translation.jumps;
  try {
    parser_->parser.EnableOptimizer(false);  // optimizing would compute 1/0 now, and no later step would set the flag
    parser_->parser.DefineOprt("%", remainder_of, mu::prMUL_DIV, mu::oaLEFT, true);
    parser_->parser.DefineInfixOprt("!", negation_of);
    for (std::size_t v = 0; v < used_.size(); ++v) {
      parser_->parser.DefineVar(fmt::format("v{}", v), &numbers_[v]);
    }
    parser_->parser.SetExpr(translation.expression);
    int results = 0;
    parser_->parser.Eval(results);  // this compiles the expression
    if (results != 1) throw usage_error("{}: found {} conditions separated by commas, expected one", where, results);
  } catch (const mu::ParserError& error) {
    std::string why = error.GetMsg();
    for (std::size_t v = used_.size(); v-- > 0;) {  // our names v0, v1 … have no meaning for a user
      const std::string ours = fmt::format("\"v{}\"", v);
      if (const std::size_t at = why.find(ours); at != why.npos) why.replace(at, ours.size(), "name");
    }
    throw usage_error("{}: the condition cannot be read: {}", where, shortened(why));
  }
}

Condition::~Condition() = default;
Condition::Condition(Condition&&) noexcept = default;

// The processor sets a flag for a division by zero, and one for an invalid operation; muParser continues with infinity
// and NaN. A comparison with NaN also sets the second flag, so that flag counts only if all inputs are finite.
Truth Condition::evaluate_at_numbers(bool finite) noexcept {
  std::feclearexcept(FE_DIVBYZERO | FE_INVALID);
  double result = 0;
  try {
    result = parser_->parser.Eval();
  } catch (const std::exception&) {
    return Truth::kUndefined;
  } catch (const mu::ParserError&) {
    return Truth::kUndefined;
  }
  const int flags = std::fetestexcept(FE_DIVBYZERO | FE_INVALID);
  if ((flags & FE_DIVBYZERO) != 0 || ((flags & FE_INVALID) != 0 && finite)) return Truth::kUndefined;
  return result != 0 && !std::isnan(result) ? Truth::kTrue : Truth::kFalse;
}

Truth Condition::evaluate() noexcept {
  bool finite = true;
  for (std::size_t v = 0; v < used_.size(); ++v) {
    if (!used_[v]->present) return Truth::kFalse;
    numbers_[v] = used_[v]->number;
    finite = finite && std::isfinite(numbers_[v]);
  }
  std::size_t inexact[kMostInexact];
  std::size_t count = 0;
  for (std::size_t v = 0; v < used_.size(); ++v) {
    if (used_[v]->is_exact()) continue;
    if (jumps_ || count == kMostInexact) return Truth::kUndefined;
    inexact[count++] = v;
  }
  const Truth truth = evaluate_at_numbers(finite);
  for (std::size_t ends = 0; count > 0 && ends < std::size_t{1} << count; ++ends) {
    for (std::size_t i = 0; i < count; ++i) {
      numbers_[inexact[i]] = (ends >> i & 1) != 0 ? used_[inexact[i]]->high : used_[inexact[i]]->low;
    }
    if (evaluate_at_numbers(finite) != truth) return Truth::kUndefined;
  }
  return truth;
}

}  // namespace ringside
