# SPDX-License-Identifier: BSD-3-Clause
# RINGSIDE_SANITIZE applies to the whole build: a partly instrumented program reports errors that do not exist.
if(RINGSIDE_SANITIZE)
  add_compile_options(-fsanitize=${RINGSIDE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${RINGSIDE_SANITIZE})
  # These checks take long to compile. AddressSanitizer reports most of what they would: accesses through
  # null, to a destroyed object, or past an object's end. A bad downcast of a live object and a null reference that is
  # never read are reported by neither.
  if(RINGSIDE_SANITIZE MATCHES "address")
    add_compile_options(-fno-sanitize=null,object-size,vptr)
  endif()
  # Instrumented code takes twice as long to compile at -O2 -g; -g1 still names the lines of a stack.
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1 -DNDEBUG")
endif()
# The coverage of the code under test guides libFuzzer, so all of it is instrumented.
if(RINGSIDE_BUILD_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
