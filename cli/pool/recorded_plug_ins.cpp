// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pool/recorded_plug_ins.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "cli/pool/decoded_journal.hpp"
#include "common/journal/journal_files.hpp"
#include "common/platform/error.hpp"
#include "common/records/record_message.hpp"
#include "common/text/fixed_text.hpp"

namespace ringside {
namespace {

/// By the id of a plug-in: the names of its results, without the variables' names.
using Wanted = std::map<Id128, std::vector<std::string>>;

Wanted wanted_by(const RingView& ring) {
  Wanted wanted;
  for (const RunReading& reading : ring.runs()) {
    for (const ResultDescription& result : reading.catalogue) {
      const Id128 origin = origin_of(result);
      if (origin == Id128{}) continue;
      std::vector<std::string>& names = wanted[origin];
      const std::string name(text_of(result.name));
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return wanted;
}

/// The last description of each plug-in in the journal.
std::map<Id128, wire::PlugIn> plug_ins_in_journal(const std::string& pool) {
  std::map<Id128, wire::PlugIn> found;
  if (journal_files_there(pool).empty()) return found;
  for (const wire::Record& record : read_journal(pool).records) {
    for (const wire::PlugIn& plug_in : record.run_started().plug_ins()) {
      if (const auto id = id_of(plug_in.id())) found[*id] = plug_in;
    }
  }
  return found;
}

/// The reason why the code in the file must not run; empty if only this user and root can have written the file.
std::string distrust(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return "the file no longer exists";
  if (status.st_uid != geteuid() && status.st_uid != 0) return "another user owns it";
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "other users may write it";
  return {};
}

}  // namespace

RecordedPlugIns load_recorded(const std::string& pool, const RingView& ring, const std::vector<std::string>& given,
                              double timeout_s) {
  const Wanted wanted = wanted_by(ring);
  RecordedPlugIns found;
  std::vector<std::string> specs = given;
  std::vector<Id128> loaded;
  std::map<std::string, Id128> given_names;
  for (const std::string& spec : given) {
    const PlugIn plug_in = PlugIn::load(parse_plug_in(spec));
    loaded.push_back(plug_in.id());
    given_names[plug_in.name()] = plug_in.id();
  }
  const auto journal = wanted.empty() ? std::map<Id128, wire::PlugIn>() : plug_ins_in_journal(pool);
  for (const auto& one : wanted) {
    const Id128& id = one.first;
    const std::vector<std::string>& names = one.second;
    if (std::find(loaded.begin(), loaded.end(), id) != loaded.end()) continue;
    const auto add_missing = [&](const std::string& why) {
      found.missing.push_back(
          fmt::format("{}: not recomputed: {}; give --reduce-with FILE:NAME", fmt::join(names, ", "), why));
    };
    const auto of_same_name = std::find_if(given_names.begin(), given_names.end(), [&](const auto& known_name) {
      return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        return name == known_name.first || name.starts_with(known_name.first + ".");
      });
    });
    if (of_same_name != given_names.end()) {
      add_missing(
          fmt::format("the plug-in of '{}' in --reduce-with has another build or other settings than in the run",
                      of_same_name->first));
      continue;
    }
    const auto known = journal.find(id);
    if (known == journal.end()) {
      add_missing("the journal does not record the path of its plug-in");
      continue;
    }
    const std::string& spec = known->second.spec();
    if (known->second.deaths() > 0) {
      add_missing("its plug-in ended an analyzer during the run");
      continue;
    }
    try {
      const PlugInSpec parsed = parse_plug_in(spec);
      if (const std::string why = distrust(parsed.path); !why.empty()) {
        add_missing(fmt::format("{}: {}", parsed.path, why));
      } else if (PlugIn::load(parsed).id() != id) {
        add_missing(fmt::format("{} has changed since the run", parsed.path));
      } else {
        specs.push_back(spec);
        loaded.push_back(id);
      }
    } catch (const Error& error) {
      add_missing(error.what());
    }
  }
  found.set = std::make_unique<PlugInSet>(specs, timeout_s);
  return found;
}

}  // namespace ringside
