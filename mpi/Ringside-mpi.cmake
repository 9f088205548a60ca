# SPDX-License-Identifier: BSD-3-Clause
# Component mpi of find_package(Ringside): Ringside::mpi, which links MPI for C. RingsideConfig.cmake reads this file.
find_package(MPI QUIET COMPONENTS C)
if(MPI_C_FOUND)
  include("${CMAKE_CURRENT_LIST_DIR}/RingsideMpiTargets.cmake")
else()
  set(Ringside_mpi_FOUND FALSE)
  string(APPEND Ringside_NOT_FOUND_MESSAGE
    "component mpi: found no MPI for C; expected a project() with the language C, and an MPI library. ")
endif()
