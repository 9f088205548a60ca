// SPDX-License-Identifier: BSD-3-Clause
#include "arrays.hpp"

#include <cstddef>
#include <cstdio>
#include <functional>
#include <numeric>
#include <utility>

namespace ringside_python {
namespace {

struct DType {
  std::string_view name;
  const char* numpy;
};

/// The dtypes by number; 0 is not a dtype. All dtypes are little-endian, as in the pool.
constexpr DType kDTypes[] = {{"", ""},       {"f32", "<f4"}, {"f64", "<f8"}, {"c64", "<c8"}, {"c128", "<c16"},
                             {"i8", "|i1"},  {"i16", "<i2"}, {"i32", "<i4"}, {"i64", "<i8"}, {"u8", "|u1"},
                             {"u16", "<u2"}, {"u32", "<u4"}, {"u64", "<u8"}};
static_assert(std::size(kDTypes) == RINGSIDE_U64 + 1);

const DType& known(std::uint16_t number) {
  if (number == 0 || number >= std::size(kDTypes)) refuse("dtype " + std::to_string(number) + " is unknown");
  return kDTypes[number];
}

/// The objects of NumPy that the module uses. These objects are never freed, because at the end of the process there is
/// no interpreter that could free them.
struct NumPy {
  Object ndarray, empty, asarray, copyto;
  std::vector<Object> dtypes;
  Object dtype_name, setflags_name, base_name;  // names of attributes
};

const NumPy& numpy() {
  static const NumPy* found = [] {
    const Object module = imported("numpy");
    const auto named = [&](const char* name) { return attribute(module.get(), name); };
    auto* made = new NumPy{named("ndarray"), named("empty"), named("asarray"), named("copyto"), {},
                           python_of("dtype"), python_of("setflags"), python_of("base")};
    for (const DType& dtype : kDTypes) {
      made->dtypes.push_back(dtype.name.empty() ? none() : call(named("dtype").get(), python_of(dtype.numpy)));
    }
    return made;
  }();
  return *found;
}

// --- Memory: bytes that another object owns, as a buffer. NumPy makes an array from this object, which is then the
// array's base.

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
  free_object(self);
}

PyMemberDef memory_members[] = {{"owner", T_OBJECT, offsetof(Memory, owner), READONLY,
                                 "The object that keeps the memory: a Writer or a held step."},
                                {}};

PyType_Slot memory_slots[] = {{Py_tp_new, reinterpret_cast<void*>(refuse_new)},
                              {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
                              {Py_tp_members, memory_members},
                              {Py_tp_dealloc, reinterpret_cast<void*>(destroy_memory)},
                              {0, nullptr}};
PyType_Spec memory_spec = {"ringside._core.Memory", sizeof(Memory), 0, Py_TPFLAGS_DEFAULT, memory_slots};

}  // namespace

const Object& dtype_of(std::uint16_t number) {
  known(number);
  return numpy().dtypes[number];
}

std::string_view name_of(std::uint16_t number) {
  return known(number).name;
}

std::string text_of(const std::vector<Py_ssize_t>& shape) {
  std::string text = "(";
  for (std::size_t d = 0; d < shape.size(); ++d) text += (d > 0 ? ", " : "") + std::to_string(shape[d]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

std::size_t Variable::bytes() const {
  known(dtype);
  constexpr Py_ssize_t kEntry[] = {0, 4, 8, 8, 16, 1, 2, 4, 8, 1, 2, 4, 8};
  static_assert(std::size(kEntry) == std::size(kDTypes));
  return static_cast<std::size_t>(std::accumulate(shape.begin(), shape.end(), kEntry[dtype], std::multiplies<>()));
}

Object array_at(const Variable& variable, const void* data, PyObject* owner, bool writeable) {
  const Object memory = called(PyType_GenericAlloc(memory_type, 0));
  auto& bytes = *reinterpret_cast<Memory*>(memory.get());
  bytes.owner = borrowed(owner).release();
  bytes.data = const_cast<void*>(data);
  bytes.bytes = static_cast<Py_ssize_t>(variable.bytes());
  bytes.writeable = writeable;
  return call(numpy().ndarray.get(), tuple_of(variable.shape), dtype_of(variable.dtype), memory);
}

void make_read_only(PyObject* array) {
  called(PyObject_CallMethodObjArgs(array, numpy().setflags_name.get(), Py_False, nullptr));
  const Object base = called(PyObject_GetAttr(array, numpy().base_name.get()));
  // Without the next line, a later setflags(write=True) would succeed.
  if (Py_TYPE(base.get()) == memory_type) reinterpret_cast<Memory*>(base.get())->writeable = false;
}

NewArray new_array(const Variable& variable) {
  Object array = call(numpy().empty.get(), tuple_of(variable.shape), dtype_of(variable.dtype));
  void* const data = Buffer(array.get(), PyBUF_CONTIG).data();
  return {std::move(array), data};
}

Buffer checked_buffer(const Variable& variable, PyObject* array) {
  const Object found = called(PyObject_GetAttr(array, numpy().dtype_name.get()));
  const Object& expected = dtype_of(variable.dtype);
  const auto refused = [&](const std::string& shape) {
    refuse(variable.name + ": found an array of " + str(found.get()) + ", shape " + shape + "; expected " +
           std::string(name_of(variable.dtype)) + ", shape " + text_of(variable.shape));
  };
  const bool has_dtype =
      found.get() == expected.get() || called(PyObject_RichCompareBool(found.get(), expected.get(), Py_EQ)) != 0;
  if (!has_dtype) refused(str(attribute(array, "shape").get()));  // such an array may have no buffer
  Buffer buffer(array);
  if (!buffer.has_shape(variable.shape)) refused(text_of(buffer.shape()));
  return buffer;
}

bool is_plain_array(PyObject* given) {
  return reinterpret_cast<PyObject*>(Py_TYPE(given)) == numpy().ndarray.get();
}

Object as_array(PyObject* given) {
  if (is_plain_array(given)) return borrowed(given);
  return call(numpy().asarray.get(), borrowed(given));
}

void copy_array(PyObject* to, PyObject* from) {
  call(numpy().copyto.get(), borrowed(to), borrowed(from));
}

void define_arrays() {
  memory_type = reinterpret_cast<PyTypeObject*>(called(PyType_FromSpec(&memory_spec)).release());
  const Object module = imported("numpy");
  const std::string version = str(attribute(module.get(), "__version__").get());
  const std::string which = "NumPy " + version + " at " + str(attribute(module.get(), "__file__").get());
  int major = 0, minor = 0;
  if (std::sscanf(version.c_str(), "%d.%d", &major, &minor) != 2 || std::pair(major, minor) < std::pair(1, 22)) {
    raise(PyExc_ImportError, which + " is too old; ringside needs NumPy 1.22 or newer");
  }
  static const std::int16_t known_values[] = {1, 2, 3, 4, 5, 6};
  const Variable variable{"x", RINGSIDE_I16, RINGSIDE_ROLE_FIELD, {2, 3}, ""};
  const Object made = array_at(variable, known_values, Py_None, false);
  const Object values = called(PyObject_CallMethod(made.get(), "tolist", nullptr));
  const std::string expected = "[[1, 2, 3], [4, 5, 6]]", found = str(values.get());
  if (found != expected || checked_buffer(variable, made.get()).data() != known_values) {
    raise(PyExc_ImportError, which + " reads an array of Ringside's as " + found + ", expected " + expected);
  }
}

}  // namespace ringside_python
