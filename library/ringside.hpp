// SPDX-License-Identifier: BSD-3-Clause
// The C++20 face of ringside.h: handles that release what they own, spans, exceptions with the same line. A header
// only.
//
//     ringside::Writer run({.solver = "heat"}, {ringside::field<double>("temperature", {n}, "K")});
//     for (std::uint64_t k = run.next_iteration(); k <= 100 && run.claim(); ++k) {
//       iterate(run.buffer<double>(0));
//       run.publish(k);
//     }
//     run.detach();
//
// Everything else (threads, fork, lifetimes, units) is as ringside.h says.
#ifndef RINGSIDE_HPP
#define RINGSIDE_HPP

#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ringside.h"

namespace ringside {
// The names of this interface; the library has others of its own inside.
inline namespace abi0 {

/// what() is one line; status() one of RINGSIDE_USAGE ... RINGSIDE_INTERRUPTED, or RINGSIDE_OVERWRITTEN of a step whose
/// slot was needed.
class Error : public std::runtime_error {
 public:
  Error(ringside_status status, const char* line, std::uint32_t reason = 0)
      : std::runtime_error(line), status_(status), reason_(reason) {}
  explicit Error(const ringside_error& error) : Error(error.status, error.line, error.reason) {}
  ringside_status status() const noexcept { return status_; }
  /// RINGSIDE_REASON_..., if status() is RINGSIDE_USAGE.
  std::uint32_t reason() const noexcept { return reason_; }

 private:
  ringside_status status_;
  std::uint32_t reason_;
};

/// The dtype of an array of T: float, double, their std::complex, and the integers of 8 to 64 bits.
template <class T>
constexpr std::uint16_t dtype_of() noexcept {
  if constexpr (std::is_same_v<T, float>)
    return RINGSIDE_F32;
  else if constexpr (std::is_same_v<T, double>)
    return RINGSIDE_F64;
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return RINGSIDE_C64;
  else if constexpr (std::is_same_v<T, std::complex<double>>)
    return RINGSIDE_C128;
  else {
    static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool>, "no dtype of Ringside");
    constexpr std::uint16_t first = std::is_signed_v<T> ? RINGSIDE_I8 : RINGSIDE_U8;
    return static_cast<std::uint16_t>(first + (sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3));
  }
}

/// A variable of a run: a named array, row-major. An empty shape is one entry.
struct Variable {
  std::string name;
  std::uint16_t dtype = RINGSIDE_F64;
  std::vector<std::uint64_t> shape{};
  std::uint16_t role = RINGSIDE_ROLE_FIELD;
  std::string unit{};
};

/// A variable that is kept and reduced.
template <class T>
Variable field(std::string name, std::vector<std::uint64_t> shape, std::string unit = {}) {
  return {std::move(name), dtype_of<T>(), std::move(shape), RINGSIDE_ROLE_FIELD, std::move(unit)};
}
/// A variable that is kept only: what the solver needs to go on.
template <class T>
Variable state(std::string name, std::vector<std::uint64_t> shape, std::string unit = {}) {
  return {std::move(name), dtype_of<T>(), std::move(shape), RINGSIDE_ROLE_STATE, std::move(unit)};
}

/// A number that the solver publishes with each step; recorded as solver.NAME.
struct Scalar {
  std::string name;
  std::uint32_t type = RINGSIDE_VALUE_F64;
  std::string unit{};
};

/// A double or an integer as a scalar's value.
inline ringside_value value(double number) noexcept {
  ringside_value made;
  made.f64 = number;
  return made;
}
inline ringside_value value(std::int64_t number) noexcept {
  ringside_value made;
  made.i64 = number;
  return made;
}

/// As ringside_writer_options: what is empty or 0 comes from the environment of `ringside run -- PROGRAM`, or is a
/// default.
struct WriterOptions {
  std::string solver{};
  std::string problem{};
  std::string parameters{};
  std::span<const std::byte> problem_bytes{};
  std::uint64_t work = 0;
  std::string socket{};
  std::uint32_t buffers = 0;
  double peer_timeout_s = 0;
  std::uint32_t pool_use = 0;
  std::uint32_t on_analyzer_loss = 0;
  const volatile int* stop = nullptr;
  std::uint32_t coordination = 0;
};

/// A run that is published. A Writer that is destroyed without a detach leaves a run that counts as lost.
class Writer {
 public:
  /// Attaches. Throws Error.
  Writer(const WriterOptions& options, const std::vector<Variable>& variables,
         const std::vector<Scalar>& scalars = {}) {
    std::vector<ringside_variable> all_variables;
    for (const Variable& variable : variables) {
      if (variable.shape.size() > RINGSIDE_MOST_DIMS) {
        throw Error(RINGSIDE_USAGE, ("variable '" + variable.name + "': more than 8 dimensions").c_str(),
                    RINGSIDE_REASON_ARGUMENT);
      }
      ringside_variable& given = all_variables.emplace_back();
      given.size = sizeof(given);
      given.dtype = variable.dtype;
      given.role = variable.role;
      given.dims = static_cast<std::uint32_t>(variable.shape.size());
      given.name = variable.name.c_str();
      given.unit = variable.unit.c_str();
      for (std::size_t d = 0; d < variable.shape.size(); ++d) given.shape[d] = variable.shape[d];
    }
    std::vector<ringside_scalar> all_scalars;
    for (const Scalar& scalar : scalars) {
      all_scalars.push_back({sizeof(ringside_scalar), scalar.type, scalar.name.c_str(), scalar.unit.c_str()});
    }
    ringside_writer_options given{};
    given.size = sizeof(given);
    given.buffers = options.buffers;
    given.socket = text(options.socket);
    given.peer_timeout_s = options.peer_timeout_s;
    given.pool_use = options.pool_use;
    given.on_analyzer_loss = options.on_analyzer_loss;
    given.solver = text(options.solver);
    given.problem = text(options.problem);
    given.parameters = text(options.parameters);
    given.problem_bytes = options.problem_bytes.data();
    given.problem_bytes_count = options.problem_bytes.size();
    given.work = options.work;
    given.stop = options.stop;
    given.coordination = options.coordination;
    ringside_error error{};
    error.size = sizeof(error);
    const ringside_status status = ringside_writer_attach(&given, all_variables.data(), all_variables.size(),
                                                          all_scalars.data(), all_scalars.size(), &writer_, &error);
    if (status != RINGSIDE_OK) throw Error(error);
    for (const Variable& variable : variables) dtypes_.push_back(variable.dtype);
    for (std::size_t v = 0; v < variables.size(); ++v) {
      std::size_t entries = 1;
      for (const std::uint64_t extent : variables[v].shape) entries *= extent;
      entries_.push_back(entries);
    }
  }
  ~Writer() { ringside_writer_free(writer_); }
  Writer(Writer&& other) noexcept
      : writer_(std::exchange(other.writer_, nullptr)),
        dtypes_(std::move(other.dtypes_)),
        entries_(std::move(other.entries_)) {}
  Writer& operator=(Writer&& other) noexcept {
    std::swap(writer_, other.writer_);
    std::swap(dtypes_, other.dtypes_);
    std::swap(entries_, other.entries_);
    return *this;
  }

