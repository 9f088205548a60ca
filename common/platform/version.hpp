// SPDX-License-Identifier: BSD-3-Clause
// Ringside's version. Only version.cpp is compiled with the version, so that a new version recompiles one file.
#pragma once

namespace ringside {

/// The version in the top CMakeLists.txt, for example "0.2.0".
const char* version() noexcept;

}  // namespace ringside
