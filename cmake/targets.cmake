# SPDX-License-Identifier: BSD-3-Clause
# Common properties of all our targets: include folder, flags and definitions.

# The library version in file names. A wheel contains no symbolic links, so there the file has the name that programs
# load.
set(RINGSIDE_LIBRARY_VERSION "0.${PROJECT_VERSION_MINOR}.${PROJECT_VERSION_PATCH}")
if(RINGSIDE_WHEEL)
  set(RINGSIDE_LIBRARY_VERSION 0)
endif()

# For every target that includes our headers.
add_library(ringside_headers INTERFACE)
target_compile_features(ringside_headers INTERFACE cxx_std_20)
target_include_directories(ringside_headers INTERFACE "${PROJECT_SOURCE_DIR}")

# The warnings for all our targets, and the flags that keep results equal on all machines. Our targets link them
# privately, so that they do not affect how another project compiles its solver.
add_library(ringside_compilation INTERFACE)
target_link_libraries(ringside_compilation INTERFACE ringside_headers)
if(RINGSIDE_WARNINGS OR RINGSIDE_WERROR)
  target_compile_options(ringside_compilation INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Woverloaded-virtual
    -Wcast-align -Wformat=2 -Wundef)
endif()
target_compile_options(ringside_compilation INTERFACE
  # A contracted multiply-add rounds once instead of twice, so iterates would differ between instruction sets.
  -ffp-contract=off
  # GCC warns that a vector type wider than the baseline instruction set's is passed in another way; we pass no such
  # type from one file to another.
  -Wno-psabi
  # GCC 12 reports a false overlap in "text" + std::string (its bug 105651), depending on what it inlines.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # Sources that are compiled together are included by one file, and GCC treats an included file as a header.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${RINGSIDE_UNITY}>>:-Wno-subobject-linkage>)
# GCC's garbage collection takes some percent of GCC's time, unless GCC may first use this much memory.
target_compile_options(ringside_compilation INTERFACE
  "$<$<CXX_COMPILER_ID:GNU>:SHELL:--param ggc-min-heapsize=524288>")  # KiB
if(RINGSIDE_WERROR)
  target_compile_options(ringside_compilation INTERFACE -Werror)
endif()

# ringside_unity_by_folder(TARGET): for a target with sources of several folders. The sources of a folder are compiled
# together, as in the folder's own library, because names are unique only within a folder. In another project's build,
# and without RINGSIDE_UNITY, each source is compiled separately, whatever that project sets.
function(ringside_unity_by_folder target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD "${RINGSIDE_UNITY}" UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(GET folder FILENAME folder)
    if(NOT folder)
      set(folder own)
    endif()
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${folder}")
  endforeach()
endfunction()

# ringside_install_pkg_config(NAME COMPONENT) installs NAME.pc from NAME.pc.in of this folder. The prefix is known only
# at installation: a package's prefix differs from the build's, and a wheel's prefix follows from the file's location. A
# folder may be outside the prefix.
function(ringside_install_pkg_config name component)
  include(GNUInstallDirs)
  install(CODE "
    set(PROJECT_VERSION \"${PROJECT_VERSION}\")
    set(libdir \"${CMAKE_INSTALL_LIBDIR}\")
    set(includedir \"${CMAKE_INSTALL_INCLUDEDIR}\")
    set(fortrandir \"${CMAKE_INSTALL_DATADIR}/ringside/fortran\")
    set(prefix \"\${CMAKE_INSTALL_PREFIX}\")
    foreach(folder libdir includedir fortrandir)
      cmake_path(ABSOLUTE_PATH \${folder} BASE_DIRECTORY \"\${CMAKE_INSTALL_PREFIX}\")
    endforeach()
    set(to \"\${libdir}/pkgconfig\")
    if(\"${RINGSIDE_WHEEL}\" MATCHES \"^(ON|1|TRUE|YES)$\")
      set(prefix [[\${pcfiledir}/../..]])
      foreach(folder libdir includedir fortrandir)
        cmake_path(RELATIVE_PATH \${folder} BASE_DIRECTORY \"\${CMAKE_INSTALL_PREFIX}\")
        string(PREPEND \${folder} [[\${prefix}/]])
      endforeach()
    endif()
    configure_file(\"${CMAKE_CURRENT_SOURCE_DIR}/${name}.pc.in\" \"${CMAKE_CURRENT_BINARY_DIR}/${name}.pc\" @ONLY)
    file(INSTALL \"${CMAKE_CURRENT_BINARY_DIR}/${name}.pc\" DESTINATION \"\${to}\")"
    COMPONENT ${component})
endfunction()

# libringside needs nothing that follows (library/CMakeLists.txt).
if(NOT RINGSIDE_BUILD_COMMON)
  return()
endif()

# Additional libraries that the programs use everywhere.
add_library(ringside_flags INTERFACE)
target_link_libraries(ringside_flags INTERFACE ringside_compilation OpenMP::OpenMP_CXX fmt::fmt)

# The flags of code whose speed does not matter; with them, the code compiles faster. (A sanitizer's build is entirely
# -Og.)
set(RINGSIDE_QUICK_TO_COMPILE "$<$<CONFIG:Release>:-O1>")

include(precompiled_headers)
ringside_precompile(ringside_precompiled LIBRARIES ringside_flags)
ringside_precompile(ringside_precompiled_quick LIBRARIES ringside_flags OPTIONS ${RINGSIDE_QUICK_TO_COMPILE})

# ringside_library(NAME [QUICK] SOURCES...): a static library of ours with the flags above. QUICK: the library's speed
# does not matter; a folder can also set this for all its targets (cli).
function(ringside_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "QUICK" "" "")
  get_directory_property(folder_options COMPILE_OPTIONS)
  add_library(${name} STATIC ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ringside_headers PRIVATE ringside_flags)
  if(arg_QUICK OR RINGSIDE_QUICK_TO_COMPILE IN_LIST folder_options)
    target_compile_options(${name} PRIVATE ${RINGSIDE_QUICK_TO_COMPILE})
    ringside_use_precompiled(${name} ringside_precompiled RELEASE ringside_precompiled_quick)
  else()
    ringside_use_precompiled(${name} ringside_precompiled)
  endif()
endfunction()
