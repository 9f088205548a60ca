// SPDX-License-Identifier: BSD-3-Clause
// A part of ringside.hpp: a run that is published.
#ifndef RINGSIDE_WRITER_HPP
#define RINGSIDE_WRITER_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "../ringside.h"
#include "variables.hpp"

namespace ringside {
inline namespace abi0 {

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
  bool shares_core = false;
  std::span<const std::int32_t> lent_cores{};  // to lend none in any case: no core, but data() that is not null
  const std::array<unsigned char, 16>* problem_id = nullptr;
  std::string pool{};         // without a socket: the library starts an analyzer for it
  std::string run_options{};  // of `ringside run`, for that analyzer
};

/// A run that is published. A Writer that is destroyed without a detach leaves a run that counts as lost.
class Writer {
 public:
  /// Attaches. Throws Error.
  Writer(const WriterOptions& options, const std::vector<Variable>& variables,
         const std::vector<Scalar>& scalars = {}) {
    std::vector<ringside_variable> all_variables;
    for (const Variable& variable : variables) {
      const char* name = c_text("the name of a variable", variable.name);
      if (variable.shape.size() > RINGSIDE_MOST_DIMS) {
        throw Error(RINGSIDE_USAGE, ("variable '" + variable.name + "': more than 8 dimensions").c_str(),
                    RINGSIDE_REASON_ARGUMENT);
      }
      ringside_variable& given = all_variables.emplace_back();
      given.size = sizeof(given);
      given.dtype = variable.dtype;
      given.role = variable.role;
      given.dims = static_cast<std::uint32_t>(variable.shape.size());
      given.name = name;
      given.unit = c_text("the unit of a variable", variable.unit);
      for (std::size_t d = 0; d < variable.shape.size(); ++d) given.shape[d] = variable.shape[d];
    }
    std::vector<ringside_scalar> all_scalars;
    for (const Scalar& scalar : scalars) {
      all_scalars.push_back({sizeof(ringside_scalar), scalar.type, c_text("the name of a scalar", scalar.name),
                             c_text("the unit of a scalar", scalar.unit)});
    }
    ringside_writer_options given{};
    given.size = sizeof(given);
    given.buffers = options.buffers;
    given.socket = text("socket", options.socket);
    given.peer_timeout_s = options.peer_timeout_s;
    given.pool_use = options.pool_use;
    given.on_analyzer_loss = options.on_analyzer_loss;
    given.solver = text("solver", options.solver);
    given.problem = text("problem", options.problem);
    given.parameters = text("parameters", options.parameters);
    given.problem_bytes = options.problem_bytes.data();
    given.problem_bytes_count = options.problem_bytes.size();
    given.work = options.work;
    given.stop = options.stop;
    given.coordination = options.coordination;
    given.shares_core = options.shares_core ? 1 : 0;
    given.lent_cores = options.lent_cores.data();
    given.lent_core_count = options.lent_cores.size();
    given.pool = text("pool", options.pool);
    given.run_options = text("run_options", options.run_options);
    given.problem_id = options.problem_id == nullptr ? nullptr : options.problem_id->data();
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
    arrays_.resize(variables.size());
  }
  ~Writer() { ringside_writer_free(writer_); }
  Writer(Writer&& other) noexcept
      : writer_(std::exchange(other.writer_, nullptr)),
        dtypes_(std::move(other.dtypes_)),
        entries_(std::move(other.entries_)),
        arrays_(std::move(other.arrays_)) {}
  Writer& operator=(Writer&& other) noexcept {
    std::swap(writer_, other.writer_);
    std::swap(dtypes_, other.dtypes_);
    std::swap(entries_, other.entries_);
    std::swap(arrays_, other.arrays_);
    return *this;
  }

  /// The iteration of the kept step that the run continues from; nothing if it begins anew, or after the first publish.
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
  /// The same without waiting: false if no buffer is free. A solver that continues without the step calls skip().
  bool try_claim() { return claimed(ringside_writer_try_claim(writer_)); }
  /// The same without any wait, also not for another analyzer: false if no buffer is free, if the analyzer is lost or
  /// ends the run, or if the run is to stop.
  bool claim_at_once() { return claimed(ringside_writer_claim_at_once(writer_)); }
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

