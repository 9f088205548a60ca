# SPDX-License-Identifier: BSD-3-Clause
# ringside_add_reduction(NAME SOURCE...) makes libNAME.so, a plug-in for `ringside run --reduce-with` (docs/use/questions.md).
# The plug-in is optimised, unless the project has chosen other flags. Each operation is rounded separately, so that
# results have the same bits on all processors.
function(ringside_add_reduction name)
  add_library(${name} MODULE ${ARGN})
  target_include_directories(${name} PRIVATE $<TARGET_PROPERTY:Ringside::ringside,INTERFACE_INCLUDE_DIRECTORIES>)
  target_compile_options(${name} PRIVATE -ffp-contract=off $<$<NOT:$<BOOL:${CMAKE_BUILD_TYPE}>>:-O3>)
  set_target_properties(${name} PROPERTIES C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden)
  target_link_libraries(${name} PRIVATE m)
endfunction()
