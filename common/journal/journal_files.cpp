// SPDX-License-Identifier: BSD-3-Clause
#include "common/journal/journal_files.hpp"

#include <filesystem>
#include <system_error>

#include "common/files/beside_pool.hpp"
#include "common/text/formatted.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

}  // namespace

std::string journal_log_path(const std::string& pool, std::uint32_t log) {
  return beside_pool(pool, formatted(".journal-{}", log));
}

std::vector<std::string> journal_files_there(const std::string& pool) {
  std::vector<std::string> there;
  for (std::uint32_t log = 0; log < kJournalLogs; ++log) {
    std::string path = journal_log_path(pool, log);
    std::error_code ignored;
    if (fs::exists(fs::symlink_status(path, ignored))) there.push_back(std::move(path));
  }
  return there;
}

std::string pool_of_journal_file(const std::string& file) {
  for (std::uint32_t log = 0; log < kJournalLogs; ++log) {
    const std::string suffix = journal_log_path("", log);
    if (file.size() > suffix.size() && file.ends_with(suffix)) return file.substr(0, file.size() - suffix.size());
  }
  return {};
}

}  // namespace ringside
