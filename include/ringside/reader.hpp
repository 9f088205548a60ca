// SPDX-License-Identifier: BSD-3-Clause
// A part of ringside.hpp: a pool that is read, and the steps that are held in place.
#ifndef RINGSIDE_READER_HPP
#define RINGSIDE_READER_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../ringside.h"
#include "variables.hpp"

namespace ringside {
inline namespace abi0 {

/// A step that a Reader holds, in place. The Reader outlives it.
class Step {
 public:
  Step(Step&& other) noexcept
      : reader_(other.reader_),
        step_(std::exchange(other.step_, nullptr)),
        dtypes_(std::move(other.dtypes_)),
        info_(other.info_) {}
  Step& operator=(Step&& other) noexcept {
    std::swap(reader_, other.reader_);
    std::swap(step_, other.step_);
    std::swap(dtypes_, other.dtypes_);
    std::swap(info_, other.info_);
    return *this;
  }
  /// Releases the step, and cannot say whether it was overwritten: code that used a view calls close().
  ~Step() { ringside_step_release(step_); }

  std::uint64_t commit_seq() const noexcept { return info_.commit_seq; }
  std::uint64_t iteration() const noexcept { return info_.iteration; }
  const ringside_step_info& info() const noexcept { return info_; }

  /// A variable in place, verified. Throws Error if T is not its dtype, or it is damaged or overwritten.
  template <class T>
  std::span<const T> view(std::uint32_t variable) const {
    const std::span<const T> bytes = unverified<T>(variable);
    throw_unless_ok(ringside_step_verify(step_, variable));
    return bytes;
  }
  /// The same without reading it.
  template <class T>
  std::span<const T> unverified(std::uint32_t variable) const {
    check_type<T>(dtypes_, variable);
    const void* data = nullptr;
    std::size_t bytes = 0;
    throw_unless_ok(ringside_step_view(step_, variable, &data, &bytes));
    return {static_cast<const T*>(data), bytes / sizeof(T)};
  }

  /// Throws Error (RINGSIDE_OVERWRITTEN) if what was read until now may be of another step.
  void check() const { throw_unless_ok(ringside_step_check(step_)); }

  /// The last check, and the end of the hold.
  void close() { throw_unless_ok(ringside_step_release(std::exchange(step_, nullptr))); }

 private:
  friend class Reader;
  using Dtypes = std::shared_ptr<const std::vector<std::uint16_t>>;  // of the reader's variables

  Step(ringside_reader* reader, ringside_step* step, Dtypes dtypes)
      : reader_(reader), step_(step), dtypes_(std::move(dtypes)) {
    info_.size = sizeof(info_);
    ringside_step_describe(step_, &info_);
  }
  void throw_unless_ok(ringside_status status) const {
    if (status != RINGSIDE_OK) throw Error(*ringside_reader_error(reader_));
  }
  /// The library itself refuses a number that no variable has.
  template <class T>
  static void check_type(const Dtypes& dtypes, std::uint32_t variable) {
    if (variable < dtypes->size() && (*dtypes)[variable] != dtype_of<std::remove_const_t<T>>()) {
      throw Error(RINGSIDE_USAGE, "the variable has another dtype than the span", RINGSIDE_REASON_ARGUMENT);
    }
  }

  ringside_reader* reader_ = nullptr;
  ringside_step* step_ = nullptr;
  Dtypes dtypes_;
  ringside_step_info info_{};
};

/// As ringside_reader_options.
struct ReaderOptions {
  std::uint32_t follow = 0;
  double wait_s = 0;
  const volatile int* stop = nullptr;
};

/// A pool, read also while it is written.
class Reader {
 public:
  explicit Reader(const std::string& pool, const ReaderOptions& options = {}) {
    ringside_reader_options given{};
    given.size = sizeof(given);
    given.follow = options.follow;
    given.wait_s = options.wait_s;
    given.stop = options.stop;
    ringside_error error{};
    error.size = sizeof(error);
    const ringside_status status = ringside_reader_open(c_text("pool", pool), &given, &reader_, &error);
    if (status != RINGSIDE_OK) throw Error(error);
    variables_ = listed<ringside_variable>(ringside_reader_variables);
    std::vector<std::uint16_t> dtypes;
    for (const ringside_variable& variable : variables_) dtypes.push_back(variable.dtype);
    dtypes_ = std::make_shared<const std::vector<std::uint16_t>>(std::move(dtypes));
  }
  ~Reader() { ringside_reader_free(reader_); }
  Reader(Reader&& other) noexcept
      : reader_(std::exchange(other.reader_, nullptr)),
        variables_(std::move(other.variables_)),
        dtypes_(std::move(other.dtypes_)) {}
  Reader& operator=(Reader&& other) noexcept {
    std::swap(reader_, other.reader_);
    std::swap(variables_, other.variables_);
    std::swap(dtypes_, other.dtypes_);
    return *this;
  }

  /// The variables of every step; their texts are valid as long as the Reader.
  std::span<const ringside_variable> variables() const noexcept { return variables_; }
  /// The number of the variable with that name; nothing if there is none.
  std::optional<std::uint32_t> find(const std::string& name) const {
    std::uint32_t variable = 0;
    const ringside_status status =
        ringside_reader_find_variable(reader_, c_text("the name of a variable", name), &variable);
    if (status == RINGSIDE_ABSENT) return std::nullopt;
    throw_unless_ok(status);
    return variable;
  }

  /// The runs that the pool knows, the newest last. Their texts are valid until the next call.
  std::vector<ringside_run> runs() const { return listed<ringside_run>(ringside_reader_runs); }

  /// The committed steps, ascending.
  std::vector<ringside_step_info> steps() const { return listed<ringside_step_info>(ringside_reader_steps); }

  /// The oldest kept step after `after`; nothing if the run has ended, none comes within timeout_s (less than 0: no
  /// limit), or `stop` is set. Throws Error (RINGSIDE_PEER_LOST) if the run was left without an end.
  std::optional<ringside_step_info> next(std::uint64_t after, double timeout_s = -1) const {
    ringside_step_info info{};
    info.size = sizeof(info);
    const ringside_status status = ringside_reader_next(reader_, after, timeout_s, &info);
    if (status == RINGSIDE_END || status == RINGSIDE_TIMEOUT || status == RINGSIDE_INTERRUPTED) return std::nullopt;
    throw_unless_ok(status);
    return info;
  }

  /// Holds a step. Nothing: it is no longer kept, or the pool is empty.
  std::optional<Step> hold(std::uint64_t commit_seq = RINGSIDE_NEWEST) const {
    ringside_step* step = nullptr;
    const ringside_status status = ringside_reader_hold(reader_, commit_seq, &step);
    if (status == RINGSIDE_ABSENT || status == RINGSIDE_OVERWRITTEN) return std::nullopt;
    throw_unless_ok(status);
    return Step(reader_, step, dtypes_);
  }

  /// Copies a variable of a step, verified and without a hold. False: the step is no longer kept, or not there yet;
  /// what `to` holds is then not defined. Throws Error if T is not its dtype, `to` is too small, or it is damaged.
  template <class T>
  bool copy(std::uint64_t commit_seq, std::uint32_t variable, std::span<T> to) const {
    Step::check_type<T>(dtypes_, variable);
    const ringside_status status = ringside_reader_copy(reader_, commit_seq, variable, to.data(), to.size_bytes());
    if (status == RINGSIDE_ABSENT || status == RINGSIDE_OVERWRITTEN) return false;
    throw_unless_ok(status);
    return true;
  }
  /// The same into memory of its own; nothing in place of false.
  template <class T>
  std::optional<std::vector<T>> copied(std::uint64_t commit_seq, std::uint32_t variable) const {
    Step::check_type<T>(dtypes_, variable);
    const std::size_t bytes = variable < variables_.size() ? ringside_variable_bytes(&variables_[variable]) : 0;
    std::vector<T> made(bytes / sizeof(T));
    if (!copy(commit_seq, variable, std::span<T>(made))) return std::nullopt;
    return made;
  }

  /// What was recorded of a step, by name. Reductions that are not recorded yet have no values. Texts and values are
  /// valid until the next call.
  std::vector<ringside_result> results(std::uint64_t commit_seq) const {
    return listed<ringside_result>(
        [&](ringside_reader* reader, ringside_result* out, std::size_t room, std::size_t* count) {
          const ringside_status status = ringside_reader_results(reader, commit_seq, out, room, count);
          if (status == RINGSIDE_ABSENT) *count = 0;
          const bool listed = status == RINGSIDE_ABSENT || status == RINGSIDE_PENDING;
          return listed ? static_cast<ringside_status>(RINGSIDE_OK) : status;
        });
  }
  /// One of them; nothing if it is not there, or not yet. Valid as those.
  std::optional<ringside_result> result(std::uint64_t commit_seq, const std::string& name) const {
    ringside_result made{};
    made.size = sizeof(made);
    const ringside_status status =
        ringside_reader_find_result(reader_, commit_seq, c_text("the name of a result", name), &made);
    if (status == RINGSIDE_ABSENT || status == RINGSIDE_PENDING) return std::nullopt;
    throw_unless_ok(status);
    return made;
  }

  /// The first record of the journal whose seq is at least `from`: all steps, also those that the ring has overwritten.
  /// Nothing: there is none yet, or the pool has no journal. Its texts are valid until the next call.
  std::optional<ringside_record> next_record(std::uint64_t from) const {
    ringside_record made{};
    made.size = sizeof(made);
    const ringside_status status = ringside_reader_next_record(reader_, from, &made);
    if (status == RINGSIDE_END || status == RINGSIDE_ABSENT) return std::nullopt;
    throw_unless_ok(status);
    return made;
  }
  /// The results of that record, by name; none if it is no step. Texts and values are valid until the next call.
  std::vector<ringside_result> record_results() const {
    return listed<ringside_result>(ringside_reader_record_results);
  }

  ringside_reader* handle() const noexcept { return reader_; }

 private:
  void throw_unless_ok(ringside_status status) const {
    if (status != RINGSIDE_OK) throw Error(*ringside_reader_error(reader_));
  }

  /// What a function of ringside.h lists.
  template <class Struct, class List>
  std::vector<Struct> listed(const List& list) const {
    std::vector<Struct> made(16);
    std::size_t count = 0;
    while (true) {
      made.front().size = sizeof(Struct);
      throw_unless_ok(list(reader_, made.data(), made.size(), &count));
      const bool fits = count <= made.size();
      made.resize(count);
      if (fits) return made;
    }
  }

  ringside_reader* reader_ = nullptr;
  std::vector<ringside_variable> variables_;
  Step::Dtypes dtypes_;
};

}  // namespace abi0
}  // namespace ringside

#endif  // RINGSIDE_READER_HPP
