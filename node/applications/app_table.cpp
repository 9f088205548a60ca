// SPDX-License-Identifier: BSD-3-Clause
#include "node/applications/app_table.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <sstream>
#include <system_error>

#include "common/platform/error.hpp"
#include "common/text/printable.hpp"
#include "node/applications/proxy_apps.hpp"

namespace ringside {
namespace {

std::vector<std::string> of_our_own(const AppJob& job) {
  std::vector<std::string> words = {fmt::format("--data={}", job.bytes), fmt::format("--threads={}", job.workers)};
  // Without :committed, the mapping would be a mere reservation, which the kernel handles and `ringside-memory run`
  // does not manage.
  words.push_back(job.in_place.empty() ? "--memory=dram:committed" : "--memory=mmap:" + job.in_place);
  return words;
}

template <const std::string_view& Program>
AppCommand own_command(const AppJob& job) {
  return {{}, std::string(Program), of_our_own(job)};
}

/// The nodes of the program's data structure are in blocks, as in freqmine; `ringside-memory run` manages these blocks.
AppCommand itemset_command(const AppJob& job) {
  return {{}, "bench_memory_itemset", {fmt::format("--data={}", job.bytes), "--blocks"}};
}

constexpr std::string_view kBuildOurs =
    "build the target bench_memory where ringside was built, or name the folder of its programs with --programs";

constexpr std::string_view kBlackscholes = "bench_memory_blackscholes";
constexpr std::string_view kItemset = "bench_memory_itemset";
constexpr std::string_view kPagerank = "bench_memory_pagerank";
constexpr std::string_view kBfs = "bench_memory_bfs";
constexpr std::array kNeedsBlackscholes = {kBlackscholes};
constexpr std::array kNeedsItemset = {kItemset};
constexpr std::array kNeedsPagerank = {kPagerank};
constexpr std::array kNeedsBfs = {kBfs};
constexpr std::array<std::string_view, 1> kNeedsSort = {"sort"};
constexpr std::array<std::string_view, 1> kNeedsSqlite = {"sqlite3"};
constexpr std::array<std::string_view, 1> kNeedsPython = {"python3"};
constexpr std::array<std::string_view, 3> kNeedsRedis = {"redis-server", "redis-cli", "sh"};
constexpr std::array<std::string_view, 3> kNeedsRingside = {"ringside", "ringside-producer", "ringside-analyzer"};

constexpr std::array<std::string_view, 2> kNeedsLulesh = {"lulesh2.0", "mpirun"};
constexpr std::array<std::string_view, 2> kNeedsAmg = {"amg", "mpirun"};
constexpr std::array<std::string_view, 6> kNeedsVpic = {
    "vpic_lpi_2048", "vpic_lpi_1024", "vpic_lpi_512", "vpic_lpi_256", "mpirun", "sh"};
constexpr std::array<std::string_view, 2> kNeedsSnap = {"snap", "mpirun"};

/// Writes lines of 32 characters, which are the same for every run. The lines take 2/5 of the bytes, because sort needs
/// at least 32 further bytes for each line.
void write_lines(const AppJob& job, std::ostream& to) {
  constexpr std::uint64_t kLine = 32;
  std::uint64_t state = 1;
  const std::uint64_t lines = std::max<std::uint64_t>(job.bytes * 2 / 5 / kLine, 1);
  std::string block;
  for (std::uint64_t line = 0; line < lines; ++line) {
    state = state * 6364136223846793005U + 1442695040888963407U;  // Knuth's generator
    block += fmt::format("{:016x} {:014d}\n", state ^ (state >> 29), line);
    if (block.size() >= (1 << 20) || line + 1 == lines) {
      to << block;
      block.clear();
    }
  }
}

AppCommand sort_command(const AppJob& job) {
  constexpr std::uint64_t kLeastBuffer = std::uint64_t{1} << 20;
  return {{},
          "sort",
          {fmt::format("--buffer-size={}b", std::max(job.bytes, kLeastBuffer)),
           fmt::format("--parallel={}", job.workers), "--temporary-directory=" + job.folder, "--output=" + job.output,
           job.input}};
}

/// Fills a table and an index with pseudo-random keys. Both are in sqlite's page cache, which is one preallocated
/// block. The program looks up a tenth of the rows at random and then reads both from end to end.
AppCommand sqlite_command(const AppJob& job) {
  constexpr std::uint64_t kPage = 4096 + 512;  // including sqlite's own bytes for each page
  constexpr std::uint64_t kRow = 120;          // the bytes of a row in table and index
  const std::uint64_t rows = std::max<std::uint64_t>(job.bytes / kRow, 10);
  return {{},
          "sqlite3",
          {"-batch", "-pagecache", fmt::format("{}", kPage), fmt::format("{}", job.bytes / kPage + 64), ":memory:",
           fmt::format("pragma cache_size=-{};"
                       "create table t(id integer primary key, k integer, v text);"
                       "with recursive n(i) as (select 1 union all select i+1 from n where i<{}) "
                       "insert into t select i, (i*2654435761)%4294967291, printf('%064d',i) from n;"
                       "create index by_k on t(k);"
                       "select count(*), sum(b.k%97), max(b.v) from t a join t b on b.id=a.k%{}+1 where a.id%10=0;"
                       "select sum(id%1009), sum(k%65537), min(k) from t indexed by by_k where k>=0;"
                       "select sum(length(v)), max(v), sum(id*k%9973) from t not indexed;",
                       job.bytes / 1024 + 64, rows, rows)}};
}

/// A list of numbers, each of which is an object. The program makes the list, sums it up in several passes, and sorts
/// it in sixteen parts.
AppCommand python_command(const AppJob& job) {
  constexpr std::uint64_t kNumber = 48;  // the bytes of a number's pointer and object
  return {{},
          "python3",
          {"-S", "-c",
           "import array,hashlib,random,sys\n"
           "r=random.Random(1)\n"
           "n=[r.getrandbits(62) for _ in range(int(sys.argv[1]))]\n"
           "print(len(n),sum(n),max(n),sum(x&255 for x in n))\n"
           "p=len(n)//16+1\n"
           "for i in range(0,len(n),p):\n"
           "  n[i:i+p]=sorted(n[i:i+p])\n"
           "d=hashlib.sha256()\n"
           "for i in range(0,len(n),4096):\n"
           "  d.update(array.array('Q',n[i:i+4096]).tobytes())\n"
           "print(d.hexdigest())\n",
           fmt::format("{}", std::max<std::uint64_t>(job.bytes / kNumber, 10))}};
}

/// Starts the server, whose command line is "$@"; stores entries, reads them at pseudo-random keys, and prints a digest
/// of the values read.
constexpr const char* kRedisScript =
    "socket=$1; keys=$2; shift 2\n"
    "\"$@\" >&2 & server=$!\n"
    "until redis-cli -s \"$socket\" ping >/dev/null 2>&1; do kill -0 $server || exit 1; done\n"
    "redis-cli -s \"$socket\" eval \"for i=1,$keys do redis.call('set',i,string.rep(redis.sha1hex(i),25)) end\" 0 "
    ">/dev/null || exit 1\n"
    "redis-cli -s \"$socket\" eval \"local d,k='',1; for i=1,$keys do k=(k*40503+i)%$keys+1; "
    "if i%16==0 then d=redis.sha1hex(d..redis.call('get',k)) else redis.call('get',k) end end; return d\" 0 || exit 1\n"
    "redis-cli -s \"$socket\" shutdown nosave >/dev/null 2>&1\n"
    "wait $server\n";

AppCommand redis_command(const AppJob& job) {
  constexpr std::uint64_t kEntry = 1200;  // a value of 1000 characters, with its key and what an allocator adds
  // The path is relative to the working folder, because a socket's path has at most 107 bytes.
  return {{"sh", "-c", kRedisScript, "redis", "redis.socket",
           fmt::format("{}", std::max<std::uint64_t>(job.bytes / kEntry, 10))},
          "redis-server",
          {"--port", "0", "--unixsocket", "redis.socket", "--save", "", "--appendonly", "no", "--lua-time-limit", "0"}};
}

/// PageRank on a grid with eight neighbours: each row takes 40 bytes in the matrix and about as many in vectors. An
/// iteration reads the `csr` matrix from end to end. With `bands`, the usual format of a grid, nothing would be in far
/// memory.
AppCommand ringside_command(const AppJob& job) {
  constexpr std::uint64_t kRow = 72;
  const auto side = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(job.bytes / kRow)));
  AppCommand command{
      {},
      "ringside",
      {"run", "--quiet", fmt::format("--matrix=grid:{}", std::max<std::uint64_t>(side, 8)), "--matrix-format=csr",
       "--iterations=20",
       "--durability=process", "--journal=off", "--telemetry=off", "--pool=" + job.folder + "/pool", "--overwrite",
       "--summary=" + job.output}};
  if (!job.far.empty()) {
    command.arguments.push_back("--matrix-memory=far:" + job.far);
    command.arguments.push_back(fmt::format("--dram-limit={}", job.dram_bytes));
  }
  return command;
}

