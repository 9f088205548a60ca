// SPDX-License-Identifier: BSD-3-Clause
// `ringside gather FOLDER`: copies the rings of all nodes of a run into one folder, for nodes without a shared file
// system (docs/publish/mpi.md). A ring is copied as a file, and the copy is then checked like any other ring. If an
// analyzer changes the ring during the copying, the check finds damage. Therefore every step in an accepted copy is
// whole.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/subcommands.hpp"
#include "cli/terminal/format.hpp"
#include "common/files/beside_pool.hpp"
#include "common/files/output_file.hpp"
#include "common/files/output_folder.hpp"
#include "common/options/command_line.hpp"
#include "common/platform/error.hpp"
#include "common/platform/names.hpp"
#include "common/platform/stop_flag.hpp"
#include "common/platform/unique_fd.hpp"
#include "common/pool_reader/pool_look.hpp"
#include "common/program/stop_signal.hpp"
#include "common/ring/ring_check.hpp"
#include "common/node_rings/ring_set.hpp"
#include "common/text/printable.hpp"

extern char** environ;

namespace ringside {
namespace {

namespace fs = std::filesystem;

/// A pool on a node.
struct Source {
  std::string host;  // empty: this machine
  std::string pool;
  std::string text() const { return host.empty() ? pool : host + ":" + pool; }
};

/// Parses HOST:POOL, or POOL for a pool on this machine.
Source source_of(const std::string& text) {
  const std::size_t colon = text.find(':');
  const bool has_host = colon != std::string::npos && text.find('/') > colon;
  const Source source{has_host ? text.substr(0, colon) : "", has_host ? text.substr(colon + 1) : text};
  if (source.pool.empty() || text.starts_with('-')) {
    throw usage_error("--from: found '{}', expected HOST:POOL, or the path of a pool on this machine", text);
  }
  return source;
}

/// The sources that a ranks file names. The file is not trusted, because its words become arguments of a command, which
/// may pass them to a shell.
std::vector<Source> sources_in(const std::string& path) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  const RanksFile ranks = read_ranks(path);
  const std::string own_host = host_name();
  std::vector<Source> sources;
  for (std::size_t n = 0; n < ranks.nodes.size(); ++n) {
    const auto& [host, pool, its_ranks] = ranks.nodes[n];
    const bool plain_host = host.find_first_not_of(kPlain) == std::string::npos && !host.starts_with('-');
    const bool plain_pool =
        pool.starts_with('/') && pool.find_first_not_of(std::string(kPlain) + "/+=@%,") == std::string::npos;
    if (!plain_host || !plain_pool) {
      throw usage_error(
          "--ranks: {}: {}: found host '{}' and pool '{}', expected a machine's name and an absolute path, both of "
          "plain letters; give --from HOST:POOL for each node",
          path, ranks.name_of(n), printable(host), printable(pool));
    }
    sources.push_back({host == own_host ? "" : host, pool});
  }
  return sources;
}

/// The way in which the rings are copied.
struct Copier {
  std::string command;  // given by the user
  StopFlag stop;        // stops the copying
};

/// Runs the user's command, with the source and the destination as the last two arguments.
void copy_by(const Copier& copier, const std::string& from, const std::string& to) {
  std::string script = copier.command + " \"$@\"";
  std::string words[] = {"sh", "-c", script, "sh", from, to};
  char* arguments[7] = {};
  for (std::size_t i = 0; i < 6; ++i) arguments[i] = words[i].data();
  pid_t child = 0;
  if (const int error = posix_spawn(&child, "/bin/sh", nullptr, nullptr, arguments, environ)) {
    throw system_error("--copy: cannot start '/bin/sh': {}", errno_text(error));
  }
  const UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  pollfd watched{pidfd.get(), POLLIN, 0};
  constexpr int kLookMs = 100;  // the wait lasts this long if a signal came just before it
  while (pidfd.valid() && poll(&watched, 1, kLookMs) <= 0) {
    if (copier.stop.is_set()) kill(child, SIGTERM);  // Ctrl-C also reaches the command itself; other signals do not
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  const std::string how = WIFEXITED(status) ? fmt::format("ended with exit code {}", WEXITSTATUS(status))
                                            : fmt::format("was ended by signal {}", WTERMSIG(status));
  throw system_error("--copy: '{}' {} while copying '{}'; expected a command that copies HOST:FILE to a file here",
                     copier.command, how, from);
}

void copy_file(const Copier& copier, const Source& source, const std::string& ending, const std::string& to) {
  if (source.host.empty()) {
    const std::string from = ending.empty() ? source.pool : beside_pool(source.pool, ending);
    std::error_code error;
    fs::copy_file(from, to, error);
    if (error) throw system_error("{}: cannot be copied to '{}' ({})", from, to, errno_text(error.value()));
  } else {
    copy_by(copier, source.text() + ending, to);
  }
  if (chmod(to.c_str(), kPrivateMode) != 0) {
    throw system_error("--copy: '{}' made no file of '{}' ({})", copier.command, source.text() + ending,
                       errno_text(errno));
  }
}

std::string pool_name(std::size_t node) {
  return fmt::format("node{}.pool", node);
}

/// Copies one ring with its ranks file into the folder. Returns the ranks file.
RanksFile gather_one(const Source& source, const Copier& copier, const std::string& folder) {
  if (source.host.empty() && owner_of(source.pool)) throw in_use(source.pool);
  const std::string first = folder + "/new.pool";
  copy_file(copier, source, std::string(kRanksEnding), ranks_path(first));
  RanksFile ranks = read_ranks(ranks_path(first));
  const std::string pool = folder + "/" + pool_name(ranks.node);
  if (fs::exists(pool)) {
    throw usage_error("--from: {} is a second ring of node {}; expected one ring of each node", source.text(),
                      ranks.node);
  }
  copy_file(copier, source, "", pool);
  fs::remove(ranks_path(first));
  return ranks;
}

/// Throws Error if a step of a ring is not whole.
void check(const RingSet& set) {
  set.expect_all();
  for (const NodeRing& ring : set.nodes()) {
    const Recovery recovery = ring.reader->recover();
    std::string damage = recovery.damaged.empty() ? "" : fmt::format("the header of slot {}", recovery.damaged[0]);
    for (const KeptSlot& kept : recovery.kept) {
      if (check_slot(ring.reader->ring(), kept).damaged()) {
        damage = fmt::format("iteration {} in slot {}", kept.header.iteration, kept.slot);
      }
    }
    if (damage.empty()) continue;
    throw damage_error(
        "{}: its copy is damaged ({}); gather it again if an analyzer was at work; otherwise check the original ring "
        "with `ringside verify`",
        ring.name, damage);
  }
}

int gather(const std::string& output, const std::vector<Source>& sources, const std::string& command) {
  const StopFlag stop = catch_stop_signals();  // an interruption removes the copies made so far
  const Copier copier{command, stop};
  const auto end_if_interrupted = [&stop] {
    if (stop.is_set()) throw Error(ExitCode::kInterrupted, "interrupted before all rings were copied");
  };
  OutputFolder folder(output, "FOLDER", "a folder of rings");
  std::optional<RanksFile> ranks;
  std::map<std::size_t, std::string> gathered;  // for each node: the source of its ring
  for (const Source& source : sources) {
    fmt::print(stderr, "ringside: copying {}\n", printable(source.text()));
    RanksFile found = [&] {
      try {
        return gather_one(source, copier, folder.beside());
      } catch (const Error&) {
        end_if_interrupted();
        throw;
      }
    }();
    end_if_interrupted();
    if (ranks && (found.run_id != ranks->run_id || found.nodes.size() != ranks->nodes.size())) {
      throw usage_error("--from: {} is of run {}, {} of run {}; expected rings of one run", source.text(),
                        to_string(found.run_id), gathered.begin()->second, to_string(ranks->run_id));
    }
    gathered[found.node] = source.text();
    if (!ranks) ranks = std::move(found);
  }
  std::vector<std::string> missing;
  for (std::size_t n = 0; n < ranks->nodes.size(); ++n) {
    const RanksFile::Node& node = ranks->nodes[n];
    if (!gathered.contains(n)) missing.push_back(fmt::format("{}: {}:{}", ranks->name_of(n), node.host, node.pool));
  }
  if (!missing.empty()) {
    throw usage_error("--from: found no ring of {}; expected those of all {} nodes",
                      fmt::format("{}", fmt::join(missing, ", ")), ranks->nodes.size());
  }
  for (std::size_t n = 0; n < ranks->nodes.size(); ++n) ranks->nodes[n].pool = pool_name(n);
  for (std::size_t n = 0; n < ranks->nodes.size(); ++n) {
    ranks->node = static_cast<std::uint32_t>(n);
    write_ranks(folder.beside() + "/" + pool_name(n), *ranks);
  }
  std::vector<std::uint64_t> iterations;
  {
    const RingSet set = RingSet::open(folder.beside());
    check(set);
    for (const StepOfRings& step : set.steps()) iterations.push_back(step.iteration);
  }
  folder.publish();  // syncs the copies
  fmt::print("{}: copied and verified the rings of {}; all rings hold {}\n", printable(output),
             counted(ranks->nodes.size(), "node"),
             iterations.empty() ? "no common iteration" : "iterations " + iterations_text(iterations));
  return 0;
}

}  // namespace

int gather_command(int argc, const char* const* argv) {
  std::string folder;
  std::vector<std::string> from;
  std::string ranks;
  std::string command = "scp -q";
  CommandLine line(
      "Copies the rings of a run on several nodes into one new folder, and verifies each copy. The other commands\n"
      "read the folder as one ring. This is needed if the nodes share no file system. Gather after the run has ended:\n"
      "if an analyzer changes a step while it is copied, the copy is damaged and refused.",
      "ringside gather");
  line.option("FOLDER", folder, "new folder for the copies").required().value_name("DIR");
  line.option("--from", from,
              "a node's ring, named by its machine and its pool; give one for each node. Without HOST: a pool on this "
              "machine")
      .value_name("HOST:POOL");
  line.option("--ranks", ranks, "instead of --from: a ranks file (POOL.ranks), which names hosts and pools")
      .value_name("FILE");
  line.option("--copy", command,
              "command that copies HOST:FILE to a local file; these two names are appended to the command")
      .value_name("COMMAND")
      .show_default();
  if (const auto code = parse_or_exit_code(line, argc, argv)) return *code;

  if (from.empty() == ranks.empty()) {
    throw usage_error("--from, --ranks: found {}, expected one of them", from.empty() ? "neither" : "both");
  }
  std::vector<Source> sources = ranks.empty() ? std::vector<Source>() : sources_in(ranks);
  for (const std::string& text : from) sources.push_back(source_of(text));
  return gather(folder, sources, command);
}

}  // namespace ringside
