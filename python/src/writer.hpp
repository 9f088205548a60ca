// SPDX-License-Identifier: BSD-3-Clause
// The writing half of the module: a ringside_writer as a Python object, and the step of this writer that is being
// written.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "arrays.hpp"

namespace ringside_python {

struct Scalar {
  std::string name;
  std::uint32_t type = RINGSIDE_VALUE_F64;
  std::string unit;
};

struct Options {
  std::optional<std::string> solver, problem, parameters, socket, pool, run_options;
  std::string problem_bytes;
  std::uint64_t work = 0;
  std::uint32_t buffers = 0;
  double peer_timeout_s = 0;
  std::uint32_t pool_use = 0;
  std::uint32_t on_analyzer_loss = 0;
  std::uint32_t coordination = 0;
};

/// Arrays of buffers have this object as their base, so that the buffers stay mapped as long as such an array exists.
class Writer {
 public:
  Writer(std::vector<Variable> variables, const std::vector<Scalar>& scalars, const Options& options);
  ~Writer() { ringside_writer_free(writer_.handle); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  std::optional<std::uint64_t> kept() {
    std::uint64_t iteration = 0;
    const ringside_status status = short_call([&](auto* writer) { return ringside_writer_kept(writer, &iteration); });
    return status == RINGSIDE_OK ? std::optional(iteration) : std::nullopt;
  }
  /// The account of a run whose analyzer the library started, as JSON, once the run has ended; before that, an empty
  /// text.
  const char* account() const { return ringside_writer_account(writer_.handle); }
  Object kept_variable(std::uint32_t index);
  Object kept_scalar(std::uint32_t index);

  /// The number of a variable. Raises UsageError if no variable has this name.
  std::uint32_t index(PyObject* name) const;
  const Variable& variable(std::uint32_t index) const { return variables_[index]; }

  /// Waits for the next step's buffer, which then belongs to a `with` block. Returns false if there is no analyzer
  /// ("continue"), or if no buffer is free and `wait` is false. Refuses if the block of another step has not ended,
  /// because both steps would have the same buffer.
  bool begin_block(std::uint64_t iteration, bool wait);
  /// scalars: the scalars by name; null: the step is not published. The block has ended even if this function raises.
  void end_block(std::uint64_t iteration, PyObject* scalars);
  /// For a block that was never left. Call this function when the block's object is destroyed.
  void forget_block() noexcept { in_block_ = 0; }
  /// The array of a variable of the claimed step: always the same object until the step is published.
  Object array(PyObject* self, std::uint32_t index);
  /// The read-only array of a variable of the previous step; None if there is no previous step.
  Object previous(PyObject* self, std::uint32_t index);
  void skip();
  /// Publishes a step in one call. variables: for each variable an array of any layout, or a list of buffers that
  /// together fill it, one after the other. Returns false if the step was skipped.
  bool publish_packed(PyObject* self, PyObject* iteration, PyObject* variables, PyObject* scalars, bool wait);
  /// The same for the usual arguments: a dict that has exactly one numpy.ndarray for each variable. For any other
  /// object, does nothing and returns nothing: writing.py converts it, or refuses it with the reason.
  std::optional<bool> publish_arrays(PyObject* self, PyObject* iteration, PyObject* arrays, PyObject* scalars,
                                     bool wait);
  void detach(std::uint32_t outcome);
  ringside_counts counts();
  /// The last reply of a trigger, as found by the last claim: the value, and the number of replies so far; 0: none.
  std::pair<double, std::uint64_t> reply();
  std::uint64_t last() const { return last_; }
  bool detached() const { return detached_; }

 private:
  /// While a thread has its turn to publish a step, from the claim to the publish, no other thread of the run can
  /// interfere. Other threads wait without the interpreter's lock, and a signal's handler may end their wait.
  class Turn {
   public:
    explicit Turn(Writer& writer);
    ~Turn() {
      if (lock_.owns_lock()) writer_.has_turn_.store({}, std::memory_order_relaxed);
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Writer& writer_;
    std::unique_lock<std::timed_mutex> lock_;
  };

  /// Refuses an iteration that cannot be the next step.
  void check_turn_of(std::uint64_t iteration) const;
  /// Claims a buffer for begin_block or publish_sources: one that is free, without more ado, or with claim_with_wait.
  bool claim(std::uint64_t iteration, bool wait);
  bool claim_with_wait(bool wait);
  bool publish_sources(PyObject* self, PyObject* iteration, const std::vector<Object>& variables, PyObject* scalars,
                       bool wait);
  void publish(std::uint64_t iteration, PyObject* scalars);
  /// Call this function after a publish: the arrays of the step become read-only, because the buffer now belongs to the
  /// analyzer.
  void has_published(std::uint64_t iteration);
  /// Returns the status of the call, or raises if it is a failure.
  template <class Function>
  ringside_status made(Call kind, const Function& call) {
    ringside_error error;  // 1 KB, which is written only after a failure
    const ringside_status status = with(writer_, ringside_writer_error, error, kind, call);
    if (status > 0) raise(error);
    return status;
  }
  template <class Function>
  ringside_status short_call(const Function& call) {
    return made(Call::kShort, call);
  }
  std::vector<ringside_value> values(std::uint64_t iteration, PyObject* scalars) const;

  Shared<ringside_writer> writer_;
  std::timed_mutex turn_;
  std::atomic<std::thread::id> has_turn_;
  std::vector<Variable> variables_;
  std::vector<std::size_t> bytes_;  // of each variable
  std::size_t step_bytes_ = 0;      // of all variables
  std::vector<Object> names_;       // of the variables
  Object numbers_;                  // a dict with the numbers of variables by name
  std::vector<std::uint32_t> scalar_types_;
  std::vector<Object> scalar_names_;
  std::vector<Object> written_;  // the arrays of the claimed step that were requested
  bool drops_ = false;               // whether no analyzer receives the claimed step
  std::uint64_t skipped_ = 0;        // the library's count of skipped steps
  std::uint64_t last_ = 0;           // iteration of the last step
  std::uint64_t in_block_ = 0;       // iteration of the step whose block has not ended; 0: none
  bool published_ = false;           // whether this run has published a step
  bool detached_ = false;
  volatile int stop_ = 0;
};

/// Converts an iteration, which must be a whole number of Python or NumPy. Raises UsageError for anything else.
std::uint64_t iteration_of(PyObject* given);

/// Adds the type of a step (claimed_step.cpp) to the module. writer: the type of Writer.
void define_claimed_step(PyObject* module, PyTypeObject* writer);

}  // namespace ringside_python
