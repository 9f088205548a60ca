# SPDX-License-Identifier: BSD-3-Clause
# cpack runs this before it packs. It lets every user enter the folders, whatever umask the builder has. It skips links,
# which may lead to files of other packages.
file(GLOB_RECURSE paths LIST_DIRECTORIES true "${CPACK_TEMPORARY_DIRECTORY}/*")
foreach(path "${CPACK_TEMPORARY_DIRECTORY}" ${paths})
  if(IS_DIRECTORY "${path}" AND NOT IS_SYMLINK "${path}")
    file(CHMOD "${path}" PERMISSIONS
      OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  endif()
endforeach()
