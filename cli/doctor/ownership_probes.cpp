// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <string_view>

#include "analyzer/pool/pool_device.hpp"
#include "cli/doctor/probes.hpp"
#include "common/files/lock_holder.hpp"
#include "common/platform/names.hpp"
#include "common/platform/system_files.hpp"

namespace ringside {
namespace {

constexpr const char* kServiceUser = "ringside";
constexpr const char* kStateFolder = "/var/lib/ringside";
constexpr mode_t kOthers = S_IRWXG | S_IRWXO;

std::optional<struct stat> look_at(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

/// Whether the effective user, who will own new files, has the permissions in `mode`.
bool may(const std::string& path, int mode) {
  return faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0;
}

std::string describe(const std::string& path, const struct stat& status) {
  return fmt::format("{} belongs to {}, mode {:04o}", path, user_name(status.st_uid), status.st_mode & 07777);
}

/// Whether other users can replace the pool by another file: they have write access to the folder, and the folder lacks
/// the sticky bit, which would prevent the replacement.
bool lets_others_replace(const struct stat& folder) {
  return (folder.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (folder.st_mode & S_ISVTX) == 0;
}

std::optional<std::int64_t> uid_of_service(const std::string& root) {
  std::ifstream users(root + "/etc/passwd");
  const std::string begins = std::string(kServiceUser) + ":";
  for (std::string line; std::getline(users, line);) {
    if (!line.starts_with(begins)) continue;
    const std::size_t password = line.find(':', begins.size());
    if (password != std::string::npos) return number_of(std::string_view(line).substr(password + 1));
  }
  return std::nullopt;
}

}  // namespace

Finding probe_ownership(const std::string& place) {
  const std::string folder = pool_folder(place);
  const std::string me = user_name(geteuid());
  const auto folder_status = look_at(folder);
  const auto status = look_at(place);
  const bool has_pool = status && S_ISREG(status->st_mode);
  Finding finding{"ownership", Verdict::kOk, "", "", {{"user", me}}};
  if (!folder_status) {
    finding.verdict = Verdict::kProblem;
    finding.found = fmt::format("{} does not exist, or this user may not inspect it", folder);
    finding.advice = fmt::format("`install -d -m 0700 '{}'`, or name another place", folder);
    return finding;
  }
  finding.found = (has_pool ? describe(place, *status) + "; " : "") + describe(folder, *folder_status) +
                  "; this process runs as " + me;
  finding.facts.emplace_back("folder_owner", user_name(folder_status->st_uid));
  finding.facts.emplace_back("folder_mode", fmt::format("{:04o}", folder_status->st_mode & 07777));
  if (has_pool) {
    finding.facts.emplace_back("pool_owner", user_name(status->st_uid));
    finding.facts.emplace_back("pool_mode", fmt::format("{:04o}", status->st_mode & 07777));
  }
  const bool writable = may(folder, W_OK | X_OK) && (!has_pool || may(place, R_OK | W_OK));
  const bool of_another = has_pool ? status->st_uid != geteuid() : folder_status->st_uid != geteuid();
  const std::string owner =
      user_name((has_pool ? *status : *folder_status).st_uid).substr(std::string_view("user ").size());
  if (!writable) {
    finding.verdict = Verdict::kProblem;
    finding.advice =
        of_another
            ? fmt::format("run as its owner: `sudo -u {} ringside ...`, or name a place of your own", owner)
            : fmt::format("`chmod u+rwx '{}'`{}", folder, has_pool ? fmt::format("; `chmod 0600 '{}'`", place) : "");
  } else if (has_pool && (status->st_mode & kOthers) != 0) {
    finding.verdict = Verdict::kNote;
    finding.advice = fmt::format("other users can read the pool until an analyzer opens it: `chmod 0600 '{}'`", place);
  } else if (lets_others_replace(*folder_status)) {
    finding.verdict = Verdict::kNote;
    finding.advice = fmt::format("other users may replace the pool: `chmod go-w '{}'`", folder);
  } else if (has_pool && of_another) {
    finding.verdict = Verdict::kNote;
    finding.advice =
        fmt::format("files made beside the pool would belong to {}: run as the pool's owner: `sudo -u {} ringside ...`",
                    me.substr(std::string_view("user ").size()), owner);
  }
  return finding;
}

Finding probe_pool_owner(const std::string& place, const std::string& root) {
  const auto status = look_at(place);
  if (!status || !S_ISREG(status->st_mode)) return {"in_use", Verdict::kOk, "no pool there yet", "", {}};
  const auto holder = flock_holder(*status, root);
  if (!holder)
    return {"in_use", Verdict::kOk, fmt::format("no visible process owns {}", place), "", {{"in_use", false}}};
  return {"in_use",
          Verdict::kNote,
          fmt::format("{} is owned by {}", place, describe_holder(holder, root)),
          "meanwhile, info, verify, replay, analyze, export and tail work; another analyzer, wipe and --overwrite are "
          "refused",
          {{"in_use", true}, {"pid", std::int64_t{*holder}}}};
}

Finding probe_service(const std::string& root) {
  const auto uid = uid_of_service(root);
  Finding finding{"service", Verdict::kOk, "", "", {{"user_exists", uid.has_value()}}};
  if (!uid) {
    finding.found =
        fmt::format("no user {}: the services are not set up; `ringside run` does not need them", kServiceUser);
    return finding;
  }
  const auto state = look_at(root + kStateFolder);
  if (!state) {
    finding.verdict = Verdict::kNote;
    finding.found = fmt::format("user {} exists, {} does not", kServiceUser, kStateFolder);
    finding.advice = fmt::format("as root: `install -d -o {0} -g {0} -m 0700 {1}` (systemd does it at the first start)",
                                 kServiceUser, kStateFolder);
    return finding;
  }
  const bool own = state->st_uid == static_cast<uid_t>(*uid);
  const mode_t mode = state->st_mode & 07777;
  finding.found = fmt::format("{} belongs to {}, mode {:04o}", kStateFolder,
                              own ? std::string("user ") + kServiceUser : user_name(state->st_uid), mode);
  finding.facts.emplace_back("state_folder_owned", own);
  finding.facts.emplace_back("state_folder_mode", fmt::format("{:04o}", mode));
  if (!own) {
    finding.verdict = Verdict::kProblem;
    finding.advice = fmt::format("the services cannot keep anything there; as root: `chown -R {0}:{0} {1}`",
                                 kServiceUser, kStateFolder);
  } else if ((mode & kOthers) != 0) {
    finding.verdict = Verdict::kNote;
    finding.advice =
        fmt::format("only the services should have access to this folder; as root: `chmod 0700 {}`", kStateFolder);
  }
  return finding;
}

}  // namespace ringside
