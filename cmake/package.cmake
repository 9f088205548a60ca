# SPDX-License-Identifier: BSD-3-Clause
# The Debian packages, by CPack: `deploy/package.sh`, or cpack -G DEB in a build folder with built programs. Each is one
# component of the installation. `ringside` has the programs, `libringside0` has the library, `libringside-messages0`
# its plug-in for `--coordination messages`, `libringside-dev` the files for compiling a solver, `libringside-mpi0` and
# `libringside-mpi-dev` the same for solvers of several MPI ranks, `ringside-mpi` the built-in solvers as ranks,
# `python3-ringside` the Python package. deploy/debian has their maintainer scripts, changelog and copyright file.
set(RINGSIDE_PACKAGE_MAINTAINER "The Ringside developers <ringside@ringside.example>" CACHE STRING
  "The maintainer named in the package (a site that builds its own package names itself)")
set(debian "${PROJECT_SOURCE_DIR}/deploy/debian")
set(made "${PROJECT_BINARY_DIR}/debian")

# `python3-ringside` is for Debian's own Python. It is made only if the module was built for that Python, and contains
# only the files below the folder where that Python searches for packages.
set(components programs library messages development)
set(packages programs:ringside library:libringside0 messages:libringside-messages0 development:libringside-dev)
if(RINGSIDE_BUILD_MPI)
  list(APPEND components mpi mpi_development mpi_programs)
  list(APPEND packages mpi:libringside-mpi0 mpi_development:libringside-mpi-dev mpi_programs:ringside-mpi)
endif()
if(RINGSIDE_BUILD_PYTHON AND RINGSIDE_PYTHON_EXECUTABLE MATCHES "^/usr/bin/python3"
   AND RINGSIDE_PYTHON_INSTALL_DIR STREQUAL "lib/python3/dist-packages")
  list(APPEND components python)
  list(APPEND packages python:python3-ringside)
endif()

# The license text is the text of LICENSE, indented as the format of copyright files requires.
file(READ "${PROJECT_SOURCE_DIR}/LICENSE" license)
string(REGEX MATCH "Copyright \\(c\\) ([^\n]+)\n+(.*)" license "${license}")
set(ringside_copyright "${CMAKE_MATCH_1}")
string(STRIP "${CMAKE_MATCH_2}" license)
string(REGEX REPLACE "\n\n" "\n.\n" license "${license}")
string(REGEX REPLACE "\n" "\n " ringside_license " ${license}")
configure_file("${debian}/copyright.in" "${made}/copyright" @ONLY)

string(TIMESTAMP changelog_date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # from SOURCE_DATE_EPOCH, if that is set
configure_file("${debian}/changelog.in" "${made}/changelog" @ONLY)
add_custom_command(OUTPUT "${made}/changelog.gz"
  COMMAND sh -c "\"$1\" -9nc changelog >changelog.gz" sh "${RINGSIDE_GZIP}"
  DEPENDS "${made}/changelog" WORKING_DIRECTORY "${made}" VERBATIM)
add_custom_target(debian_changelog ALL DEPENDS "${made}/changelog.gz")
add_dependencies(installed debian_changelog)
foreach(package ${packages})
  string(REGEX MATCH "(.*):(.*)" package "${package}")
  install(FILES "${made}/copyright" "${made}/changelog.gz" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${CMAKE_MATCH_2}"
    COMPONENT ${CMAKE_MATCH_1})
endforeach()
install(FILES "${debian}/lintian-overrides" DESTINATION "${CMAKE_INSTALL_DATADIR}/lintian/overrides" RENAME ringside)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ringside)
set(CPACK_PACKAGE_VENDOR "the Ringside developers")
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # would precede each package's own description
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_STRIP_FILES ON)
# The files are installed for the prefix /usr into a staging folder, so that settings go to /etc (cmake/install.cmake).
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/package_permissions.cmake")
set(CPACK_PROJECT_CONFIG_FILE "${PROJECT_SOURCE_DIR}/cmake/package_depends.cmake")
set(CPACK_RINGSIDE_BUILD "${PROJECT_BINARY_DIR}")

set(CPACK_COMPONENTS_ALL ${components})
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${RINGSIDE_PACKAGE_MAINTAINER}")
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_PROGRAMS_PACKAGE_NAME ringside)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_DEPENDS passwd)  # for postinst's useradd, if systemd-sysusers is missing
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_RECOMMENDS "ndctl, systemd")
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SUGGESTS "libringside-dev, python3-ringside")  # for solvers, for analyses
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_CONTROL_EXTRA
  "${debian}/postinst" "${debian}/prerm" "${debian}/postrm" "${debian}/conffiles")
