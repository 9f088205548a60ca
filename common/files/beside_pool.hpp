// SPDX-License-Identifier: BSD-3-Clause
// The names of the files beside a pool: its journal, its archive, its freeze file and its ranks file.
#pragma once

#include <string>

namespace ringside {

/// The pool's name with `ending` appended. Symbolic links are resolved first, so that every name of a pool gives the
/// same files.
std::string beside_pool(const std::string& pool, const std::string& ending);

/// Returns `path` as an absolute path, or unchanged if the current folder was deleted.
std::string absolute_path(const std::string& path);

}  // namespace ringside
