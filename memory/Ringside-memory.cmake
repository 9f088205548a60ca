# SPDX-License-Identifier: BSD-3-Clause
# Component memory of find_package(Ringside): Ringside::memory. Read by RingsideConfig.cmake.
include("${CMAKE_CURRENT_LIST_DIR}/RingsideMemoryTargets.cmake")
