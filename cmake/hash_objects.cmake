# SPDX-License-Identifier: BSD-3-Clause
# cmake -DOBJECTS=A.o|B.o -DOUTPUT=FILE.cpp -P hash_objects.cmake writes a source with ringside::kernels_hash(): 16
# hexadecimal digits of a hash over the object files, in the given order.
string(REPLACE "|" ";" OBJECTS "${OBJECTS}")
set(hashes "")
foreach(object ${OBJECTS})
  file(SHA256 "${object}" hash)
  string(APPEND hashes "${hash}")
endforeach()
string(SHA256 hash "${hashes}")
string(SUBSTRING "${hash}" 0 16 hash)
file(WRITE "${OUTPUT}" "// Written by cmake/hash_objects.cmake.
#include \"node/calibration/fingerprint.hpp\"

const char* ringside::kernels_hash() noexcept {
  return \"${hash}\";
}
")
