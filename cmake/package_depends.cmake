# SPDX-License-Identifier: BSD-3-Clause
# cpack reads this file before it makes the packages. Here dpkg-shlibdeps lists the dependencies of the libraries and of
# python3-ringside. If CPack itself called dpkg-shlibdeps, CPack would also replace the packages' trigger by maintainer
# scripts that call ldconfig.

# libraries_of(VARIABLE FILE [OPTION...]) sets VARIABLE to the libraries that FILE needs, in the syntax of Depends.
function(libraries_of variable file)
  set(folder "${CPACK_RINGSIDE_BUILD}/debian/shlibdeps")
  file(WRITE "${folder}/debian/control" "Source: ringside\n\nPackage: ringside\nArchitecture: any\n")
  execute_process(COMMAND dpkg-shlibdeps -O ${ARGN} -e "${file}"
    WORKING_DIRECTORY "${folder}" OUTPUT_VARIABLE depends ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "^shlibs:Depends=([^\n]*)\n.*" "\\1" depends "${depends}")
  set(${variable} "${depends}" PARENT_SCOPE)
endfunction()

libraries_of(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS "${CPACK_RINGSIDE_BUILD}/lib/libringside.so.0")
libraries_of(libraries "${CPACK_RINGSIDE_BUILD}/lib/libringside-messages.so.0")
string(APPEND CPACK_DEBIAN_MESSAGES_PACKAGE_DEPENDS ", ${libraries}")

if(CPACK_COMPONENTS_ALL MATCHES "mpi")
  libraries_of(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "${CPACK_RINGSIDE_BUILD}/lib/libringside_mpi.so.0")
  # package.cmake makes ringside-mpi depend on libringside-mpi0 of exactly its own version.
  libraries_of(libraries "${CPACK_RINGSIDE_BUILD}/bin/ringside-producer-mpi" -xlibringside-mpi0 "-l${CPACK_RINGSIDE_BUILD}/lib"
    "-L${CMAKE_CURRENT_LIST_DIR}/../deploy/debian/libringside-mpi0/shlibs")
  string(APPEND CPACK_DEBIAN_MPI_PROGRAMS_PACKAGE_DEPENDS ", ${libraries}")
endif()

if(CPACK_COMPONENTS_ALL MATCHES "python")
  file(GLOB module "${CPACK_RINGSIDE_BUILD}/python/ringside/_core.*.so")
  # package.cmake makes the module depend on libringside0 of exactly the module's version; shlibs would also allow newer
  # versions.
  libraries_of(libraries "${module}" -xlibringside0 "-l${CPACK_RINGSIDE_BUILD}/lib"
    "-L${CMAKE_CURRENT_LIST_DIR}/../deploy/debian/libringside0/shlibs")
  # One module is used by every Python from 3.10 on, and it does not use NumPy's structures (python/CMakeLists.txt).
  string(JOIN ", " CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "${CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS}" ${libraries}
    "python3 (>= 3.10~)" "python3:any" "python3-numpy (>= 1:1.22)")
endif()
