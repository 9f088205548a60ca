# The options of a build, with their defaults.
option(RINGSIDE_WERROR "Treat warnings as errors (CI does)" OFF)
option(RINGSIDE_BUILD_TESTS "Build the tests" ON)
option(RINGSIDE_BUILD_BENCH "Build the benchmarks" ON)
option(RINGSIDE_BUILD_EXAMPLES "Build the examples" ON)
option(RINGSIDE_BUILD_FUZZ "Build the libFuzzer targets (needs clang)" OFF)
set(RINGSIDE_SANITIZE "" CACHE STRING "Sanitizers to build with: empty, 'address,undefined' or 'thread'")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or RelWithDebInfo" FORCE)
endif()

# ccache, if it is installed, makes the second build of the sanitizer presets cheap.
find_program(RINGSIDE_CCACHE ccache)
if(RINGSIDE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${RINGSIDE_CCACHE}")
endif()
