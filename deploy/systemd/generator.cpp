// SPDX-License-Identifier: BSD-3-Clause
// ringside-generator: systemd cannot read TOML. At boot and at every `systemctl daemon-reload` this program therefore
// converts some settings of /etc/ringside into drop-ins of units (systemd.generator(7), docs/use/operations.md): the
// cores and their NUMA nodes, the writable folders, and whether the network is needed.
//
// If a file cannot be used, the program writes one line to the kernel's log, and writes no drop-in. The boot continues,
// and the service itself reports the problem. It reads only /etc/ringside and /sys, because other files may not exist
// so early.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/options/command_line.hpp"
#include "common/options/settings_file.hpp"
#include "common/platform/error.hpp"
#include "common/platform/system_files.hpp"
#include "common/platform/unique_fd.hpp"
#include "common/program/topology.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

// This name is sorted before the drop-in of `systemctl edit`, so that this other drop-in takes precedence.
constexpr const char* kDropIn = "10-ringside.conf";
// Without a drop-in, the units may write below kState, and require the mounts here and at kPmem.
constexpr std::string_view kState = "/var/lib/ringside/";
constexpr std::string_view kPmem = "/var/lib/ringside/pmem/";

/// The values of a settings file, as the programs read them.
class Settings {
 public:
  explicit Settings(const fs::path& file) : settings_(read_settings(file.string(), "settings")) {}
  std::string value(std::string_view key) const {
    const Setting* found = find(key);
    return found == nullptr ? "" : found->value;
  }
  bool is_on(std::string_view key) const {
    const Setting* found = find(key);
    return found != nullptr && !found->quoted && found->value == "true";
  }

 private:
  const Setting* find(std::string_view key) const {
    const auto found =
        std::find_if(settings_.begin(), settings_.end(), [key](const Setting& setting) { return setting.key == key; });
    return found == settings_.end() ? nullptr : &*found;
  }

  std::vector<Setting> settings_;
};

/// Reads a list of cores or nodes in /sys; empty if there is no such file.
std::optional<std::vector<int>> list_in(const fs::path& file) {
  const std::optional<std::string> text = first_line(file.string());
  if (!text) return std::nullopt;
  if (text->empty()) return std::vector<int>{};  // a memory node without cores
  return parse_core_list(*text, file.string()).cpus;
}

bool holds_all(const std::vector<int>& list, const std::vector<int>& wanted) {
  return std::includes(list.begin(), list.end(), wanted.begin(), wanted.end());
}

/// The line CPUAffinity=; and a memory policy, if the cores are on only some of the machine's nodes, because the other
/// nodes are farther away. If the cores are on one node, memory comes from that node until it is used up. If they are
/// on several nodes, memory comes only from those nodes.
std::string placement(const std::string& cores, const fs::path& system) {
  if (cores.empty()) return {};
  const std::vector<int> cpus = parse_core_list(cores, "cores").cpus;
  if (const auto online = list_in(system / "cpu/online"); online && !holds_all(*online, cpus)) {
    throw usage_error("cores: found {}, expected cores among the available cores {}", cores,
                      to_string(CoreList{*online}));
  }
  const std::string affinity = fmt::format("CPUAffinity={}\n", to_string(CoreList{cpus}));
  const std::vector<int> nodes = list_in(system / "node/has_memory").value_or(std::vector<int>{});
  std::vector<int> of_cores;
  std::set<int> near_memory;
  for (const int node : nodes) {
    const std::vector<int> here =
        list_in(system / fmt::format("node/node{}/cpulist", node)).value_or(std::vector<int>{});
    const auto is_here = [&here](int cpu) { return std::binary_search(here.begin(), here.end(), cpu); };
    if (std::any_of(cpus.begin(), cpus.end(), is_here)) of_cores.push_back(node);
    std::copy_if(cpus.begin(), cpus.end(), std::inserter(near_memory, near_memory.end()), is_here);
  }
  const bool all_near = near_memory.size() == cpus.size();
  if (!all_near || of_cores.size() == nodes.size()) return affinity;
  return affinity + fmt::format("NUMAPolicy={}\nNUMAMask={}\n", of_cores.size() == 1 ? "preferred" : "bind",
                                to_string(CoreList{of_cores}));
}

/// Quotes `path` as a word of a unit file.
std::string word(const std::string& path) {
  std::string word = "\"";
  for (const char c : path) {
    if (static_cast<unsigned char>(c) < ' ') throw usage_error("found a path with a control character, expected none");
    if (c == '%') word += '%';
    if (c == '"' || c == '\\') word += '\\';
    word += c;
  }
  return word + '"';
}

struct DropIn {
  std::string unit;     // lines of its [Unit]
  std::string service;  // lines of its [Service]

  /// Makes sure that the file system of `path` is mounted first, if `path` is absolute.
  void needs(const fs::path& path) {
    if (path.is_absolute()) unit += "RequiresMountsFor=" + word(path) + "\n";
  }
  /// Permits the program to write to the folder. If the folder is missing, the program itself reports this.
  void writes(const fs::path& folder) {
    if (!folder.is_absolute()) return;
    if (folder == "/") throw usage_error("found a file in '/', expected a path in a dedicated folder");
    const std::string inside = folder.string() + "/";
    if (inside != kState && inside != kPmem) needs(folder);
    if (!inside.starts_with(kState)) service += "ReadWritePaths=" + word("-" + folder.string()) + "\n";
  }
};

