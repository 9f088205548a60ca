// SPDX-License-Identifier: BSD-3-Clause
// `ringside export POOL`: writes a kept iterate, after verifying it, to a file that other programs can read.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/pool/ring_reader.hpp"
#include "cli/pool/iterations.hpp"
#include "cli/subcommands.hpp"
#include "cli/terminal/format.hpp"
#include "common/files/output_file.hpp"
#include "common/files/own_descriptor.hpp"
#include "common/files/standard_streams.hpp"
#include "common/options/command_line.hpp"
#include "common/options/option_checks.hpp"
#include "common/platform/error.hpp"
#include "common/platform/printable.hpp"

namespace ringside {
namespace {

KeptSlot find(const std::string& pool, const Recovery& recovery, std::optional<std::uint64_t> wanted) {
  if (recovery.kept.empty()) throw usage_error("{}: the pool holds no iterates", pool);
  if (!wanted) return recovery.kept.back();
  for (auto kept = recovery.kept.rbegin(); kept != recovery.kept.rend(); ++kept) {
    if (kept->header.iteration == *wanted) return *kept;
  }
  throw usage_error("--iteration: {} is not kept in {}; {}", *wanted, pool, kept_iterations(recovery));
}

/// Never exports an older iterate in place of the last one. The error names the newest intact one; the user decides.
Error damaged(const RingReader& reader, const KeptSlot& kept, std::uint64_t chunk) {
  const std::optional<KeptSlot> intact = newest_intact(reader.ring(), reader.recover());
  return damage_error("{}: iteration {} in slot {} is damaged (chunk {}); {}", reader.path().string(),
                      kept.header.iteration, kept.slot, chunk,
                      intact ? fmt::format("--iteration {} is the newest intact one", intact->header.iteration)
                             : std::string("none of the others is intact"));
}

/// Returns the iterate of iteration `wanted` (nothing: the newest) and the slot that held it.
std::pair<KeptSlot, std::vector<double>> read(const RingReader& reader, std::optional<std::uint64_t> wanted) {
  // In a ring of K slots, the newest iterate is overwritten K - 1 commits later. On busy cores, a reader of a small
  // ring may lose that race a dozen times.
  constexpr int kAttempts = 100;
  const std::string pool = reader.path().string();
  std::vector<double> x(reader.ring().geometry().entries());
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const Recovery recovery = reader.recover();
    if (attempt == 0 && !wanted && !recovery.damaged.empty()) {
      write_standard_error(
          fmt::format("ringside: note: {}: the headers of {} slots are damaged; one may have held a newer iterate\n",
                      printable(pool), recovery.damaged.size()));
    }
    const KeptSlot kept = find(pool, recovery, wanted);
    const ReadResult result = reader.read(kept, x.data());
    if (result.status == ReadStatus::kOk) return {kept, std::move(x)};
    if (result.status == ReadStatus::kDamaged) throw damaged(reader, kept, result.damaged_chunk);
    // The slot was overwritten during the read: a wanted iteration is no longer found, the last one is now another.
  }
  throw system_error(
      "{}: the last iterate was overwritten while it was read, {} times: an analyzer is at work, and faster", pool,
      kAttempts);
}

/// NumPy's format 1.0: magic, version, header length, header (padded: the data starts at a multiple of 64), data.
void write_npy(OutputFile& file, const std::vector<double>& x) {
  std::string header = fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({},), }}", x.size());
  constexpr std::size_t kPreambleBytes = 10;
  header.append(63 - (kPreambleBytes + header.size()) % 64, ' ');
  header += '\n';
  const std::size_t length = header.size();
  const char preamble[kPreambleBytes] = {
      '\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, static_cast<char>(length & 0xff), static_cast<char>(length >> 8)};
  file.write(preamble, sizeof preamble);
  file.write(header);
  file.write(x.data(), x.size() * sizeof(double));
}

// {} prints the shortest text that reads back as the same double: text formats lose no bit.
void write_csv(OutputFile& file, const std::vector<double>& x) {
  file.write("row,value\n");
  for (std::size_t i = 0; i < x.size(); ++i) file.write(fmt::format("{},{}\n", i, x[i]));
}

void write_mtx(OutputFile& file, const std::vector<double>& x) {
  file.write(fmt::format("%%MatrixMarket matrix array real general\n{} 1\n", x.size()));
  for (const double value : x) file.write(fmt::format("{}\n", value));
}

struct Format {
  const char* name;
  void (*write)(OutputFile& file, const std::vector<double>& x);
};
constexpr Format kFormats[] = {{"npy", write_npy}, {"csv", write_csv}, {"mtx", write_mtx}};

/// The format of this name; if it is empty, the one that the output's name ends with, or the first.
const Format& chosen_format(const std::string& name, const std::string& output) {
  for (const Format& one : kFormats) {
    if (name.empty() ? output.ends_with(std::string(".") + one.name) : name == one.name) return one;
  }
  return kFormats[0];
}

}  // namespace

int export_command(int argc, const char* const* argv) {
  std::string pool;
  std::string iteration = "last";
  std::string format;
  std::string output;
  std::vector<std::string> names;
  for (const Format& one : kFormats) names.emplace_back(one.name);
  CommandLine line("Writes a kept iterate to a file, after verifying it. Rows count from 0.", "ringside export");
  line.option("POOL", pool, "pool file").required().value_name("FILE");
  line.option("--iteration", iteration, "which iterate").value_name("K|last").show_default();
  line.option("--format", format, "file format (default: the one that the output's name ends with, or npy)")
      .check(one_of(names))
      .value_name(fmt::format("{}", fmt::join(names, "|")));
  line.option("-o,--output", output, "file to write; -: standard output").required().value_name("FILE");
  if (const auto code = parse_or_exit_code(line, argc, argv)) return *code;

  const RingReader reader = RingReader::open(pool);
  const std::vector<KeptFile> kept_files = {{"POOL", pool}};
  check_output(output, "--output", kept_files);
  std::optional<std::uint64_t> wanted;
  if (iteration != "last") wanted = parse_iteration(iteration, "--iteration", "a number or 'last'");
  const auto [kept, x] = read(reader, wanted);
  OutputFile file(output, "--output", kept_files);
  const Format& chosen = chosen_format(format, output);
  chosen.write(file, x);
  file.finish();
  write_beside_output(output, fmt::format("{}: iteration {} of {}, {} rows, as {}\n", printable(output_name(output)),
                                          with_separators(kept.header.iteration), printable(pool),
                                          with_separators(x.size()), chosen.name));
  return 0;
}

}  // namespace ringside
