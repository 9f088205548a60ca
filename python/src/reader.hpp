// SPDX-License-Identifier: BSD-3-Clause
// A ringside_reader as a Python object: its functions that read the ring (reader.cpp) and the journal (records.cpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arrays.hpp"

namespace ringside_python {

class Reader {
 public:
  Reader(const std::string& pool, double wait_s);
  ~Reader() { ringside_reader_free(reader_.handle); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  const Variable& variable(std::uint32_t index) const {
    if (index >= variables_.size()) refuse("no variable has that number");
    return variables_[index];
  }
  Object variables() const;
  Object runs();
  Object steps();
  Object next(std::uint64_t after, std::optional<double> timeout_s, bool all_runs);
  /// Holds a step, which HeldStep will release; null if there is no such step.
  ringside_step* hold(std::uint64_t commit_seq);
  Object copy(std::uint64_t commit_seq, std::uint32_t index);
  Object results(std::uint64_t commit_seq);
  Object next_record(std::uint64_t from);
  Object recorded(const std::optional<std::string>& run_id, std::uint64_t first, std::uint64_t newest, double wait_s);

  template <class Function>
  ringside_status status_of(Call kind, ringside_error& error, const Function& call) {
    return with(reader_, ringside_reader_error, error, kind, call);
  }
  /// Returns the status like status_of, but raises if it is a failure.
  template <class Function>
  ringside_status made(Call kind, const Function& call) {
    ringside_error error{};
    const ringside_status status = status_of(kind, error, call);
    if (status > 0 || status == RINGSIDE_OVERWRITTEN) raise(error);
    return status;
  }

 private:
  Shared<ringside_reader> reader_;
  std::vector<Variable> variables_;
  volatile int stop_ = 0;
};

/// All elements that a function of ringside.h lists. list(array, room, &count) calls that function.
template <class Struct, class List>
ringside_status list_all(std::vector<Struct>& all, const List& list) {
  if (all.size() < 64) all.resize(64);
  for (;;) {
    std::size_t count = 0;  // stays 0 if the function lists nothing
    all.front().size = sizeof(Struct);
    const ringside_status status = list(all.data(), all.size(), &count);
    const bool fits = count <= all.size();
    all.resize(count);
    if (fits) return status;
  }
}

/// Results that outlive the library's next call.
struct ResultCopies {
  std::vector<ringside_result> results;
  std::vector<std::string> texts;  // the name and the unit of each result
  std::vector<ringside_value> values;

  /// Copies the data to which results[i].name, .unit and .values point.
  void own();
  /// [(name, unit, type, count, value)]
  Object listed() const;
};

}  // namespace ringside_python
