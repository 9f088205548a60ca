// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/place_check.hpp"

#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <system_error>

#include "analyzer/journal/journal.hpp"
#include "analyzer/pool/dax.hpp"
#include "analyzer/pool/foreign_file.hpp"
#include "analyzer/pool/pool_device.hpp"
#include "common/platform/error.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "common/program/log.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

/// Whether the file is a pool that can be read. Any other file is refused later, with the reason.
bool is_pool(const std::string& path) {
  try {
    RingReader::open(path, std::chrono::milliseconds(0));
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

void check_place(const RingOptions& ring) {
  if (ring.require_dax) require_dax(ring.pool);
  const PoolDevice device = find_pool_device(ring.pool);
  if (device.pmem) {
    const DaxAnswer answer = ask_for_dax(ring.pool, device);
    if (!answer.granted()) {
      log_warning(
          "event=storage pool={} storage=file device={} text=\"stores are synced through the page cache: {}; {}\"",
          ring.pool, device.name, answer.reason, answer.advice);
    }
  }
  struct stat status {};
  if (stat(ring.pool.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) == 0 || !is_pool(ring.pool)) return;
  log_warning("event=pool_mode pool={} mode={:04o} text=\"other users could read the pool; now only its owner can\"",
              ring.pool, status.st_mode & 07777);
}

void check_journal_place(const RingOptions& ring, JournalKind journal) {
  if (ring.foreign_pool || journal == JournalKind::kOff) return;
  for (const std::string& log : journal_files_there(ring.pool)) {
    struct stat status {};
    if (lstat(log.c_str(), &status) == 0) refuse_foreign_file(status, log);
  }
}

void check_asked_pool(const std::string& asked, const std::string& own) {
  namespace fs = std::filesystem;
  std::error_code none;
  if (asked.empty() || asked == fs::absolute(own, none)) return;
  if (fs::equivalent(asked, own, none) || fs::weakly_canonical(asked, none) == fs::weakly_canonical(own, none)) return;
  throw usage_error(
      "pool: found {}, but the pool of this analyzer is {}; expected the same pool, or RINGSIDE_SOCKET alone",
      shortened(asked), shortened(fs::absolute(own, none).string()));
}

}  // namespace ringside