DropIn for_analyzer(const Settings& settings, const fs::path& system) {
  DropIn drop_in{{}, placement(settings.value("cores"), system)};
  const fs::path pool = settings.value("pool");
  if (!pool.empty()) drop_in.writes(pool.lexically_normal().parent_path());
  if (!settings.value("telemetry-tcp").empty()) {
    drop_in.service += "PrivateNetwork=no\nRestrictAddressFamilies=AF_INET AF_INET6\nIPAddressAllow=any\n";
  }
  return drop_in;
}

DropIn for_producer(const Settings& settings, const fs::path& system) {
  DropIn drop_in{{}, placement(settings.value("cores"), system)};
  const fs::path matrix = settings.value("matrix");
  drop_in.needs(matrix);
  drop_in.needs(settings.value("rhs"));
  const fs::path cache = settings.value("cache-dir");
  if (settings.is_on("cache")) drop_in.writes((cache.empty() ? matrix.parent_path() : cache).lexically_normal());
  constexpr std::string_view kFar = "far:";
  const std::string memory = settings.value("matrix-memory");
  if (memory.starts_with(kFar)) drop_in.writes(fs::path(memory.substr(kFar.size())).lexically_normal());
  return drop_in;
}

DropIn for_serve(const Settings& settings, const fs::path&) {
  const std::string listen = settings.value("listen");
  const auto begins = [&listen](std::string_view host) { return listen.starts_with(host); };
  const bool is_local = listen.empty() || begins("127.") || begins("localhost:") || begins("[::1]");
  return is_local ? DropIn{} : DropIn{{}, "IPAddressAllow=any\n"};
}

/// Writes to the kernel's log, which is the only log so early during boot; and to standard error, for a user who calls
/// the program.
void say(const std::string& said) {
  const std::string text = printable(said);
  fmt::print(stderr, "ringside-generator: {}\n", text);
  const std::string line = fmt::format("<27>ringside-generator[{}]: {}\n", getpid(), text);  // daemon, err
  const UniqueFd log(open("/dev/kmsg", O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (log.valid() && write(log.get(), line.data(), line.size()) < 0) return;  // the error cannot be reported elsewhere
}

void write_drop_in(const fs::path& folder, const fs::path& source, const DropIn& drop_in) {
  if (drop_in.unit.empty() && drop_in.service.empty()) return;
  fs::create_directories(folder);
  std::ofstream out(folder / kDropIn);
  out << "# Made by ringside-generator of " << source.string() << "; `systemctl daemon-reload` makes it anew.\n";
  if (!drop_in.unit.empty()) out << "[Unit]\n" << drop_in.unit;
  if (!drop_in.service.empty()) out << "[Service]\n" << drop_in.service;
  out.close();
  if (!out) throw system_error("{}: cannot be written", (folder / kDropIn).string());
}

/// systemd's rule for the part between @ and .service.
bool is_instance(const std::string& name) {
  constexpr std::string_view kValid = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ:-_.\\@";
  return !name.empty() && name.find_first_not_of(kValid) == std::string::npos;
}

struct Folders {
  fs::path root;
  fs::path made;  // the folder of drop-ins
};

/// Makes the drop-in of `unit` from `file` below the root; does nothing if the file is missing.
void generate(const Folders& folders, const fs::path& file, const std::string& unit,
              DropIn (*drop_in)(const Settings&, const fs::path&)) {
  try {
    const fs::path found = folders.root / file.relative_path();
    if (!fs::exists(found)) return;
    write_drop_in(folders.made / (unit + ".d"), file, drop_in(Settings(found), folders.root / "sys/devices/system"));
  } catch (const std::exception& error) {
    say(fmt::format("{}: {}; {} gets no drop-in", file.string(), error.what(), unit));
  }
}

void generate_all(const Folders& folders) {
  const fs::path etc = "/etc/ringside";
  generate(folders, etc / "analyzer.toml", "ringside-analyzer.service", for_analyzer);
  generate(folders, etc / "serve.toml", "ringside-serve.service", for_serve);
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folders.root / "etc/ringside/jobs", none)) {
    const fs::path file = etc / "jobs" / entry.path().filename();
    if (file.extension() != ".toml") continue;
    const std::string name = file.stem();
    if (is_instance(name)) {
      generate(folders, file, fmt::format("ringside-producer@{}.service", name), for_producer);
    } else {
      say(
          fmt::format("{}: found the name '{}', expected a name of letters, digits, and the characters :-_. only; no "
                      "service uses this file",
                      file.string(), name));
    }
  }
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  using namespace ringside;
  std::vector<std::string> folders;
  std::string root = "/";
  CommandLine line("Makes drop-ins for systemd from Ringside's configuration. systemd runs this program.",
                   "ringside-generator");
  line.option("folders", folders, "folder for the drop-ins; systemd passes three folders, and the first is used")
      .value_name("FOLDER")
      .required()
      .times(1, 3);
  line.option("--root", root, "read etc/ringside and sys below this folder").value_name("DIR");
  if (const auto code = parse_or_exit_code(line, argc, argv)) return *code;
  try {
    generate_all({root, folders.front()});
  } catch (const std::exception& error) {
    say(error.what());  // the boot continues after any error
  }
  return 0;
}
