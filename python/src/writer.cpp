// SPDX-License-Identifier: BSD-3-Clause
// The writing half of the module: a ringside_writer as a Python object.
#include <cstring>
#include <memory>
#include <optional>

#include "core.hpp"
#include "signal_watch.hpp"

namespace ringside_python {
namespace {

using VariableTuple = std::tuple<std::string, std::uint16_t, std::uint16_t, std::vector<py::ssize_t>, std::string>;
using ScalarTuple = std::tuple<std::string, std::uint32_t, std::string>;

struct Options {
  std::optional<std::string> solver, problem, parameters, socket;
  std::string problem_bytes;
  std::uint64_t work = 0;
  std::uint32_t buffers = 0;
  double peer_timeout_s = 0;
  std::uint32_t pool_use = 0;
  std::uint32_t on_analyzer_loss = 0;
  std::uint32_t coordination = 0;
};

const char* text(const std::optional<std::string>& given) {
  return given ? given->c_str() : nullptr;
}

/// Arrays of buffers have this object as their base, so the buffers stay mapped as long as there is one.
class Writer {
 public:
  Writer(const std::vector<VariableTuple>& variables, const std::vector<ScalarTuple>& scalars, const Options& options);
  ~Writer() { ringside_writer_free(writer_.handle); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  std::optional<std::uint64_t> kept() {
    std::uint64_t iteration = 0;
    const ringside_status status = short_call([&](auto* writer) { return ringside_writer_kept(writer, &iteration); });
    return status == RINGSIDE_OK ? std::optional(iteration) : std::nullopt;
  }
  py::array kept_variable(std::uint32_t index);
  py::object kept_scalar(std::uint32_t index);

  bool claim(std::uint64_t iteration);
  static py::array buffer(const py::object& self, std::uint32_t index);
  static py::object previous(const py::object& self, std::uint32_t index);
  void skip() { short_call(ringside_writer_skip); }
  void publish(std::uint64_t iteration, const py::sequence& scalars);
  bool publish_arrays(std::uint64_t iteration, const std::vector<py::array>& arrays, const py::sequence& scalars);
  void detach(std::uint32_t outcome);
  py::tuple counts();
  std::uint64_t last() const { return last_; }
  bool detached() const { return detached_; }

 private:
  /// The status of the call, if it is no failure. Raises otherwise.
  template <class Function>
  ringside_status made(Call kind, const Function& call) {
    ringside_error error{};
    const ringside_status status = with(writer_, ringside_writer_error, error, kind, call);
    if (status > 0) raise(error);
    return status;
  }
  template <class Function>
  ringside_status short_call(const Function& call) {
    return made(Call::kShort, call);
  }
  std::vector<ringside_value> values(const py::sequence& scalars) const;

  Shared<ringside_writer> writer_;
  std::vector<Variable> variables_;
  std::vector<std::uint32_t> scalar_types_;
  std::vector<py::object> written_;  // arrays of the claimed step
  std::uint64_t last_ = 0;           // iteration
  bool published_ = false;           // a step of this run
  bool detached_ = false;
  volatile int stop_ = 0;
};

Writer::Writer(const std::vector<VariableTuple>& variables, const std::vector<ScalarTuple>& scalars,
               const Options& options) {
  std::vector<ringside_variable> given_variables;
  variables_.reserve(variables.size());
  for (const auto& [name, dtype, role, shape, unit] : variables) {
    const Variable& own = variables_.emplace_back(Variable{name, dtype, role, shape, unit});
    if (shape.size() > RINGSIDE_MOST_DIMS) {
      refuse("variable '" + name + "': " + std::to_string(shape.size()) + " dimensions; expected 0 to 8");
    }
    ringside_variable& given = given_variables.emplace_back();
    given = {};
    given.size = sizeof(given);
    given.dtype = dtype;
    given.role = role;
    given.dims = static_cast<std::uint32_t>(shape.size());
    given.name = own.name.c_str();
    given.unit = own.unit.c_str();
    for (std::size_t d = 0; d < shape.size(); ++d) given.shape[d] = static_cast<std::uint64_t>(shape[d]);
  }
  std::vector<ringside_scalar> given_scalars;
  for (const auto& [name, type, unit] : scalars) {
    given_scalars.push_back({sizeof(ringside_scalar), type, name.c_str(), unit.c_str()});
    scalar_types_.push_back(type);
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
  given.stop = &stop_;
  given.coordination = options.coordination;
  SignalWatch::find_handlers();
  SignalWatch watch(stop_);
  for (;;) {
    ringside_error error{};
    error.size = sizeof(error);
    ringside_status status = RINGSIDE_OK;
    {
      const Released released;
      status = ringside_writer_attach(&given, given_variables.data(), given_variables.size(), given_scalars.data(),
                                      given_scalars.size(), &writer_.handle, &error);
    }
    if (status == RINGSIDE_OK) break;
    if (status != RINGSIDE_INTERRUPTED || !watch.came()) raise(error);
  }
  last_ = kept().value_or(0);
}

py::array Writer::kept_variable(std::uint32_t index) {
  if (index >= variables_.size()) refuse("no variable has that number");
  const Variable& variable = variables_[index];
  py::array copied(dtype_of(variable.dtype), variable.shape);
  void* to = copied.mutable_data();
  const std::size_t room = variable.bytes();
  const ringside_status status = made(Call::kLong, [&](auto* writer) {
    const void* data = nullptr;
    std::size_t bytes = 0;
    const ringside_status found = ringside_writer_kept_variable(writer, index, &data, &bytes);
    if (found == RINGSIDE_OK) std::memcpy(to, data, std::min(bytes, room));
    return found;
  });
  if (status != RINGSIDE_OK) refuse(variable.name + ": the kept step can be read until the first publish");
  return copied;
}

py::object Writer::kept_scalar(std::uint32_t index) {
  ringside_value value{};
  const ringside_status status =
      short_call([&](auto* writer) { return ringside_writer_kept_scalar(writer, index, &value); });
  if (status != RINGSIDE_OK) return py::none();
  if (scalar_types_[index] == RINGSIDE_VALUE_I64) return py::int_(value.i64);
  return py::float_(value.f64);
}

bool Writer::claim(std::uint64_t iteration) {
  if (detached_) refuse("iteration " + std::to_string(iteration) + ": this run has ended; publish another one");
  if (iteration <= last_) {
    refuse("iteration " + std::to_string(iteration) + ": expected more than " + std::to_string(last_) +
           ", the one before");
  }
  written_.clear();
  const auto skipped = [this] {
    ringside_counts counts{};
    counts.size = sizeof(counts);
    short_call([&](auto* writer) { return ringside_writer_counts(writer, &counts); });
    return counts.skipped;
  };
  const std::uint64_t skipped_before = skipped();
  SignalWatch watch(stop_);
  for (;;) {
    ringside_error error{};
    const ringside_status status = with(writer_, ringside_writer_error, error, Call::kLong, ringside_writer_claim);
    // A step for which no analyzer is there goes to memory that is dropped; here it has none.
    if (status == RINGSIDE_OK) return skipped() == skipped_before;
    if (status != RINGSIDE_INTERRUPTED || !watch.came()) raise(error);
  }
}

py::array Writer::buffer(const py::object& self, std::uint32_t index) {
  Writer& writer = self.cast<Writer&>();
  void* data = nullptr;
  writer.short_call([&](auto* handle) {
    data = ringside_writer_buffer(handle, index);
    return ringside_writer_kept(handle, nullptr);  // refuses a child of fork(), whose buffers are not its own
  });
  if (data == nullptr) refuse("no step is claimed; its arrays can be written until the step is published");
  return writer.written_.emplace_back(array_at(writer.variables_[index], data, self, true));
}

py::object Writer::previous(const py::object& self, std::uint32_t index) {
  Writer& writer = self.cast<Writer&>();
  if (!writer.published_) {  // the memory of a kept step goes at the first publish: a copy
    if (!writer.kept()) return py::none();
    py::array copied = writer.kept_variable(index);
    make_read_only(copied);
    return copied;
  }
  const void* data = nullptr;
  writer.short_call([&](auto* handle) {
    data = ringside_writer_previous(handle, index);
    return ringside_writer_kept(handle, nullptr);  // refuses a child of fork()
  });
  if (data == nullptr) refuse("no variable has that number");
  return array_at(writer.variables_[index], data, self, false);
}

std::vector<ringside_value> Writer::values(const py::sequence& scalars) const {
  std::vector<ringside_value> made;
  for (std::size_t s = 0; s < scalars.size() && s < scalar_types_.size(); ++s) {
    ringside_value& value = made.emplace_back();
    const py::object given = scalars[s];
    if (scalar_types_[s] == RINGSIDE_VALUE_I64) {
      value.i64 = given.cast<std::int64_t>();
    } else {
      value.f64 = given.cast<double>();
    }
  }
  return made;
}

void Writer::publish(std::uint64_t iteration, const py::sequence& scalars) {
  const std::vector<ringside_value> given = values(scalars);
  short_call([&](auto* writer) { return ringside_writer_publish(writer, iteration, given.data(), given.size()); });
  last_ = iteration;
  published_ = true;
  for (const py::object& array : written_) make_read_only(array);
  written_.clear();
}

bool Writer::publish_arrays(std::uint64_t iteration, const std::vector<py::array>& arrays,
                            const py::sequence& scalars) {
  if (arrays.size() != variables_.size()) refuse("expected an array for each variable");
  for (std::size_t v = 0; v < arrays.size(); ++v) check_array(variables_[v], arrays[v]);
  const std::vector<ringside_value> given = values(scalars);
  if (!claim(iteration)) return false;
  std::vector<const void*> from;
  for (const py::array& array : arrays) from.push_back(array.data());
  std::vector<std::size_t> bytes;
  for (const Variable& variable : variables_) bytes.push_back(variable.bytes());
  made(Call::kLong, [&](auto* writer) {
    for (std::uint32_t v = 0; v < from.size(); ++v) std::memcpy(ringside_writer_buffer(writer, v), from[v], bytes[v]);
    return ringside_writer_publish(writer, iteration, given.data(), given.size());
  });
  last_ = iteration;
  published_ = true;
  return true;
}

void Writer::detach(std::uint32_t outcome) {
  if (detached_) return;
  detached_ = true;
  SignalWatch watch(stop_);
  made(Call::kLong, [&](auto* writer) { return ringside_writer_detach(writer, outcome); });
}

py::tuple Writer::counts() {
  ringside_counts counts{};
  counts.size = sizeof(counts);
  short_call([&](auto* writer) { return ringside_writer_counts(writer, &counts); });
  return py::make_tuple(counts.published, counts.skipped, static_cast<double>(counts.idle_ns) * 1e-9);
}

}  // namespace

void define_writer(py::module_& module) {
  py::class_<Writer>(module, "Writer", "The handle of a run that is published: ringside_writer.")
      .def(py::init([](const std::vector<VariableTuple>& variables, const std::vector<ScalarTuple>& scalars,
                       std::optional<std::string> solver, std::optional<std::string> problem,
                       std::optional<std::string> parameters, std::string problem_bytes, std::uint64_t work,
                       std::optional<std::string> socket, std::uint32_t buffers, double peer_timeout_s,
                       std::uint32_t pool_use, std::uint32_t on_analyzer_loss, std::uint32_t coordination) {
             return std::make_unique<Writer>(variables, scalars,
                                             Options{std::move(solver), std::move(problem), std::move(parameters),
                                                     std::move(socket), std::move(problem_bytes), work, buffers,
                                                     peer_timeout_s, pool_use, on_analyzer_loss, coordination});
           }),
           py::kw_only(), py::arg("variables"), py::arg("scalars"), py::arg("solver"), py::arg("problem"),
           py::arg("parameters"), py::arg("problem_bytes"), py::arg("work"), py::arg("socket"), py::arg("buffers"),
           py::arg("peer_timeout_s"), py::arg("pool_use"), py::arg("on_analyzer_loss"), py::arg("coordination"),
           "Attaches to the analyzer and waits until it accepts.")
      .def("kept", &Writer::kept, "The iteration that the run continues from; None for a new run.")
      .def("kept_variable", &Writer::kept_variable, py::arg("index"), "A copy of the kept step's variable.")
      .def("kept_scalar", &Writer::kept_scalar, py::arg("index"), "The kept step's scalar, or None.")
      .def_property_readonly("last", &Writer::last, "The iteration of the last step: kept or published; or 0.")
      .def_property_readonly("detached", &Writer::detached, "Whether the run has ended.")
      .def("claim", &Writer::claim, py::arg("iteration"),
           "Waits for the next step's buffer. False: no analyzer is there (\"continue\").")
      .def("buffer", &Writer::buffer, py::arg("index"), "A variable of the claimed step, in shared memory.")
      .def("previous", &Writer::previous, py::arg("index"),
           "A variable of the step that was published last, or of the kept one; None if there is none. Read-only.")
      .def("skip", &Writer::skip, "Counts a step as skipped.")
      .def("publish", &Writer::publish, py::arg("iteration"), py::arg("scalars"), "Publishes the claimed step.")
      .def("publish_arrays", &Writer::publish_arrays, py::arg("iteration"), py::arg("arrays"), py::arg("scalars"),
           "Claims a step, copies an array for each variable into it, and publishes it. False: as of claim.")
      .def("detach", &Writer::detach, py::arg("outcome"), "Ends the run: returns when every step is committed.")
      .def("counts", &Writer::counts, "(published, skipped, idle_s).");
}

}  // namespace ringside_python
