# SPDX-License-Identifier: BSD-3-Clause
# cpack reads this before it makes the packages: what libringside0 depends on, by dpkg-shlibdeps. If CPack calls that itself, it
# also adds maintainer scripts that call ldconfig, in place of the trigger that the package has.
set(folder "${CPACK_RINGSIDE_BUILD}/debian/shlibdeps")
file(WRITE "${folder}/debian/control" "Source: ringside\n\nPackage: libringside0\nArchitecture: any\n")
execute_process(COMMAND dpkg-shlibdeps -O -e "${CPACK_RINGSIDE_BUILD}/lib/libringside.so.0"
  WORKING_DIRECTORY "${folder}" OUTPUT_VARIABLE depends ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "^shlibs:Depends=([^\n]*)\n.*" "\\1" CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS "${depends}")
