# SPDX-License-Identifier: BSD-3-Clause
# All dependencies come from the distribution, and none is copied into this repository. deploy/packages.sh names the
# packages.

# What libringside needs; another project's build searches only for these. Of xxHash, only the header is used.
find_package(Threads REQUIRED)
find_path(RINGSIDE_XXHASH_INCLUDE xxhash.h REQUIRED)

# What libringside_mpi needs in addition, besides MPI.
if(RINGSIDE_BUILD_COMMON)
  find_package(OpenMP REQUIRED COMPONENTS CXX)
  find_package(fmt REQUIRED)
  find_package(nlohmann_json REQUIRED)
endif()
if(NOT RINGSIDE_BUILD_PROGRAMS)
  return()
endif()

find_package(PkgConfig REQUIRED)
find_package(Protobuf REQUIRED)
pkg_check_modules(zmq REQUIRED IMPORTED_TARGET libzmq)
find_path(RINGSIDE_CPPZMQ_INCLUDE zmq.hpp REQUIRED)
find_package(ZLIB REQUIRED)
find_package(LibLZMA REQUIRED)
find_package(LibArchive REQUIRED)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
pkg_check_modules(pmemobj REQUIRED IMPORTED_TARGET libpmemobj)
pkg_check_modules(pmem REQUIRED IMPORTED_TARGET libpmem)
# PMDK has deprecated libpmemlog, and newer releases lack it. The journal works without it.
pkg_check_modules(pmemlog IMPORTED_TARGET libpmemlog)
# For the metrics and charts of `ringside serve` and `ringside report`.
find_package(prometheus-cpp REQUIRED)
find_file(RINGSIDE_CHART_JS chart.min.js PATHS /usr/share/javascript/chart.js /usr/share/nodejs/chart.js/dist REQUIRED)
# For `ringside export`: HDF5, with its C interface and without MPI; and the header of FlatBuffers, for the metadata of
# Arrow files.
pkg_check_modules(hdf5 REQUIRED IMPORTED_TARGET "hdf5>=1.10.5")
find_path(RINGSIDE_FLATBUFFERS_INCLUDE flatbuffers/flatbuffers.h REQUIRED)
# For the conditions of triggers.
pkg_check_modules(muparser REQUIRED IMPORTED_TARGET muparser)
pkg_check_modules(hwloc REQUIRED IMPORTED_TARGET hwloc)
if(RINGSIDE_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