  /// The iteration of the kept step that the run goes on from; nothing if it begins anew, or after the first publish.
  std::optional<std::uint64_t> kept_iteration() const {
    std::uint64_t iteration = 0;
    const ringside_status status = ringside_writer_kept(writer_, &iteration);
    if (status == RINGSIDE_ABSENT) return std::nullopt;
    throw_unless_ok(status);
    return iteration;
  }
  /// Before the first publish: that iteration + 1, or 1.
  std::uint64_t next_iteration() const { return kept_iteration().value_or(0) + 1; }

  /// The kept step's variable; empty if the run begins anew. Valid until the first publish. Throws Error if T is not
  /// its dtype.
  template <class T>
  std::span<const T> kept(std::uint32_t variable) const {
    check_type<T>(variable);
    const void* data = nullptr;
    std::size_t bytes = 0;
    const ringside_status status = ringside_writer_kept_variable(writer_, variable, &data, &bytes);
    if (status == RINGSIDE_ABSENT) return {};
    throw_unless_ok(status);
    return {static_cast<const T*>(data), bytes / sizeof(T)};
  }
  /// The kept step's scalar; nothing if the run begins anew or the step does not have it.
  std::optional<ringside_value> kept_scalar(std::uint32_t scalar) const {
    ringside_value value{};
    const ringside_status status = ringside_writer_kept_scalar(writer_, scalar, &value);
    if (status == RINGSIDE_ABSENT) return std::nullopt;
    throw_unless_ok(status);
    return value;
  }

