// SPDX-License-Identifier: BSD-3-Clause
#include "common/triggers/pool_freeze.hpp"

#include <unistd.h>

#include <cerrno>
#include <span>
#include <string_view>

#include "common/files/beside_pool.hpp"
#include "common/files/new_file.hpp"
#include "common/files/output_file.hpp"
#include "common/files/regular_file.hpp"
#include "common/json/json.hpp"
#include "common/platform/error.hpp"

namespace ringside {
namespace {

constexpr const char* kVersionKey = "ringside_freeze";
constexpr int kVersion = 1;
constexpr std::size_t kMostBytes = 4096;

std::string content_of(int fd, const std::string& name) {
  std::string content(kMostBytes + 1, '\0');
  const std::size_t bytes = read_whole(fd, std::as_writable_bytes(std::span(content)), 0);
  if (bytes < content.size() && errno != 0) throw system_error("{}: cannot be read ({})", name, errno_text(errno));
  content.resize(bytes);
  return content;
}

/// Returns 0, or an errno value.
int write_at_begin(int fd, std::string_view text) noexcept {
  return write_whole(fd, std::as_bytes(std::span(text)), 0) < text.size() ? errno : 0;
}

}  // namespace

std::string freeze_path(const std::string& pool) {
  return beside_pool(pool, ".freeze");
}

std::string archive_path(const std::string& pool) {
  return beside_pool(pool, ".archive");
}

std::optional<PoolFreeze> read_freeze(const std::string& pool) {
  const std::string name = freeze_path(pool);
  const RegularFile file = open_regular(name, O_RDONLY | O_NOFOLLOW);
  if (file.error == ENOENT) return std::nullopt;
  if (!file.valid())
    throw system_error("{}: {}; expected a file that describes why the pool is frozen", name, file.why());
  const Json json = Json::try_parse(content_of(file.fd.get(), name));
  try {
    if (json.at(kVersionKey).get<int>() == kVersion) {
      return PoolFreeze{json.at("pool_id").text(),
                        json.at("run_id").text(),
                        json.at("iteration").get<std::uint64_t>(),
                        json.at("step").get<std::uint64_t>(),
                        json.at("commit_seq").get<std::uint64_t>(),
                        json.at("trigger").text(),
                        json.at("unix_ns").get<std::int64_t>()};
    }
  } catch (const JsonError&) {
  }
  throw damage_error(
      "{}: cannot be understood; expected an object with \"{}\": {} (docs/use/questions.md); if the pool need not stay "
      "frozen, run `ringside thaw {}`",
      name, kVersionKey, kVersion, pool);
}

std::optional<PoolFreeze> freeze_of(const std::string& pool, const Id128& pool_id, const Id128& run_id) {
  std::optional<PoolFreeze> freeze = read_freeze(pool);
  const bool counts = freeze && freeze->pool_id == to_string(pool_id) && freeze->run_id == to_string(run_id);
  return counts ? freeze : std::nullopt;
}

FreezeFile::FreezeFile(const std::string& pool) : name_(freeze_path(pool)), file_(name_, kPrivateMode) {
  if (!file_.fd().valid()) {
    error_ = errno;
    return;
  }
  // Write blanks, because fallocate does not guarantee space on every file system.
  error_ = write_at_begin(file_.fd().get(), std::string(kMostBytes, ' '));
  if (error_ == 0 && fsync(file_.fd().get()) != 0) error_ = errno;
}

int FreezeFile::write(const PoolFreeze& freeze) {
  if (error_ != 0) return error_;
  const Json json{{kVersionKey, kVersion},         {"pool_id", freeze.pool_id}, {"run_id", freeze.run_id},
                  {"iteration", freeze.iteration}, {"step", freeze.step},       {"commit_seq", freeze.commit_seq},
                  {"trigger", freeze.trigger},     {"unix_ns", freeze.unix_ns}};
  const std::string text = json.dump() + "\n";
  const int fd = file_.fd().get();
  if (const int error = write_at_begin(fd, text)) return error;
  if (ftruncate(fd, static_cast<off_t>(text.size())) != 0) return errno;
  if (const int error = file_.publish()) return error;
  return sync_folder_of(name_);  // makes the name survive a power loss
}

bool remove_freeze(const std::string& pool) {
  return remove_file(freeze_path(pool));
}

}  // namespace ringside
