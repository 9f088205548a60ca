// SPDX-License-Identifier: BSD-3-Clause
// The source of a step's variable: an array, or many buffers. The source is checked and kept before the step is
// claimed, and copied only once, directly into the claimed buffer.
#pragma once

#include <vector>

#include "arrays.hpp"

namespace ringside_python {

struct Source {
  std::vector<Buffer> pieces;  // contiguous in the variable, in this order
  Object array;                // instead of pieces: an array that is not in C order; NumPy copies it

  /// Copies the pieces. room: the variable's bytes. Does not need the interpreter's lock.
  void copy_to(void* memory, std::size_t room) const;
};

/// given: an array of the variable's dtype and shape; or an object with the buffer of such an array; or a list of
/// C-contiguous buffers that fill the variable. Raises UsageError for anything else.
Source source_of(const Variable& variable, PyObject* given);

}  // namespace ringside_python