  /// Waits for the buffer of the next step. False: the run is to stop (`stop` is set), or there is no analyzer and
  /// on_analyzer_loss is RINGSIDE_LOSS_SKIP. Throws Error for a failure.
  bool claim() { return claimed(ringside_writer_claim(writer_)); }
  /// The same without waiting: false if no buffer is free. A solver that goes on without the step calls skip().
  bool try_claim() { return claimed(ringside_writer_try_claim(writer_)); }
  void skip() { throw_unless_ok(ringside_writer_skip(writer_)); }
  /// The same for the last step of a run that was stopped.
  bool claim_last() { return claimed(ringside_writer_claim_last(writer_)); }

  /// A variable of the claimed step. Throws Error if T is not its dtype or no step is claimed.
  template <class T>
  std::span<T> buffer(std::uint32_t variable) const {
    check_type<T>(variable);
    void* data = ringside_writer_buffer(writer_, variable);
    if (data == nullptr) throw Error(RINGSIDE_USAGE, "no step is claimed", RINGSIDE_REASON_ARGUMENT);
    return {static_cast<T*>(data), entries_[variable]};
  }

  /// The same variable of the step before, or of the kept one; empty if there is none. Valid between a claim and its
  /// publish.
  template <class T>
  std::span<const T> previous(std::uint32_t variable) const {
    check_type<T>(variable);
    const void* data = ringside_writer_previous(writer_, variable);
    if (data == nullptr) return {};
    return {static_cast<const T*>(data), entries_[variable]};
  }

  /// scalars: in the order declared.
  void publish(std::uint64_t iteration, std::span<const ringside_value> scalars = {}) {
    throw_unless_ok(ringside_writer_publish(writer_, iteration, scalars.data(), scalars.size()));
  }
  void publish(std::uint64_t iteration, std::initializer_list<ringside_value> scalars) {
    publish(iteration, std::span(scalars.begin(), scalars.size()));
  }

  /// Ends the run: returns when every published step is committed. Throws Error if one is not.
  void detach(std::uint32_t outcome = RINGSIDE_OUTCOME_FINISHED) {
    throw_unless_ok(ringside_writer_detach(writer_, outcome));
  }

  /// What the analyzer has to say to the user about the attachment; "" in most cases.
  std::string_view note() const noexcept { return ringside_writer_note(writer_); }

  ringside_counts counts() const {
    ringside_counts made{};
    made.size = sizeof(made);
    throw_unless_ok(ringside_writer_counts(writer_, &made));
    return made;
  }

  ringside_writer* handle() const noexcept { return writer_; }

 private:
  static const char* text(const std::string& given) noexcept { return given.empty() ? nullptr : given.c_str(); }

  void throw_unless_ok(ringside_status status) const {
    if (status != RINGSIDE_OK) throw Error(*ringside_writer_error(writer_));
  }
  bool claimed(ringside_status status) const {
    if (status == RINGSIDE_OK) return true;
    if (status == RINGSIDE_FULL || status == RINGSIDE_INTERRUPTED) return false;
    throw Error(*ringside_writer_error(writer_));
  }
  template <class T>
  void check_type(std::uint32_t variable) const {
    if (variable >= dtypes_.size())
      throw Error(RINGSIDE_USAGE, "no variable has that number", RINGSIDE_REASON_ARGUMENT);
    if (dtypes_[variable] != dtype_of<std::remove_const_t<T>>()) {
      throw Error(RINGSIDE_USAGE, "the variable has another dtype than the span that was asked for",
                  RINGSIDE_REASON_ARGUMENT);
    }
  }

  ringside_writer* writer_ = nullptr;
  std::vector<std::uint16_t> dtypes_;
  std::vector<std::size_t> entries_;
};

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
    if (variable < dtypes_->size() && (*dtypes_)[variable] != dtype_of<std::remove_const_t<T>>()) {
      throw Error(RINGSIDE_USAGE, "the variable has another dtype than the span that was asked for",
                  RINGSIDE_REASON_ARGUMENT);
    }
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
    const ringside_status status = ringside_reader_open(pool.c_str(), &given, &reader_, &error);
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
    const ringside_status status = ringside_reader_find_variable(reader_, name.c_str(), &variable);
    if (status == RINGSIDE_ABSENT) return std::nullopt;
    throw_unless_ok(status);
    return variable;
  }

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
    const ringside_status status = ringside_reader_find_result(reader_, commit_seq, name.c_str(), &made);
    if (status == RINGSIDE_ABSENT || status == RINGSIDE_PENDING) return std::nullopt;
    throw_unless_ok(status);
    return made;
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

#endif  // RINGSIDE_HPP
