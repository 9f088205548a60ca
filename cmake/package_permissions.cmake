# SPDX-License-Identifier: BSD-3-Clause
# cpack runs this before it packs: every user may enter the folders, whatever the umask of the package's builder.
file(CHMOD_RECURSE "${CPACK_TEMPORARY_DIRECTORY}" DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
