// SPDX-License-Identifier: BSD-3-Clause
// ClaimedStep: the object of `with run.step(k) as step`. A solver makes and leaves such an object in every step, when
// the solver's own data fill the caches. A class written in Python would touch several times as much memory
// (docs/publish/python.md#costs).
#include <cstddef>

#include "writer.hpp"

namespace ringside_python {
namespace {

struct ClaimedStep {
  PyObject_HEAD;
  PyObject* core;     // the Writer
  PyObject* scalars;  // a dict
  unsigned long long iteration;
  char open;  // whether the step is between __enter__ and __exit__
  char skipped;
  char wait;  // whether to wait for a buffer

  Writer& writer() const { return value_of<Writer>(core); }
};

PyTypeObject* writer_type = nullptr;

/// Calls guarded() with the step.
template <class Result, class Call>
Result guarded_step(PyObject* self, Result failed, const Call& call) {
  return guarded(failed, [&] { return call(*reinterpret_cast<ClaimedStep*>(self)); });
}

/// The number of a variable. Refuses a step that may not be written.
std::uint32_t index_of(const ClaimedStep& step, PyObject* name) {
  if (!step.open) {
    refuse("iteration " + std::to_string(step.iteration) +
           ": not claimed; expected `with run.step(k) as step`, and access to its arrays in this block");
  }
  return step.writer().index(name);
}

PyObject* make(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  PyObject *core = nullptr, *given = nullptr, *wait = Py_True;
  if (keywords != nullptr || !PyArg_UnpackTuple(arguments, "ClaimedStep", 2, 3, &core, &given, &wait)) return nullptr;
  if (Py_TYPE(core) != writer_type) {
    PyErr_SetString(PyExc_TypeError, "a step is made by Writer.step");
    return nullptr;
  }
  return guarded<PyObject*>(nullptr, [&] {
    const std::uint64_t iteration = iteration_of(given);
    Object self = called(PyType_GenericAlloc(type, 0));
    auto& step = *reinterpret_cast<ClaimedStep*>(self.get());
    step.iteration = iteration;
    step.wait = wait != Py_False;
    step.core = borrowed(core).release();
    step.scalars = called(PyDict_New()).release();
    return self.release();
  });
}

void destroy(PyObject* self) {
  auto& step = *reinterpret_cast<ClaimedStep*>(self);
  if (step.open) step.writer().forget_block();  // __enter__ was called without __exit__
  Py_XDECREF(step.core);
  Py_XDECREF(step.scalars);
  free_object(self);
}

PyObject* enter(PyObject* self, PyObject*) {
  return guarded_step<PyObject*>(self, nullptr, [&](ClaimedStep& step) {
    step.skipped = !step.writer().begin_block(step.iteration, step.wait);
    step.open = true;
    return borrowed(self).release();
  });
}

PyObject* leave(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return guarded_step<PyObject*>(self, nullptr, [&](ClaimedStep& step) {
    const bool publishes = (count == 0 || arguments[0] == Py_None) && !step.skipped;
    const bool was_open = std::exchange(step.open, false);
    if (!publishes && !was_open) return none().release();
    const bool lacks_scalars = publishes && step.scalars == nullptr;
    const Object scalars = borrowed(publishes ? step.scalars : nullptr);
    step.writer().end_block(step.iteration, scalars.get());
    if (lacks_scalars) refuse("scalars: found none; expected a dict");
    return none().release();
  });
}

PyObject* item(PyObject* self, PyObject* name) {
  return guarded_step<PyObject*>(self, nullptr,
                            [&](ClaimedStep& step) { return step.writer().array(step.core, index_of(step, name)).release(); });
}

int set_item(PyObject* self, PyObject* name, PyObject* value) {
  return guarded_step(self, -1, [&](ClaimedStep& step) {
    const std::uint32_t index = index_of(step, name);
    if (value == nullptr) raise(PyExc_TypeError, "an array of a step cannot be deleted");
    const Object own = step.writer().array(step.core, index);
    if (own.get() == value) return 0;  // after step["x"] += 1
    const Variable& variable = step.writer().variable(index);
    const Object given = call(attribute(imported("ringside.arguments").get(), "array_of").get(),
                              python_of("iteration " + std::to_string(step.iteration) + ": " + variable.name), borrowed(value));
    checked_buffer(variable, given.get());
    copy_array(own.get(), given.get());
    return 0;
  });
}

PyObject* previous(PyObject* self, PyObject* name) {
  return guarded_step<PyObject*>(self, nullptr, [&](ClaimedStep& step) {
    return step.writer().previous(step.core, index_of(step, name)).release();
  });
}

PyMethodDef step_methods[] = {
    {"__enter__", enter, METH_NOARGS, nullptr},
    {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(leave)), METH_FASTCALL, nullptr},
    {"previous", previous, METH_O,
     "previous($self, name, /)\n--\n\n"
     "The same variable of the step before, read-only: in place from the last published step, or a copy from\n"
     "the kept one. None in the first step of a new run. Valid in the block: later, another step may use its memory."},
    {}};

PyMemberDef step_members[] = {
    {"iteration", T_ULONGLONG, offsetof(ClaimedStep, iteration), READONLY, "The step's iteration."},
    {"scalars", T_OBJECT_EX, offsetof(ClaimedStep, scalars), 0,
     "Its scalars, by name. When the block ends, all declared scalars must be present."},
    {"skipped", T_BOOL, offsetof(ClaimedStep, skipped), READONLY,
     "True if there is no analyzer and on_analyzer_loss is \"continue\", or if no buffer was free and the step does "
     "not\n"
     "wait: the arrays are then not published."},
    {}};

constexpr char kStepDoc[] =
    "A step that is being written: step[\"x\"] is a NumPy array in shared memory, step.scalars[\"rho\"] a number.\n\n"
    "A context manager. Entering claims the buffer and waits while the analyzer copies from it. Leaving publishes the\n"
    "step; leaving by an exception does not. From then on, the arrays are read-only, because the analyzer reads them.\n"
    "step[\"x\"] = ... copies an array of the variable's dtype and shape; step[\"x\"][:] = ... converts as NumPy does.";

}  // namespace

void define_claimed_step(PyObject* module, PyTypeObject* writer) {
  writer_type = writer;
  PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>(kStepDoc)},
                         {Py_tp_new, reinterpret_cast<void*>(make)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
                         {Py_tp_methods, step_methods},
                         {Py_tp_members, step_members},
                         {Py_mp_subscript, reinterpret_cast<void*>(item)},
                         {Py_mp_ass_subscript, reinterpret_cast<void*>(set_item)},
                         {}};
  add_type(module, "ringside.ClaimedStep", sizeof(ClaimedStep), slots);
}

}  // namespace ringside_python
