// SPDX-License-Identifier: BSD-3-Clause
// Writer as a Python type: its arguments, methods and properties.
#include <memory>
#include <utility>

#include "writer.hpp"

namespace ringside_python {
namespace {

Variable variable_of(const Entries& given) {
  Variable made{text_of(given[0]), number_of<std::uint16_t>(given[1]), number_of<std::uint16_t>(given[2]), {}, text_of(given[4])};
  const Entries shape(given[3]);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    made.shape.push_back(static_cast<Py_ssize_t>(number_of<std::uint64_t>(shape[d])));
  }
  return made;
}

/// Makes a Writer. All arguments are required, and given by name.
PyObject* make_writer(PyTypeObject* type, PyObject* placed, PyObject* named) {
  return guarded<PyObject*>(nullptr, [&] {
    Py_ssize_t used = 0;
    const auto given = [&](const char* name) {
      PyObject* const found = named == nullptr ? nullptr : PyDict_GetItemString(named, name);
      if (found == nullptr) raise(PyExc_TypeError, std::string("Writer: no argument ") + name);
      ++used;
      return found;
    };
    std::vector<Variable> variables;
    std::vector<Scalar> scalars;
    Options options;
    const Entries described(given("variables")), numbers(given("scalars"));
    for (std::size_t v = 0; v < described.size(); ++v) variables.push_back(variable_of(Entries(described[v])));
    for (std::size_t s = 0; s < numbers.size(); ++s) {
      const Entries scalar(numbers[s]);
      scalars.push_back({text_of(scalar[0]), number_of<std::uint32_t>(scalar[1]), text_of(scalar[2])});
    }
    options.solver = optional_text_of(given("solver"));
    options.problem = optional_text_of(given("problem"));
    options.parameters = optional_text_of(given("parameters"));
    options.problem_bytes = text_of(given("problem_bytes"));
    options.work = number_of<std::uint64_t>(given("work"));
    options.socket = optional_text_of(given("socket"));
    options.pool = optional_text_of(given("pool"));
    options.run_options = optional_text_of(given("run_options"));
    options.buffers = number_of<std::uint32_t>(given("buffers"));
    options.peer_timeout_s = real_of(given("peer_timeout_s"));
    options.pool_use = number_of<std::uint32_t>(given("pool_use"));
    options.on_analyzer_loss = number_of<std::uint32_t>(given("on_analyzer_loss"));
    options.coordination = number_of<std::uint32_t>(given("coordination"));
    if (PyTuple_Size(placed) != 0 || used != PyDict_Size(named)) raise(PyExc_TypeError, "Writer: an argument is unknown");
    return instance_of(type, std::make_unique<Writer>(std::move(variables), scalars, options)).release();
  });
}

constexpr const char* kIndex[] = {"index"};
constexpr const char* kName[] = {"name"};
constexpr const char* kOutcome[] = {"outcome"};
constexpr const char* kStep[] = {"iteration", "variables", "scalars", "wait"};
constexpr const char* kArrays[] = {"iteration", "arrays", "scalars", "wait"};
using One = std::array<PyObject*, 1>;

Object kept_variable(Writer& writer, PyObject*, const One& given) {
  return writer.kept_variable(number_of<std::uint32_t>(given[0]));
}
Object kept_scalar(Writer& writer, PyObject*, const One& given) {
  return writer.kept_scalar(number_of<std::uint32_t>(given[0]));
}
Object index(Writer& writer, PyObject*, const One& given) {
  return python_of(writer.index(given[0]));
}
Object publish_packed(Writer& writer, PyObject* self, const std::array<PyObject*, 4>& given) {
  return python_of(writer.publish_packed(self, given[0], given[1], given[2], truth_of(given[3])));
}
Object publish_arrays(Writer& writer, PyObject* self, const std::array<PyObject*, 4>& given) {
  return python_of(writer.publish_arrays(self, given[0], given[1], given[2], truth_of(given[3])));
}
Object detach(Writer& writer, PyObject*, const One& given) {
  writer.detach(number_of<std::uint32_t>(given[0]));
  return none();
}
Object reply(Writer& writer) {
  const auto [value, number] = writer.reply();
  return number == 0 ? none() : tuple_of(value, number);
}
Object counts(Writer& writer) {
  const ringside_counts counts = writer.counts();
  return tuple_of(counts.published, counts.skipped, static_cast<double>(counts.idle_ns) * 1e-9);
}

PyMethodDef writer_methods[] = {
    {"kept", method<Writer, &Writer::kept>, METH_NOARGS,
     "kept($self)\n--\n\nThe iteration that the run continues from; None for a new run."},
    with_arguments("kept_variable", method<Writer, kIndex, kept_variable>,
                   "kept_variable($self, index)\n--\n\nA copy of the kept step's variable."),
    with_arguments("kept_scalar", method<Writer, kIndex, kept_scalar>,
                   "kept_scalar($self, index)\n--\n\nThe kept step's scalar, or None."),
    with_arguments("index", method<Writer, kName, index>, "index($self, name)\n--\n\nThe number of a variable."),
    {"skip", method<Writer, &Writer::skip>, METH_NOARGS, "skip($self)\n--\n\nCounts a step as skipped."},
    with_arguments(
        "publish_packed", method<Writer, kStep, publish_packed>,
        "publish_packed($self, iteration, variables, scalars, wait)\n--\n\n"
        "Claims a step, fills each variable (from an array of any layout, or from a list of C-contiguous buffers\n"
        "whose bytes follow one another), and publishes the step. Returns False if the step was skipped."),
    with_arguments(
        "publish_arrays", method<Writer, kArrays, publish_arrays>,
        "publish_arrays($self, iteration, arrays, scalars, wait)\n--\n\n"
        "The same for a dict with a numpy.ndarray for each variable. Does nothing and returns None for any other\n"
        "object, whose content must be converted or refused."),
    with_arguments("detach", method<Writer, kOutcome, detach>,
                   "detach($self, outcome)\n--\n\nEnds the run: returns when every step is committed."),
    {"reply", method<Writer, reply>, METH_NOARGS,
     "reply($self)\n--\n\n(value, number) of the last reply of a trigger; None if there was none."},
    {"account", method<Writer, &Writer::account>, METH_NOARGS,
     "account($self)\n--\n\nThe account of a run with its own analyzer, after the end of the run: JSON."},
    {"counts", method<Writer, counts>, METH_NOARGS, "counts($self)\n--\n\n(published, skipped, idle_s)."},
    {}};

PyGetSetDef writer_properties[] = {
    {"last", getter<Writer, &Writer::last>, nullptr, "The iteration of the last step: kept or published; or 0.", nullptr},
    {"detached", getter<Writer, &Writer::detached>, nullptr, "Whether the run has ended.", nullptr},
    {}};

constexpr char kWriterDoc[] =
    "Writer(*, variables, scalars, solver, problem, parameters, problem_bytes, work, socket, pool, run_options, buffers, peer_timeout_s, "
    "pool_use, on_analyzer_loss, coordination)\n--\n\n"
    "The handle of a run that is published: ringside_writer. Attaches to the analyzer and waits until it accepts.";

}  // namespace

void define_writer(PyObject* module) {
  PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>(kWriterDoc)},
                         {Py_tp_new, reinterpret_cast<void*>(make_writer)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(destroy_instance<Writer>)},
                         {Py_tp_methods, writer_methods},
                         {Py_tp_getset, writer_properties},
                         {}};
  define_claimed_step(module, add_type(module, "ringside._core.Writer", sizeof(Instance<Writer>), slots));
}

}  // namespace ringside_python
