# SPDX-License-Identifier: BSD-3-Clause
# RINGSIDE_SANITIZE applies to the whole build: a partly instrumented program reports false errors.
if(RINGSIDE_SANITIZE)
  add_compile_options(-fsanitize=${RINGSIDE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${RINGSIDE_SANITIZE})
  # These checks take long to compile. AddressSanitizer reports most of the same errors: accesses through null, to a
  # destroyed object, or past an object's end. Neither reports a bad downcast of a live object or a null reference that
  # is never read.
  if(RINGSIDE_SANITIZE MATCHES "address")
    add_compile_options(-fno-sanitize=null,object-size,vptr)
  endif()
  # Archer lies beside clang's libraries, in a folder named after the version: a link gives the test preset a fixed
  # path.
  if(RINGSIDE_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-resource-dir OUTPUT_VARIABLE clang_resources
      OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    find_file(RINGSIDE_ARCHER libarcher.so PATHS "${clang_resources}/../.." NO_DEFAULT_PATH REQUIRED)
    file(CREATE_LINK "${RINGSIDE_ARCHER}" "${CMAKE_BINARY_DIR}/libarcher.so" SYMBOLIC)
  endif()
  # Instrumented code takes twice as long to compile at -O2 -g; with -g1 stacks still have line numbers. For clang, -Og
  # is -O1.
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "${RINGSIDE_SANITIZE_LEVEL} -g1 -DNDEBUG")
endif()
# The coverage of the code under test guides libFuzzer, so all of it is instrumented.
if(RINGSIDE_BUILD_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