  /// The same, with the time that the solver measured for making the step.
  void publish_timed(std::uint64_t iteration, std::int64_t generate_ns, std::span<const ringside_value> scalars = {}) {
    throw_unless_ok(ringside_writer_publish_timed(writer_, iteration, generate_ns, scalars.data(), scalars.size()));
  }
  void publish_timed(std::uint64_t iteration, std::int64_t generate_ns, std::initializer_list<ringside_value> scalars) {
    publish_timed(iteration, generate_ns, std::span(scalars.begin(), scalars.size()));
  }

  /// Claims, copies an array for each variable, and publishes: run.put(k, {x, y}). False as claim(). Throws Error if an
  /// array has another dtype or number of entries than its variable.
  bool put(std::uint64_t iteration, std::span<const Array> arrays, std::span<const ringside_value> scalars = {}) {
    if (arrays.size() != arrays_.size()) {
      throw Error(RINGSIDE_USAGE, "expected one array for each variable", RINGSIDE_REASON_ARGUMENT);
    }
    for (std::uint32_t v = 0; v < arrays.size(); ++v) {
      check_type(v, arrays[v].dtype());
      if (arrays[v].entries() != entries_[v]) {
        throw Error(RINGSIDE_USAGE, "the array has another number of entries than its variable",
                    RINGSIDE_REASON_ARGUMENT);
      }
      arrays_[v] = arrays[v].data();
    }
    return claimed(ringside_writer_put(writer_, iteration, arrays_.data(), scalars.data(), scalars.size()));
  }
  bool put(std::uint64_t iteration, std::initializer_list<Array> arrays,
           std::initializer_list<ringside_value> scalars = {}) {
    return put(iteration, std::span(arrays.begin(), arrays.size()), std::span(scalars.begin(), scalars.size()));
  }

  /// Ends the run: returns when every published step is committed. Throws Error if one is not.
  void detach(std::uint32_t outcome = RINGSIDE_OUTCOME_FINISHED) {
    throw_unless_ok(ringside_writer_detach(writer_, outcome));
  }

  /// This run: a resumed one has the run_id of the run that it continues. Its texts are valid as long as the Writer.
  ringside_run run() const {
    ringside_run made{};
    made.size = sizeof(made);
    throw_unless_ok(ringside_writer_run(writer_, &made));
    return made;
  }

  /// Of a run with `pool`, after its detach: the account, a JSON object; otherwise "".
  std::string_view account() const noexcept { return ringside_writer_account(writer_); }
  /// A message of the analyzer to the user about the attachment; "" in most cases.
  std::string_view note() const noexcept { return ringside_writer_note(writer_); }

  ringside_counts counts() const {
    ringside_counts made{};
    made.size = sizeof(made);
    throw_unless_ok(ringside_writer_counts(writer_, &made));
    return made;
  }

  /// What a trigger of the run has answered with `reply:VALUE`.
  struct Reply {
    double value = 0;
    std::uint64_t number = 0;  // of replies so far: a new one has a greater one
  };
  /// As the last claim found it; nothing if there was none.
  std::optional<Reply> reply() const {
    Reply made;
    const ringside_status status = ringside_writer_reply(writer_, &made.value, &made.number);
    if (status == RINGSIDE_ABSENT) return std::nullopt;
    throw_unless_ok(status);
    return made;
  }

  ringside_writer* handle() const noexcept { return writer_; }

 private:
  static const char* text(const char* what, const std::string& given) {
    return given.empty() ? nullptr : c_text(what, given);
  }

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
    check_type(variable, dtype_of<std::remove_const_t<T>>());
  }
  void check_type(std::uint32_t variable, std::uint16_t dtype) const {
    if (variable >= dtypes_.size())
      throw Error(RINGSIDE_USAGE, "no variable has that number", RINGSIDE_REASON_ARGUMENT);
    if (dtypes_[variable] != dtype) {
      throw Error(RINGSIDE_USAGE, "the variable has another dtype than the span or array", RINGSIDE_REASON_ARGUMENT);
    }
  }

  ringside_writer* writer_ = nullptr;
  std::vector<std::uint16_t> dtypes_;
  std::vector<std::size_t> entries_;
  std::vector<const void*> arrays_;  // of put, which allocates nothing
};

}  // namespace abi0
}  // namespace ringside

#endif  // RINGSIDE_WRITER_HPP
