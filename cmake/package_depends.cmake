# SPDX-License-Identifier: BSD-3-Clause
# cpack reads this before it makes the packages: what the libraries depend on, by dpkg-shlibdeps. If CPack calls that itself, it
# also adds maintainer scripts that call ldconfig, in place of the trigger that the packages have.

# libraries_of(VARIABLE FILE) sets VARIABLE to the libraries that FILE needs, as Depends names them.
function(libraries_of variable file)
  set(folder "${CPACK_RINGSIDE_BUILD}/debian/shlibdeps")
  file(WRITE "${folder}/debian/control" "Source: ringside\n\nPackage: ringside\nArchitecture: any\n")
  execute_process(COMMAND dpkg-shlibdeps -O -e "${file}"
    WORKING_DIRECTORY "${folder}" OUTPUT_VARIABLE depends ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "^shlibs:Depends=([^\n]*)\n.*" "\\1" depends "${depends}")
  set(${variable} "${depends}" PARENT_SCOPE)
endfunction()

libraries_of(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS "${CPACK_RINGSIDE_BUILD}/lib/libringside.so.0")
libraries_of(libraries "${CPACK_RINGSIDE_BUILD}/lib/libringside-messages.so.0")
string(APPEND CPACK_DEBIAN_MESSAGES_PACKAGE_DEPENDS ", ${libraries}")
