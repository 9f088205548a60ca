// SPDX-License-Identifier: BSD-3-Clause
// The environment variables with which `ringside-memory run` configures the preload library, also in the processes that
// the program starts. Their names are defined only here. Sizes are bytes in decimal digits.
#pragma once

namespace ringside::memory {

inline constexpr char kVariablePrefix[] = "RINGSIDE_MEMORY_";
inline constexpr char kDramVariable[] = "RINGSIDE_MEMORY_DRAM";            // without it the library does nothing
inline constexpr char kFarVariable[] = "RINGSIDE_MEMORY_FAR";              // a folder
inline constexpr char kFarLimitVariable[] = "RINGSIDE_MEMORY_FAR_LIMIT";   // default: the folder's free space
inline constexpr char kMinSizeVariable[] = "RINGSIDE_MEMORY_MIN_SIZE";     // default: kDefaultMinSize
inline constexpr char kFaultsVariable[] = "RINGSIDE_MEMORY_FAULTS";        // signal or thread
inline constexpr char kForkVariable[] = "RINGSIDE_MEMORY_FORK";            // copy or none
inline constexpr char kNoreserveVariable[] = "RINGSIDE_MEMORY_NORESERVE";   // 1: also mappings with MAP_NORESERVE
inline constexpr char kFirstOnlyVariable[] = "RINGSIDE_MEMORY_FIRST_ONLY"; // 1: only the first program
inline constexpr char kAccountVariable[] = "RINGSIDE_MEMORY_ACCOUNT";      // the file of account_page.hpp

inline constexpr char kLevelVariable[] = "RINGSIDE_MEMORY_LEVEL";          // depth of the program in the run

inline constexpr char kPreloadName[] = "libringside_memory_preload.so";
inline constexpr unsigned long kDefaultMinSize = 1ul << 20;

}  // namespace ringside::memory
