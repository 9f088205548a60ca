# SPDX-License-Identifier: BSD-3-Clause
# Headers of other projects that most sources include, compiled once for each set of flags: to read them takes 0.7 s for each
# unit, a sixth of its time. Our own headers are not among them: a change would compile everything anew.
# Without RINGSIDE_UNITY, each source has only what it includes itself. All flags of the whole build are set before this file is
# included (cmake/sanitizers.cmake is), and a folder adds none that its targets do not all have: headers that were compiled with
# other flags are refused.
set(RINGSIDE_COMMON_HEADERS
  <algorithm> <array> <atomic> <chrono> <cmath> <cstring> <filesystem> <functional> <map> <memory> <mutex> <optional> <span>
  <string> <thread> <unordered_map> <utility> <variant> <vector> <fmt/format.h>)

file(CONFIGURE OUTPUT precompiled_headers.cpp CONTENT "int main() {}\n")

# ringside_precompile(NAME [PROGRAM] LIBRARIES <libs> [HEADERS <more>] [OPTIONS <flags>]): the headers for targets that have the
# same libraries and flags. PROGRAM: for programs, whose code is position-independent in another way.
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

# ringside_use_precompiled(TARGET NAME [RELEASE <other>]): `other` in a Release build, the only one in which levels of optimisation
# differ. What no target uses is not compiled.
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
  # GCC forgets of precompiled headers that they are the system's, and warns of what it takes for an overflow in std::string.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
endfunction()

# What ccache asks for; cmake/options.cmake sets the rest.
function(ringside_precompiled_headers_are_cached target)
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess> "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endfunction()
