// SPDX-License-Identifier: BSD-3-Clause
// Ringside's version. version.cpp alone is compiled with it, so that a new version recompiles one file.
#pragma once

namespace ringside {

/// "0.2.0": the version that the top CMakeLists.txt names.
const char* version() noexcept;

}  // namespace ringside
