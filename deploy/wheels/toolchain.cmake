# SPDX-License-Identifier: BSD-3-Clause
# CMake's toolchain file of the wheels: GCC of Debian 12, linking with the glibc and the static libraries that
# libraries.sh made in $RINGSIDE_WHEEL_LIBRARIES. The result needs glibc 2.28 or newer.
set(libraries "$ENV{RINGSIDE_WHEEL_LIBRARIES}")
set(prefix "${libraries}/prefix")
set(glibc "${libraries}/glibc")
if(NOT EXISTS "${prefix}" OR NOT EXISTS "${glibc}/glibc_2_28.o")
  message(FATAL_ERROR "RINGSIDE_WHEEL_LIBRARIES: found '${libraries}', expected the folder that deploy/wheels.sh makes")
endif()

set(CMAKE_C_FLAGS_INIT "-ffunction-sections -fdata-sections")
set(CMAKE_CXX_FLAGS_INIT "-ffunction-sections -fdata-sections")
set(link "-B${glibc}/usr/lib/x86_64-linux-gnu -L${glibc}/usr/lib/x86_64-linux-gnu -Wl,--sysroot=${glibc}")
string(APPEND link " -static-libstdc++ -static-libgcc -Wl,--as-needed -Wl,--gc-sections ${glibc}/glibc_2_28.o")
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "${link}")
endforeach()
set(CMAKE_CXX_STANDARD_LIBRARIES "-lpthread -ldl -lrt")  # separate libraries before glibc 2.34

# Of the distribution, only headers and programs are used.
set(CMAKE_PREFIX_PATH "${prefix}")
set(ENV{PKG_CONFIG_LIBDIR} "${prefix}/lib/pkgconfig")
set(Protobuf_USE_STATIC_LIBS ON)
set(OpenMP_CXX_FLAGS -fopenmp CACHE STRING "")
set(OpenMP_CXX_LIB_NAMES "gomp;pthread" CACHE STRING "")
set(OpenMP_gomp_LIBRARY "/usr/lib/gcc/x86_64-linux-gnu/12/libgomp.a" CACHE FILEPATH "")
set(OpenMP_pthread_LIBRARY "-lpthread" CACHE STRING "")