set(CPACK_DEBIAN_PROGRAMS_DESCRIPTION
"keep, analyse and account for every iterate of a solver
A producer process runs a solver on sparse matrices (PageRank, Jacobi,
conjugate gradients, or your own through a library) and publishes every
iterate through shared memory. An analyzer process on other cores keeps each
one in a crash-safe ring on persistent memory or any file, reduces it there,
and accounts for who waited for whom.
.
After a crash or a power cut the kept iterates are verified and replayed,
and the solver resumes from the last one, bit for bit. This package has the
programs, their services for systemd, and what prepares persistent memory.")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libringside0)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS ringside)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SUGGESTS libringside-messages0)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA "${debian}/libringside0/shlibs" "${debian}/libringside0/symbols"
  "${debian}/libringside0/triggers")
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION
"publish the steps of a solver to Ringside, and read them
A solver that is linked with this library publishes its arrays step by step;
an analyzer (package ringside) keeps the last steps in a crash-safe ring, from
which the solver resumes. A reader opens the ring, follows a run, and looks at
steps in place. The interface is in C, with faces for C++ and Fortran.")

# cmake/package_depends.cmake adds the libraries.
set(CPACK_DEBIAN_MESSAGES_PACKAGE_NAME libringside-messages0)
set(CPACK_DEBIAN_MESSAGES_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_MESSAGES_PACKAGE_DEPENDS "libringside0 (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_MESSAGES_PACKAGE_CONTROL_EXTRA "${debian}/libringside-messages0/shlibs"
  "${debian}/libringside-messages0/triggers")
set(CPACK_DEBIAN_MESSAGES_DESCRIPTION
"publish the steps of a solver to Ringside, and read them (messages)
The library libringside loads this one for a run with --coordination
messages, in which solver and analyzer announce steps to each other by ZeroMQ
instead of futexes. No program is linked with it.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libringside-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libringside0 (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS ringside)
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION
"publish the steps of a solver to Ringside (development files)
The headers for C (ringside.h) and C++20 (ringside.hpp), the adapters for
solvers of Eigen and Ginkgo, the source of the Fortran module, and the files
for CMake (find_package(Ringside)) and pkg-config (ringside.pc). The same for
libringside_memory, a software Memory Mode (ringside_memory.h).")

# cmake/package_depends.cmake adds the libraries. Because MPI's library is one of them, the package is for one MPI
# implementation.
set(CPACK_DEBIAN_MPI_PACKAGE_NAME libringside-mpi0)
set(CPACK_DEBIAN_MPI_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_MPI_PACKAGE_RECOMMENDS "ringside, openmpi-bin")
set(CPACK_DEBIAN_MPI_PACKAGE_CONTROL_EXTRA "${debian}/libringside-mpi0/shlibs" "${debian}/libringside-mpi0/symbols"
  "${debian}/libringside-mpi0/triggers")
set(CPACK_DEBIAN_MPI_DESCRIPTION
"publish the steps of a solver to Ringside, and read them (MPI)
A solver that runs as several MPI ranks publishes its distributed arrays step
by step with this library. The ranks of a node share one analyzer, which keeps
the last steps of the node's part; the run resumes from the newest step that
all nodes hold. It is for Debian's Open MPI.")

set(CPACK_DEBIAN_MPI_DEVELOPMENT_PACKAGE_NAME libringside-mpi-dev)
set(CPACK_DEBIAN_MPI_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_MPI_DEVELOPMENT_PACKAGE_DEPENDS
  "libringside-mpi0 (= ${PROJECT_VERSION}), libringside-dev (= ${PROJECT_VERSION}), libopenmpi-dev")
set(CPACK_DEBIAN_MPI_DEVELOPMENT_DESCRIPTION
"publish the steps of a solver to Ringside (MPI development files)
The header ringside_mpi.h, and the file for pkg-config (ringside-mpi.pc), for
solvers that run as several MPI ranks.")

# cmake/package_depends.cmake adds the libraries.
set(CPACK_DEBIAN_MPI_PROGRAMS_PACKAGE_NAME ringside-mpi)
set(CPACK_DEBIAN_MPI_PROGRAMS_PACKAGE_SECTION science)
set(CPACK_DEBIAN_MPI_PROGRAMS_PACKAGE_DEPENDS
  "ringside (= ${PROJECT_VERSION}), libringside-mpi0 (= ${PROJECT_VERSION}), openmpi-bin")
set(CPACK_DEBIAN_MPI_PROGRAMS_DESCRIPTION
"keep, analyse and account for every iterate of a solver (MPI)
The solvers of the package ringside (PageRank, Jacobi, conjugate gradients) as
several MPI ranks with rows distributed among them, started by `ringside run
--ranks`. It is for Debian's Open MPI.")

# cmake/package_depends.cmake adds the dependencies on Python, NumPy and libraries.
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-ringside)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "libringside0 (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS ringside)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-scipy, python3-petsc4py, python3-pandas")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA "${debian}/python3-ringside/postinst" "${debian}/python3-ringside/prerm")
set(CPACK_DEBIAN_PYTHON_DESCRIPTION
"publish the steps of a solver to Ringside, and read them (Python)
A solver in Python publishes NumPy arrays in shared memory step by step; an
analyzer (package ringside) keeps the last steps in a crash-safe ring, from
which the solver resumes. A reader gets the kept steps as NumPy arrays in
place. There are solvers and callbacks for SciPy, and monitors for PETSc.")
include(CPack)
