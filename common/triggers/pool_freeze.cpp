// SPDX-License-Identifier: BSD-3-Clause
#include "common/triggers/pool_freeze.hpp"

#include <unistd.h>

#include <cerrno>
#include <string_view>

#include <nlohmann/json.hpp>

#include "common/files/new_file.hpp"
#include "common/files/output_file.hpp"
#include "common/files/regular_file.hpp"
#include "common/platform/error.hpp"

namespace ringside {
namespace {

constexpr const char* kVersionKey = "ringside_freeze";
constexpr int kVersion = 1;
constexpr std::size_t kMostBytes = 4096;

std::string content_of(int fd, const std::string& name) {
  std::string content(kMostBytes + 1, '\0');
  std::size_t bytes = 0;
  while (bytes < content.size()) {
    const ssize_t count = read(fd, content.data() + bytes, content.size() - bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw system_error("{}: cannot be read ({})", name, errno_text(errno));
    if (count == 0) break;
    bytes += static_cast<std::size_t>(count);
  }
  content.resize(bytes);
  return content;
}

}  // namespace

std::optional<PoolFreeze> read_freeze(const std::string& pool) {
  const std::string name = pool + kFreezeSuffix;
  const RegularFile file = open_regular(name, O_RDONLY | O_NOFOLLOW);
  if (file.error == ENOENT) return std::nullopt;
  if (!file.valid()) throw system_error("{}: {}; expected a file that says that the pool is frozen", name, file.why());
  const auto json = nlohmann::json::parse(content_of(file.fd.get(), name), nullptr, false);
  try {
    if (json.at(kVersionKey).get<int>() == kVersion) {
      return PoolFreeze{json.at("pool_id"),   json.at("run_id"),  json.at("iteration"), json.at("step"),
                        json.at("commit_seq"), json.at("trigger"), json.at("unix_ns")};
    }
  } catch (const nlohmann::json::exception&) {
  }
  throw damage_error(
      "{}: cannot be understood; expected an object with \"{}\": {} (docs/triggers.md); if the pool need not stay "
      "frozen, `ringside thaw {}`",
      name, kVersionKey, kVersion, pool);
}

std::optional<PoolFreeze> freeze_of(const std::string& pool, const Id128& pool_id, const std::optional<Id128>& run_id) {
  std::optional<PoolFreeze> freeze = read_freeze(pool);
  if (!freeze || freeze->pool_id != to_string(pool_id)) return std::nullopt;
  if (run_id && freeze->run_id != to_string(*run_id)) return std::nullopt;
  return freeze;
}

int write_freeze(const std::string& pool, const PoolFreeze& freeze) {
  const nlohmann::ordered_json json{{kVersionKey, kVersion},
                                    {"pool_id", freeze.pool_id},
                                    {"run_id", freeze.run_id},
                                    {"iteration", freeze.iteration},
                                    {"step", freeze.step},
                                    {"commit_seq", freeze.commit_seq},
                                    {"trigger", freeze.trigger},
                                    {"unix_ns", freeze.unix_ns}};
  const std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  NewFile file(pool + kFreezeSuffix, kPrivateMode);
  if (!file.fd().valid()) return errno;
  if (write(file.fd().get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return errno != 0 ? errno : ENOSPC;
  }
  return file.publish();
}

bool remove_freeze(const std::string& pool) {
  const std::string name = pool + kFreezeSuffix;
  if (unlink(name.c_str()) == 0) {
    sync_folder_of(name);
    return true;
  }
  if (errno == ENOENT) return false;
  throw system_error("{}: cannot be deleted ({})", name, errno_text(errno));
}

}  // namespace ringside