bool is_executable_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

constexpr std::array kApps = {
    App{.name = "blackscholes",
        .does = "prices of options (Ringside's own program, modelled on PARSEC's); one pass is timed",
        .needs = kNeedsBlackscholes,
        .get = kBuildOurs,
        .workers = AppWorkers::kThreads,
        .result = AppResult::kChecksum,
        .figure = "pass_s",
        .in_place = true,
        .command = own_command<kBlackscholes>},
    App{.name = "itemset",
        .does = "frequent itemsets in a tree (Ringside's own program, modelled on PARSEC's freqmine)",
        .needs = kNeedsItemset,
        .get = kBuildOurs,
        .result = AppResult::kChecksum,
        .figure = "total_s",
        .command = itemset_command},
    App{.name = "pagerank",
        .does = "PageRank by pulling (Ringside's own program); one iteration is timed",
        .needs = kNeedsPagerank,
        .get = kBuildOurs,
        .workers = AppWorkers::kThreads,
        .result = AppResult::kChecksum,
        .figure = "iteration_s",
        .in_place = true,
        .command = own_command<kPagerank>},
    App{.name = "bfs",
        .does = "breadth-first search (Ringside's own program); one search is timed",
        .needs = kNeedsBfs,
        .get = kBuildOurs,
        .workers = AppWorkers::kThreads,
        .result = AppResult::kChecksum,
        .figure = "search_s",
        .in_place = true,
        .command = own_command<kBfs>},
    App{.name = "sort",
        .does = "GNU sort of lines in one buffer",
        .needs = kNeedsSort,
        .get = "apt install coreutils",
        .workers = AppWorkers::kThreads,
        .result = AppResult::kFile,
        .write_input = write_lines,
        .command = sort_command},
    App{.name = "sqlite",
        .does = "a table in memory, an index, look-ups and scans",
        .needs = kNeedsSqlite,
        .get = "apt install sqlite3",
        .command = sqlite_command},
    App{.name = "python",
        .does = "a list of number objects, which is read in passes and sorted in parts",
        .needs = kNeedsPython,
        .get = "apt install python3",
        .command = python_command},
    App{.name = "redis",
        .does = "a server that is filled and read at pseudo-random keys",
        .needs = kNeedsRedis,
        .get = "apt install redis",
        .command = redis_command},
    App{.name = "ringside",
        .does = "ringside run: PageRank on a grid; its matrix can be in far memory",
        .needs = kNeedsRingside,
        .get = "build or install ringside",
        .result = AppResult::kSummary,
        .begin = "last",
        .caches_itself = true,
        .command = ringside_command},
    App{.name = "lulesh",
        .does = "Sedov blast (LULESH 2.0), 100 cycles",
        .needs = kNeedsLulesh,
        .get = "build it with bench/apps/lulesh.sh and name the folder with --programs",
        .workers = AppWorkers::kProcesses,
        .result = AppResult::kPart,
        .begin = "Problem size",
        .end = "Elapsed time",
        .takes = lulesh_takes,
        .command = lulesh_command},
    App{.name = "amg",
        .does = "algebraic multigrid, Laplace on a box (AMG)",
        .needs = kNeedsAmg,
        .get = "build it with bench/apps/amg.sh and name the folder with --programs",
        .workers = AppWorkers::kProcesses,
        .result = AppResult::kPart,
        .begin = "Iterations =",
        .end = "FOM_Solve",
        .command = amg_command},
    App{.name = "vpic",
        .does = "particles in cells, deck lpi (VPIC); its size is in the program",
        .needs = kNeedsVpic,
        .get = "build it with bench/apps/vpic.sh and name the folder with --programs",
        .workers = AppWorkers::kProcesses,
        .result = AppResult::kFile,
        .takes = vpic_takes,
        .command = vpic_command},
    App{.name = "snap",
        .does = "discrete ordinates (SNAP, C version), two time steps",
        .needs = kNeedsSnap,
        .get = "build it with bench/apps/snap.sh and name the folder with --programs",
        .workers = AppWorkers::kProcesses,
        .result = AppResult::kFile,
        .begin = "Mid-Plane",
        .end = "Timing Summary",
        .write_input = write_snap_input,
        .command = snap_command},
};

}  // namespace

std::vector<const App*> chosen_apps(const std::vector<std::string>& names) {
  std::string known;
  for (const App& app : kApps) known += fmt::format("{}{}", known.empty() ? "" : ", ", app.name);
  for (const std::string& name : names) {
    if (std::none_of(kApps.begin(), kApps.end(), [&](const App& app) { return app.name == name; })) {
      throw usage_error("--program: found '{}', expected names of {}", shortened(name), known);
    }
  }
  std::vector<const App*> chosen;
  for (const App& app : kApps) {
    if (names.empty() || std::find(names.begin(), names.end(), app.name) != names.end()) chosen.push_back(&app);
  }
  return chosen;
}

std::string path_of_program(const std::string& program, const std::vector<std::string>& folders) {
  std::vector<std::string> searched = folders;
  const char* path = std::getenv("PATH");
  std::istringstream parts(path != nullptr ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(parts, folder, ':');) searched.push_back(folder);
  for (const std::string& folder : searched) {
    std::string file = folder + "/" + program;
    if (!folder.empty() && is_executable_file(file)) return file;
  }
  return {};
}

}  // namespace ringside
