# SPDX-License-Identifier: BSD-3-Clause
# The options of a build, with their defaults. In another project's build, only the first two options have an effect,
# and RINGSIDE_BUILD_MPI if that project sets it. This file changes no variables of that project.
option(RINGSIDE_WARNINGS "Compile with warnings: a twentieth of a build's time (quickstart.sh does without)" ${PROJECT_IS_TOP_LEVEL})
option(RINGSIDE_WERROR "Treat warnings as errors, whatever RINGSIDE_WARNINGS is (CI does)" OFF)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# Whether to build common/ as libraries, which libringside_mpi and the programs link.
if(NOT PROJECT_IS_TOP_LEVEL)
  set(RINGSIDE_BUILD_PROGRAMS OFF)
  set(RINGSIDE_BUILD_COMMON "${RINGSIDE_BUILD_MPI}")
  return()
endif()

# Installed files belong to the programs, unless they name another component (library/install).
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME programs)

# Debian's folder of libraries is used for any prefix, because the package's prefix is /usr, but the build's prefix is
# not. In an existing build folder, CMake's own default is recognised by its description.
if(EXISTS /etc/debian_version AND CMAKE_LIBRARY_ARCHITECTURE)
  get_property(described CACHE CMAKE_INSTALL_LIBDIR PROPERTY HELPSTRING)
  if(NOT DEFINED CMAKE_INSTALL_LIBDIR OR described STREQUAL "Object code libraries (lib)")
    set(CMAKE_INSTALL_LIBDIR "lib/${CMAKE_LIBRARY_ARCHITECTURE}" CACHE PATH "Where libraries are installed" FORCE)
  endif()
endif()

option(RINGSIDE_BUILD_PROGRAMS "Build more than libringside, which needs a compiler and xxhash.h only" ON)
option(RINGSIDE_BUILD_TESTS "Build the tests" ON)
option(RINGSIDE_BUILD_BENCH "Build the benchmarks" ON)
option(RINGSIDE_BUILD_EXAMPLES "Build the examples" ON)
option(RINGSIDE_BUILD_PYTHON "Build the Python package (needs Python's headers, 3.10 or newer)" OFF)
option(RINGSIDE_BUILD_MPI "Build libringside_mpi, for solvers of several ranks (needs an MPI library)" OFF)
if(RINGSIDE_BUILD_PROGRAMS OR RINGSIDE_BUILD_MPI)
  set(RINGSIDE_BUILD_COMMON ON)
else()
  set(RINGSIDE_BUILD_COMMON OFF)
endif()
option(RINGSIDE_BUILD_FUZZ "Build the libFuzzer targets (needs clang)" OFF)
option(RINGSIDE_WHEEL "Install for a Python wheel: below ringside/_prefix, without symbolic links, for any place" OFF)
option(RINGSIDE_UNITY "Compile the sources of a room together, several at a time, with precompiled headers" ON)
set(RINGSIDE_SANITIZE "" CACHE STRING "Sanitizers to build with: empty, 'address,undefined' or 'thread'")
set(RINGSIDE_SANITIZE_LEVEL -Og CACHE STRING "The level of optimisation of a build with sanitizers")

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or RelWithDebInfo" FORCE)
endif()

# A compiler spends most of its time on the code that headers of the standard library, fmt and CLI11 generate in every
# object file; sources that are compiled together share this code. The remaining headers are precompiled
# (cmake/precompiled_headers.cmake).
set(CMAKE_UNITY_BUILD ${RINGSIDE_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)

# ccache, if installed (test.sh installs it), speeds up the second build of every preset. ccache caches units with
# precompiled headers only if it is told to ignore macros and times. This is safe, because targets that share a header
# have equal flags. Paths below the sources count as relative, so a clone in another folder shares the cache.
find_program(RINGSIDE_CCACHE ccache)
if(RINGSIDE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${RINGSIDE_CCACHE}")
endif()
if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "(^|/)ccache$")
  set(CMAKE_CXX_COMPILER_LAUNCHER
    "${CMAKE_COMMAND}" -E env "CCACHE_SLOPPINESS=$ENV{CCACHE_SLOPPINESS},pch_defines,time_macros"
    "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=yes "${CMAKE_CXX_COMPILER_LAUNCHER}")
endif()
