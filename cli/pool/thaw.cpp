// SPDX-License-Identifier: BSD-3-Clause
// `ringside thaw POOL`: ends a trigger's `freeze`, so that a run can continue in the pool (docs/use/questions.md).
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "analyzer/pool/pool_file.hpp"
#include "cli/pool/pool_arguments.hpp"
#include "cli/subcommands.hpp"
#include "cli/terminal/format.hpp"
#include "common/files/regular_file.hpp"
#include "common/options/command_line.hpp"
#include "common/platform/error.hpp"
#include "common/text/printable.hpp"
#include "common/triggers/pool_freeze.hpp"

namespace ringside {
namespace {

/// The time of the freeze, for the user. Empty if the time cannot be read; the freeze is removed nevertheless.
std::string since(const std::string& pool) {
  try {
    const std::optional<PoolFreeze> freeze = read_freeze(pool);
    if (freeze) {
      return fmt::format(" since iteration {} (trigger '{}')", with_separators(freeze->iteration),
                         printable(freeze->trigger));
    }
  } catch (const Error&) {
  }
  return {};
}

}  // namespace

int thaw_command(int argc, const char* const* argv) {
  std::string pool;
  CommandLine line(
      "Lets a run continue in a pool whose ring a trigger has frozen. The run may then overwrite the kept iterates.\n"
      "Refuses while an analyzer uses the pool. Changes nothing in the pool itself.",
      "ringside thaw");
  line.option("POOL", pool, "pool file").required().value_name("FILE");
  if (const auto code = parse_or_exit_code(line, argc, argv)) return *code;

  pool = one_pool_of(pool);
  std::error_code error;
  const bool has_pool = std::filesystem::exists(pool, error);
  if (!has_pool && !std::filesystem::exists(freeze_path(pool), error)) {
    throw usage_error("{}: there is no such file, expected a pool", pool);
  }
  // While this process owns the pool, no analyzer can begin to use it, for example the successor of a lost analyzer.
  RegularFile owned;
  if (has_pool) {
    owned = open_regular(pool, O_RDWR);
    if (!owned.valid()) throw system_error("{}: {}; expected a pool that this user may write", pool, owned.why());
    lock_or_throw(owned.fd.get(), pool);
  }
  const std::string when = since(pool);
  if (remove_freeze(pool)) {
    fmt::print("{}: was frozen{}; `ringside run --resume` continues it\n", printable(pool), when);
  } else {
    fmt::print("{}: is not frozen\n", printable(pool));
  }
  return 0;
}

}  // namespace ringside
