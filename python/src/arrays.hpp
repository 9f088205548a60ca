// SPDX-License-Identifier: BSD-3-Clause
// NumPy arrays of variables. This code makes and reads arrays with NumPy's Python interface and the buffer protocol,
// which are the same in every release of NumPy. The structs of NumPy's C interface differ between NumPy 1 and 2.
#pragma once

#include <algorithm>
#include <utility>

#include "core.hpp"

namespace ringside_python {

/// The numpy.dtype of one of RINGSIDE_F32 ... RINGSIDE_U64. Made once.
const Object& dtype_of(std::uint16_t number);
/// The name of the dtype: "f64".
std::string_view name_of(std::uint16_t number);

/// A shape in Python's form: "(20, 10)", "(3,)", "()".
std::string text_of(const std::vector<Py_ssize_t>& shape);

struct Variable {
  std::string name;
  std::uint16_t dtype = RINGSIDE_F64;
  std::uint16_t role = RINGSIDE_ROLE_FIELD;
  std::vector<Py_ssize_t> shape;
  std::string unit;

  std::size_t bytes() const;
};

/// An array of a variable at `data`, without a copy. `owner` keeps the memory.
Object array_at(const Variable& variable, const void* data, PyObject* owner, bool writeable);
/// Makes an array that array_at made read-only from now on. Existing views of the array are not changed.
void make_read_only(PyObject* array);

struct NewArray {
  Object array;
  void* data;  // uninitialised
};
/// A new array of a variable, with its own memory.
NewArray new_array(const Variable& variable);

/// The memory of a NumPy array. Keeps the array alive while this object exists. (Only for NumPy arrays: the shape and
/// strides of other objects may point into the Py_buffer itself, which moves with this object.)
class Buffer {
 public:
  explicit Buffer(PyObject* object, int flags = PyBUF_STRIDES) { called(PyObject_GetBuffer(object, &view_, flags)); }
  ~Buffer() { PyBuffer_Release(&view_); }
  Buffer(Buffer&& other) noexcept : view_(std::exchange(other.view_, {})) {}
  Buffer& operator=(Buffer&&) = delete;

  void* data() const { return view_.buf; }
  std::size_t bytes() const { return static_cast<std::size_t>(view_.len); }
  bool has_shape(const std::vector<Py_ssize_t>& shape) const {
    return std::equal(view_.shape, view_.shape + view_.ndim, shape.begin(), shape.end());
  }
  std::vector<Py_ssize_t> shape() const { return {view_.shape, view_.shape + view_.ndim}; }
  bool in_c_order() const { return PyBuffer_IsContiguous(&view_, 'C') != 0; }

 private:
  Py_buffer view_{};
};

/// The memory of an array with the variable's dtype and shape. Raises ValueError for any other array.
Buffer checked_buffer(const Variable& variable, PyObject* array);
/// Whether this is a numpy.ndarray, and not of a subclass.
bool is_plain_array(PyObject* given);
/// The result of numpy.asarray: an array itself, or an array over the memory of an object that has a buffer.
Object as_array(PyObject* given);
/// Copies an array of any layout to one of the same shape.
void copy_array(PyObject* to, PyObject* from);

/// Raises ImportError if this NumPy is too old or misreads the arrays that this module makes.
void define_arrays();

}  // namespace ringside_python
