# SPDX-License-Identifier: BSD-3-Clause
# `cmake --install` runs this on the installed documents: it turns links to files that exist only in the repository into
# plain text, so that no link is dead. `documents` is the documents' folder.
cmake_path(ABSOLUTE_PATH documents BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}")
file(GLOB pages "$ENV{DESTDIR}${documents}/README.md" "$ENV{DESTDIR}${documents}/docs/*/*.md")
foreach(page IN LISTS pages)
  file(READ "${page}" text)
  string(REGEX REPLACE [=[\[([^]]+)\]\((\.\./)*(CONTRIBUTING\.md|LICENSE|bench/[^)]*|common/[^)]*|include/[^)]*|library/[^)]*|mpi/[^)]*)\)]=] [=[\1]=] plain "${text}")
  if(NOT plain STREQUAL text)
    file(WRITE "${page}" "${plain}")
  endif()
endforeach()
