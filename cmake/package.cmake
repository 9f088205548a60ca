# SPDX-License-Identifier: BSD-3-Clause
# The Debian package, by CPack: `deploy/package.sh`, or cpack -G DEB in a build folder whose programs are built. Its
# maintainer scripts, its changelog and its copyright file are in deploy/debian.
set(RINGSIDE_PACKAGE_MAINTAINER "The Ringside developers <ringside@ringside.example>" CACHE STRING
  "The maintainer named in the package (a site that builds its own package names itself)")
set(debian "${PROJECT_SOURCE_DIR}/deploy/debian")
set(made "${PROJECT_BINARY_DIR}/debian")

# The license text is that of LICENSE, indented as the format of copyright files requires.
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
install(FILES "${made}/copyright" "${made}/changelog.gz" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(FILES "${debian}/lintian-overrides" DESTINATION "${CMAKE_INSTALL_DATADIR}/lintian/overrides" RENAME ringside)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ringside)
set(CPACK_PACKAGE_VENDOR "the Ringside developers")
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "keep, analyse and account for every iterate of a solver")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_STRIP_FILES ON)
# Installed for the prefix /usr below a staging folder, so that settings go to /etc (cmake/install.cmake).
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/package_permissions.cmake")

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${RINGSIDE_PACKAGE_MAINTAINER}")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS passwd)  # for postinst's useradd, if systemd-sysusers is missing
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "ndctl, systemd")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA 
  "${debian}/postinst" "${debian}/prerm" "${debian}/postrm" "${debian}/conffiles")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"A producer process runs a solver on sparse matrices (PageRank, Jacobi,
conjugate gradients, or your own through a library) and publishes every
iterate through shared memory. An analyzer process on other cores keeps each
one in a crash-safe ring on persistent memory or any file, reduces it there,
and accounts for who waited for whom.
.
After a crash or a power cut the kept iterates are verified and replayed,
and the solver resumes from the last one, bit for bit. This package has the
programs, their services for systemd, and what prepares persistent memory.")
include(CPack)
