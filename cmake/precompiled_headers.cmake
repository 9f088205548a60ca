# SPDX-License-Identifier: BSD-3-Clause
# Headers of other projects that most sources include are compiled once for each set of flags, because reading these
# headers takes 0.7 s per unit, which is a sixth of the unit's time. Our own headers are excluded, because each change
# would recompile everything. Without RINGSIDE_UNITY, each source has only the headers that it includes itself. All
# flags of the whole build are set before this file is included (for example by cmake/sanitizers.cmake), and all targets
# of a folder have equal flags: the compiler refuses headers compiled with other flags.
set(RINGSIDE_COMMON_HEADERS
  <algorithm> <array> <atomic> <chrono> <cmath> <cstring> <filesystem> <functional> <map> <memory> <mutex> <optional> <span>
  <string> <thread> <unordered_map> <utility> <variant> <vector> <fmt/format.h>)

file(CONFIGURE OUTPUT precompiled_headers.cpp CONTENT "int main() {}\n")

# ringside_precompile(NAME [PROGRAM] LIBRARIES <libs> [HEADERS <more>] [OPTIONS <flags>]): precompiles the headers for
# targets with the same libraries and flags. PROGRAM: for programs, because their code is position-independent in
# another way than that of libraries.
function(ringside_precompile name)
  if(NOT RINGSIDE_UNITY)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "PROGRAM" "" "LIBRARIES;HEADERS;OPTIONS")
  if(arg_PROGRAM)
    add_executable(${name} EXCLUDE_FROM_ALL "${CMAKE_BINARY_DIR}/precompiled_headers.cpp")
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
  else()
    add_library(${name} OBJECT EXCLUDE_FROM_ALL "${CMAKE_BINARY_DIR}/precompiled_headers.cpp")
  endif()
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES})
  target_compile_options(${name} PRIVATE ${arg_OPTIONS})
  target_precompile_headers(${name} PRIVATE ${RINGSIDE_COMMON_HEADERS} ${arg_HEADERS})
  ringside_precompiled_headers_are_cached(${name})
endfunction()

# ringside_use_precompiled(TARGET NAME [RELEASE <other>]): lets TARGET use the headers of NAME, or the headers of
# `other` in a Release build, because this is the only build type with different optimisation levels. Headers that no
# target uses are not compiled.
function(ringside_use_precompiled target name)
  if(NOT RINGSIDE_UNITY)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "RELEASE" "")
  if(arg_RELEASE AND CMAKE_BUILD_TYPE STREQUAL "Release")
    set(name ${arg_RELEASE})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${name})
  ringside_precompiled_headers_are_cached(${target})
  # In precompiled headers, GCC forgets which headers are system headers, and warns of an overflow in std::string that
  # does not exist.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
endfunction()

# ccache requires this; cmake/options.cmake sets the rest.
function(ringside_precompiled_headers_are_cached target)
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess> "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endfunction()
