# SPDX-License-Identifier: BSD-3-Clause
# Fails if an object of a kernel's variant defines a function that the linker could keep for the whole program: a weak
# symbol outside the variant's namespace. OBJECTS: the paths of the objects, separated by '|'. ISA: the namespace. NM:
# the program nm.
string(REPLACE "|" ";" objects "${OBJECTS}")
foreach(object IN LISTS objects)
  execute_process(COMMAND "${NM}" --demangle --defined-only "${object}" OUTPUT_VARIABLE symbols RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${NM} cannot read ${object}")
  endif()
  if(NOT symbols MATCHES "ringside::${ISA}::")
    message(FATAL_ERROR "${object}: found nothing in ringside::${ISA}, expected the variant's functions")
  endif()
  string(REGEX MATCHALL "[^\n]+" lines "${symbols}")
  foreach(line IN LISTS lines)
    # DW.ref is a pointer that the compiler makes; it is equal in every object.
    if(line MATCHES " [WVu] " AND NOT line MATCHES "ringside::${ISA}::| DW\\.ref\\.")
      message(SEND_ERROR "${object}: found the weak symbol \"${line}\", expected only functions of ringside::${ISA}")
    endif()
  endforeach()
endforeach()
