// SPDX-License-Identifier: BSD-3-Clause
#include "arrays.hpp"

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>

// Needs Python.h, which pybind11 includes.
#include <structmember.h>

namespace ringside_python {
namespace {

struct DType {
  std::string_view name;
  const char* numpy;
};

/// By number; 0 is none. Little-endian, as the pool stores them.
constexpr DType kDTypes[] = {{"", ""},       {"f32", "<f4"}, {"f64", "<f8"}, {"c64", "<c8"}, {"c128", "<c16"},
                             {"i8", "|i1"},  {"i16", "<i2"}, {"i32", "<i4"}, {"i64", "<i8"}, {"u8", "|u1"},
                             {"u16", "<u2"}, {"u32", "<u4"}, {"u64", "<u8"}};
static_assert(std::size(kDTypes) == RINGSIDE_U64 + 1);

const DType& known(std::uint16_t number) {
  if (number == 0 || number >= std::size(kDTypes)) refuse("dtype " + std::to_string(number) + " is unknown");
  return kDTypes[number];
}

/// What the module uses of NumPy. Never freed: at the end of the process there is no interpreter for that.
struct NumPy {
  py::object ndarray, empty;
  std::vector<py::object> dtypes;
};

const NumPy& numpy() {
  static const NumPy* found = [] {
    const auto module = py::module_::import("numpy");
    auto* made = new NumPy{module.attr("ndarray"), module.attr("empty"), {}};
    for (const DType& dtype : kDTypes) {
      made->dtypes.push_back(dtype.name.empty() ? py::none() : module.attr("dtype")(dtype.numpy));
    }
    return made;
  }();
  return *found;
}

py::tuple tuple_of(const std::vector<py::ssize_t>& shape) {
  py::tuple made(shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d) made[d] = py::int_(shape[d]);
  return made;
}

py::object called(PyObject* result) {
  if (result == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(result);
}

// --- Memory: bytes that another object keeps, as a buffer. An array that NumPy makes of it has it as its base.

struct Memory {
  PyObject_HEAD;
  PyObject* owner;
  void* data;
  Py_ssize_t bytes;
  bool writeable;
};

PyTypeObject* memory_type = nullptr;

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  auto* memory = reinterpret_cast<Memory*>(self);
  return PyBuffer_FillInfo(view, self, memory->data, memory->bytes, memory->writeable ? 0 : 1, flags);
}

void destroy_memory(PyObject* self) {
  Py_XDECREF(reinterpret_cast<Memory*>(self)->owner);
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMemberDef memory_members[] = {
    {"owner", T_OBJECT, offsetof(Memory, owner), READONLY, "What keeps the memory: a Writer or a held step."}, {}};

PyType_Slot memory_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
                       {Py_tp_members, memory_members},
                       {Py_tp_dealloc, reinterpret_cast<void*>(destroy_memory)},
                       {0, nullptr}};
PyType_Spec memory_spec = {"ringside._core.Memory", sizeof(Memory), 0,
                           Py_TPFLAGS_DEFAULT, memory_slots};

}  // namespace

const py::object& dtype_of(std::uint16_t number) {
  known(number);
  return numpy().dtypes[number];
}

std::string_view name_of(std::uint16_t number) {
  return known(number).name;
}

std::string text_of(const std::vector<py::ssize_t>& shape) {
  std::string text = "(";
  for (std::size_t d = 0; d < shape.size(); ++d) text += (d > 0 ? ", " : "") + std::to_string(shape[d]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

std::size_t Variable::bytes() const {
  known(dtype);
  constexpr py::ssize_t kEntry[] = {0, 4, 8, 8, 16, 1, 2, 4, 8, 1, 2, 4, 8};
  static_assert(std::size(kEntry) == std::size(kDTypes));
  return static_cast<std::size_t>(std::accumulate(shape.begin(), shape.end(), kEntry[dtype], std::multiplies<>()));
}

py::object array_at(const Variable& variable, const void* data, const py::handle& owner, bool writeable) {
  const py::object memory = called(memory_type->tp_alloc(memory_type, 0));
  auto& bytes = *reinterpret_cast<Memory*>(memory.ptr());
  bytes.owner = owner.inc_ref().ptr();
  bytes.data = const_cast<void*>(data);
  bytes.bytes = static_cast<Py_ssize_t>(variable.bytes());
  bytes.writeable = writeable;
  return called(PyObject_CallFunctionObjArgs(numpy().ndarray.ptr(), tuple_of(variable.shape).ptr(),
                                             dtype_of(variable.dtype).ptr(), memory.ptr(), nullptr));
}

void make_read_only(const py::handle& array) {
  array.attr("setflags")(false);
  const py::object base = array.attr("base");
  // else setflags(write=True) would be granted
  if (Py_TYPE(base.ptr()) == memory_type) reinterpret_cast<Memory*>(base.ptr())->writeable = false;
}

NewArray new_array(const Variable& variable) {
  py::object array = numpy().empty(tuple_of(variable.shape), dtype_of(variable.dtype));
  void* const data = Buffer(array, PyBUF_CONTIG).data();
  return {std::move(array), data};
}

std::string_view Buffer::order() const {
  if (PyBuffer_IsContiguous(&view_, 'C') != 0) return "C order";
  return PyBuffer_IsContiguous(&view_, 'F') != 0 ? "Fortran order" : "not contiguous";
}

Buffer checked_buffer(const Variable& variable, const py::handle& array) {
  const py::object found = array.attr("dtype");
  const py::object& expected = dtype_of(variable.dtype);
  const bool has_dtype = found.is(expected) || found.equal(expected);
  const auto refused = [&](const std::string& shape, std::string_view order) {
    refuse(variable.name + ": found an array of " + std::string(py::str(found)) + ", shape " + shape + ", " +
           std::string(order) + "; expected " + std::string(name_of(variable.dtype)) + ", shape " +
           text_of(variable.shape) + ", C order");
  };
  if (!has_dtype) {  // which may have no buffer
    const py::object flags = array.attr("flags");
    refused(py::str(array.attr("shape")), flags.attr("c_contiguous").cast<bool>()   ? "C order"
                                          : flags.attr("f_contiguous").cast<bool>() ? "Fortran order"
                                                                                    : "not contiguous");
  }
  Buffer buffer(array);
  if (buffer.shape() != variable.shape || buffer.order() != "C order") refused(text_of(buffer.shape()), buffer.order());
  return buffer;
}

void define_arrays(const py::module_&) {
  memory_type = reinterpret_cast<PyTypeObject*>(called(PyType_FromSpec(&memory_spec)).release().ptr());
  memory_type->tp_new = nullptr;  // Py_TPFLAGS_DISALLOW_INSTANTIATION came with Python 3.10
  const auto module = py::module_::import("numpy");
  const std::string version = py::str(module.attr("__version__"));
  const std::string which = "NumPy " + version + " at " + std::string(py::str(module.attr("__file__")));
  int major = 0, minor = 0;
  if (std::sscanf(version.c_str(), "%d.%d", &major, &minor) != 2 || std::pair(major, minor) < std::pair(1, 22)) {
    throw py::import_error(which + " is too old; ringside needs NumPy 1.22 or newer");
  }
  static const std::int16_t known_values[] = {1, 2, 3, 4, 5, 6};
  const Variable variable{"x", RINGSIDE_I16, RINGSIDE_ROLE_FIELD, {2, 3}, ""};
  const py::object made = array_at(variable, known_values, py::none(), false);
  const std::string expected = "[[1, 2, 3], [4, 5, 6]]", found = py::str(made.attr("tolist")());
  if (found != expected || checked_buffer(variable, made).data() != known_values) {
    throw py::import_error(which + " reads an array of Ringside's as " + found + ", expected " + expected);
  }
}

}  // namespace ringside_python
