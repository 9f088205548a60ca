# SPDX-License-Identifier: BSD-3-Clause
# The component `memory` of find_package(Ringside): it defines Ringside::memory. RingsideConfig.cmake reads this file.
include("${CMAKE_CURRENT_LIST_DIR}/RingsideMemoryTargets.cmake")
