// SPDX-License-Identifier: BSD-3-Clause
// ClaimedStep: what `with run.step(k) as step` gives. A type of the interpreter's own C interface, because a solver
// makes and leaves one in every step, when its own data have taken the caches: calls through pybind11, and a class
// written in Python, touch several times the memory (docs/python.md#costs).
#include <cstddef>
#include <new>

#include "writer.hpp"

// Needs Python.h, which pybind11 includes.
#include <structmember.h>

namespace ringside_python {
namespace {

struct ClaimedStep {
  PyObject_HEAD;
  PyObject* core;     // the Writer
  PyObject* scalars;  // dict
  unsigned long long iteration;
  char open;  // between __enter__ and __exit__
  char skipped;
  char wait;  // for a buffer

  py::object owner() const { return py::reinterpret_borrow<py::object>(core); }
  Writer& writer() const {
    auto* instance = reinterpret_cast<py::detail::instance*>(core);
    return *static_cast<Writer*>(instance->get_value_and_holder().value_ptr());
  }
};

PyObject* writer_type = nullptr;

/// call(step) as a function of the interpreter's C interface; what it throws becomes Python's exception, and `failed`.
template <class Result, class Call>
Result guarded(PyObject* self, Result failed, const Call& call) noexcept {
  try {
    return call(*reinterpret_cast<ClaimedStep*>(self));
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const py::builtin_exception& error) {
    error.set_error();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return failed;
}

/// Its number, for a step that may be written.
std::uint32_t index_of(const ClaimedStep& step, PyObject* name) {
  if (!step.open) {
    refuse("iteration " + std::to_string(step.iteration) +
           ": not claimed; expected `with run.step(k) as step`, and its arrays inside");
  }
  return step.writer().index(name);
}

PyObject* make(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  PyObject *core = nullptr, *given = nullptr, *wait = Py_True;
  if (keywords != nullptr || !PyArg_UnpackTuple(arguments, "ClaimedStep", 2, 3, &core, &given, &wait)) return nullptr;
  if (reinterpret_cast<PyObject*>(Py_TYPE(core)) != writer_type) {
    PyErr_SetString(PyExc_TypeError, "a step is made by Writer.step");
    return nullptr;
  }
  PyObject* self = type->tp_alloc(type, 0);
  if (self == nullptr) return nullptr;
  PyObject* made = guarded<PyObject*>(self, nullptr, [&](ClaimedStep& step) {
    step.iteration = iteration_of(given);
    step.wait = wait != Py_False;
    step.core = py::reinterpret_borrow<py::object>(core).release().ptr();
    step.scalars = py::dict().release().ptr();
    return self;
  });
  if (made == nullptr) Py_DECREF(self);
  return made;
}

void destroy(PyObject* self) {
  auto& step = *reinterpret_cast<ClaimedStep*>(self);
  if (step.open) step.writer().forget_block();  // it was entered by hand
  Py_XDECREF(step.core);
  Py_XDECREF(step.scalars);
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* enter(PyObject* self, PyObject*) {
  return guarded<PyObject*>(self, nullptr, [&](ClaimedStep& step) {
    step.skipped = !step.writer().begin_block(step.iteration, step.wait);
    step.open = true;
    return py::reinterpret_borrow<py::object>(self).release().ptr();
  });
}

PyObject* leave(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return guarded<PyObject*>(self, nullptr, [&](ClaimedStep& step) {
    const bool publishes = (count == 0 || arguments[0] == Py_None) && !step.skipped;
    const bool was_open = std::exchange(step.open, false);
    if (!publishes && !was_open) return py::none().release().ptr();
    const bool lacks_scalars = publishes && step.scalars == nullptr;
    step.writer().end_block(step.iteration, publishes ? py::reinterpret_borrow<py::object>(step.scalars) : py::object());
    if (lacks_scalars) refuse("scalars: found none; expected a dict");
    return py::none().release().ptr();
  });
}

PyObject* item(PyObject* self, PyObject* name) {
  return guarded<PyObject*>(self, nullptr, [&](ClaimedStep& step) {
    return step.writer().array(step.owner(), index_of(step, name)).release().ptr();
  });
}

int set_item(PyObject* self, PyObject* name, PyObject* value) {
  return guarded(self, -1, [&](ClaimedStep& step) {
    const std::uint32_t index = index_of(step, name);
    if (value == nullptr) throw py::type_error("an array of a step cannot be deleted");
    py::object own = step.writer().array(step.owner(), index);
    if (own.ptr() == value) return 0;  // step["x"] += 1
    const py::object given = py::module_::import("ringside.arguments")
                                 .attr("array_of")("iteration " + std::to_string(step.iteration) + ": " +
                                                       step.writer().variable(index).name,
                                                   py::handle(value));
    checked_buffer(step.writer().variable(index), given);
    own[py::ellipsis()] = given;
    return 0;
  });
}

PyObject* previous(PyObject* self, PyObject* name) {
  return guarded<PyObject*>(self, nullptr, [&](ClaimedStep& step) {
    return step.writer().previous(step.owner(), index_of(step, name)).release().ptr();
  });
}

PyMethodDef methods[] = {
    {"__enter__", enter, METH_NOARGS, nullptr},
    {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(leave)), METH_FASTCALL, nullptr},
    {"previous", previous, METH_O,
     "previous($self, name, /)\n--\n\n"
     "The same variable of the step before, read-only, in place: of the step that was published last, or a copy of\n"
     "the kept one. None in the first step of a new run. Valid in the block: later its memory may take another step."},
    {}};

PyMemberDef members[] = {
    {"iteration", T_ULONGLONG, offsetof(ClaimedStep, iteration), READONLY, "The number of the step."},
    {"scalars", T_OBJECT_EX, offsetof(ClaimedStep, scalars), 0,
     "Its scalars, by name. When the block ends, all that were declared must be there."},
    {"skipped", T_BOOL, offsetof(ClaimedStep, skipped), READONLY,
     "True if there is no analyzer and on_analyzer_loss is \"continue\", or if no buffer was free and the step does "
     "not\n"
     "wait: the arrays are then not published."},
    {}};

constexpr char kDoc[] =
    "A step that is being written: step[\"x\"] is a NumPy array in shared memory, step.scalars[\"rho\"] a number.\n\n"
    "A context manager. Entering claims the buffer and waits while the analyzer copies from it. Leaving publishes the\n"
    "step; leaving by an exception does not. The arrays are read-only from then on: the analyzer reads them.\n"
    "step[\"x\"] = ... copies an array of the variable's dtype and shape; step[\"x\"][:] = ... converts as NumPy does.";

}  // namespace

void define_claimed_step(py::module_& module, const py::object& writer) {
  writer_type = writer.ptr();
  PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>(kDoc)},
                         {Py_tp_new, reinterpret_cast<void*>(make)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
                         {Py_tp_methods, methods},
                         {Py_tp_members, members},
                         {Py_mp_subscript, reinterpret_cast<void*>(item)},
                         {Py_mp_ass_subscript, reinterpret_cast<void*>(set_item)},
                         {}};
  PyType_Spec spec = {"ringside.ClaimedStep", sizeof(ClaimedStep), 0, Py_TPFLAGS_DEFAULT, slots};
  module.add_object("ClaimedStep", py::reinterpret_steal<py::object>(PyType_FromSpec(&spec)));
}

}  // namespace ringside_python
