// SPDX-License-Identifier: BSD-3-Clause
// `ringside wipe POOL`: overwrites every byte of a pool before deleting it.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <system_error>

#include "analyzer/journal/journal_wipe.hpp"
#include "analyzer/pool/pool_wipe.hpp"
#include "cli/subcommands.hpp"
#include "cli/terminal/format.hpp"
#include "cli/terminal/terminal_line.hpp"
#include "common/files/beside_pool.hpp"
#include "common/options/command_line.hpp"
#include "common/platform/error.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "common/ranks/node_address.hpp"
#include "common/ranks/ranks_file.hpp"
#include "common/text/printable.hpp"
#include "common/triggers/pool_freeze.hpp"

namespace ringside {
namespace {

/// Describes the content that would be lost, if it is still readable.
std::string describe_content(const std::string& pool) {
  try {
    const Recovery recovery = RingReader::open(pool).recover();
    if (recovery.kept.empty()) return "no iterates";
    return fmt::format("{} iterates, the newest of iteration {}", recovery.kept.size(),
                       with_separators(recovery.kept.back().header.iteration));
  } catch (const Error&) {
    return "a pool that cannot be read";
  }
}

/// Asks for confirmation. Throws Error (exit code 2) if the user does not type yes.
void ask(const std::string& pool, std::uint64_t bytes) {
  if (isatty(STDIN_FILENO) != 1) {
    throw usage_error("{}: not wiped: standard input is not a terminal, so the command cannot ask; give --yes", pool);
  }
  fmt::print(stderr, "{}: {}, {}. Overwrite and delete it? Type yes: ", printable(pool),
             printable(describe_content(pool)), megabytes(bytes));
  std::fflush(stderr);
  std::string answer;
  std::getline(std::cin, answer);
  if (answer != "yes") throw usage_error("{}: not wiped: found '{}', expected yes", pool, answer);
}

/// A pool and its journal, locked.
class WipedPool {
 public:
  WipedPool(const std::string& pool, Foreign foreign)
      : pool_(pool),
        wipe_(pool, foreign),
        journal_(pool, foreign),
        global_journal_(beside_pool(pool, kGlobalSuffix), foreign) {}
  std::uint64_t bytes() const { return wipe_.bytes(); }

  void wipe() {
    // The journal is wiped first, because an interrupted wipe can be repeated as long as the pool exists. The pool is
    // locked, so no analyzer can record anything more.
    const WipedJournal journal = journal_.overwrite();
    const WipedJournal global_journal = global_journal_.overwrite();
    {
      TerminalLine progress;
      wipe_.overwrite([&](std::uint64_t done) {
        progress.show(fmt::format("overwritten {} of {}", megabytes(done), megabytes(wipe_.bytes())));
      });
    }
    wipe_.remove();
    fmt::print("{}: {} bytes overwritten with zeros, synced, and deleted\n", printable(pool_),
               with_separators(wipe_.bytes()));
    if (journal.files > 0) {
      fmt::print("{}: its journal was wiped, too: {} bytes in {} files\n", printable(pool_),
                 with_separators(journal.bytes), journal.files);
    }
    if (global_journal.files > 0) {
      fmt::print("{}: the journal of the whole run was wiped, too: {} bytes in {} files\n", printable(pool_),
                 with_separators(global_journal.bytes), global_journal.files);
    }
    if (wipe_.other_names() > 0) {
      fmt::print("note: the file has {} other names (hard links): they remain, and their content is now zeros\n",
                 wipe_.other_names());
    }
  }

 private:
  std::string pool_;
  PoolWipe wipe_;
  JournalWipe journal_;
  JournalWipe global_journal_;  // on the first node of a run of several nodes
};

}  // namespace

int wipe_command(int argc, const char* const* argv) {
  std::string pool;
  bool yes = false;
  bool foreign_pool = false;
  CommandLine line(
      "Overwrites every byte of a pool, its journal and its archive with zeros, syncs, and deletes them. (The data of\n"
      "files that are only deleted remain on persistent memory and disks.) Refuses while an analyzer uses the pool.\n"
      "If a wipe was interrupted, repeat it.",
      "ringside wipe");
  line.option("POOL", pool, "pool file; it may be damaged or unfinished").required().value_name("FILE");
  line.flag("--yes", yes, "wipe without asking");
  line.flag("--foreign-pool", foreign_pool,
            "wipe a pool and a journal that belong to another user, have several names (hard links), or are reached through "
            "another user's symbolic link");
  line.footer(
      "Limits: file systems that copy on write (btrfs, zfs, reflinks), snapshots and backups keep old blocks, and\n"
      "a disk may keep blocks that it has remapped (every SSD does). When a journal in plain files was full and\n"
      "began anew, it gave blocks with old records back to the file system. If that matters, encrypt, or discard\n"
      "the whole device. Exported iterates, summaries and matrix caches are separate files and are kept.");
  if (const auto code = parse_or_exit_code(line, argc, argv)) return *code;

  if (pool.ends_with(kRanksEnding)) {
    throw usage_error("{}: found a ranks file, expected the pool beside it, {}; wiping the pool deletes both", pool,
                      pool.substr(0, pool.size() - kRanksEnding.size()));
  }
  const std::string archive = archive_path(pool);
  const Foreign foreign = foreign_pool ? Foreign::kAllowed : Foreign::kRefused;
  WipedPool whole(pool, foreign);  // before the confirmation and any overwriting, because this may refuse the pool
  std::optional<WipedPool> archived;
  std::error_code error;
  if (std::filesystem::exists(archive, error)) archived.emplace(archive, foreign);
  if (!yes) ask(pool, whole.bytes() + (archived ? archived->bytes() : 0));
  if (archived) archived->wipe();  // wiped before the pool, so that an interrupted wipe can be repeated
  // These files are removed before the pool: wiping a pool also removes a symbolic link to it, and without this link,
  // the files beside the pool could no longer be found.
  remove_freeze(pool);
  remove_ranks(pool);
  whole.wipe();
  return 0;
}

}  // namespace ringside
