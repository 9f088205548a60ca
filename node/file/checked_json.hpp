// SPDX-License-Identifier: BSD-3-Clause
// A value of a JSON file that people may have written by hand. Each access checks the value; an error names the file,
// the place ("kernels[3].seconds[1]"), the value found and the accepted values.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/json/json.hpp"

namespace ringside {

/// All functions throw Error (exit code 2) for a value that is not accepted.
class CheckedJson {
 public:
  /// value, file: must outlive this object and every object made from it.
  CheckedJson(const Json& value, const std::string& file, std::string place = "")
      : value_(&value), file_(&file), place_(std::move(place)) {}

  /// Accepts only an object whose keys are all among these.
  void expect_object(std::initializer_list<std::string_view> keys) const;

  CheckedJson at(std::string_view key) const;  // a value of an object, which must exist
  std::optional<CheckedJson> find(std::string_view key) const;

  std::vector<CheckedJson> items(std::size_t least, std::size_t most) const;  // the values of a list

  std::string text() const;
  bool truth() const;
  std::uint64_t count(std::uint64_t least, std::uint64_t most) const;  // an integer
  double positive() const;                                             // a number from 1e-15 to 1e15
  double spread() const;                                               // a number from 0 to 1e6
  bool is_number() const noexcept { return value_->is_number(); }

  [[noreturn]] void refuse(const std::string& accepted) const;

 private:
  const Json* value_;
  const std::string* file_;
  std::string place_;
};

}  // namespace ringside
