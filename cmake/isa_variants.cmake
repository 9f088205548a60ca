# SPDX-License-Identifier: BSD-3-Clause
# ringside_isa_variants(TARGET SOURCE...) compiles each SOURCE three times, for plain x86-64, AVX2 and AVX-512, with
# RINGSIDE_ISA set to the variant's name (common/kernels/isa.hpp chooses among them at run time).
#
# Such a source contains plain loops over raw pointers. All its functions are in the variant's namespace or are local.
# It must not call other inline functions of headers (such as std containers or algorithms), because the linker keeps
# only one copy of each inline function for the whole program, and this may be the AVX-512 copy. It may include headers
# for their types. tests/unit/isa_variants_test.cmake checks the symbols.
function(ringside_isa_variants target)
  set(flags_plain "")
  set(flags_avx2 -mavx2 -mbmi2)
  set(flags_avx512 -mavx2 -mbmi2 -mavx512f -mavx512dq -mavx512bw -mavx512vl -mprefer-vector-width=512)
  set(instead_of_og "")
  if(RINGSIDE_SANITIZE)  # with -Og, GCC warns about its own intrinsics
    set(instead_of_og -O1)
  endif()
  foreach(isa plain avx2 avx512)
    add_library(${target}_${isa} OBJECT ${ARGN})
    set_target_properties(${target}_${isa} PROPERTIES UNITY_BUILD OFF)  # each source is checked and tuned separately
    target_compile_definitions(${target}_${isa} PRIVATE RINGSIDE_ISA=${isa})
    target_compile_options(${target}_${isa} PRIVATE ${flags_${isa}} ${instead_of_og})
    target_link_libraries(${target}_${isa} PRIVATE ringside_compilation)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_${isa}>)
  endforeach()
endfunction()
