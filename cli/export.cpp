#include "cli/export.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <vector>

#include "analyzer/ring_reader.hpp"
#include "cli/format.hpp"
#include "common/error.hpp"
#include "common/options.hpp"

namespace ringside {
namespace {

/// The kept slot of that iteration ("last": the newest).
KeptSlot find(const std::string& pool, const Recovery& recovery, const std::string& iteration) {
  if (recovery.kept.empty()) throw usage_error("{}: the pool holds no iterates", pool);
  if (iteration == "last") return recovery.kept.back();
  std::uint64_t wanted = 0;
  if (!CLI::detail::lexical_cast(iteration, wanted)) {
    throw usage_error("--iteration: found '{}', expected a number or 'last'", iteration);
  }
  for (auto kept = recovery.kept.rbegin(); kept != recovery.kept.rend(); ++kept) {
    if (kept->header.iteration == wanted) return *kept;
  }
  throw usage_error("--iteration: {} is not kept in {}; kept are {} to {}", wanted, pool,
                    recovery.kept.front().header.iteration, recovery.kept.back().header.iteration);
}

std::vector<double> read(const RingReader& reader, const KeptSlot& kept) {
  std::vector<double> x(reader.ring().geometry().rows);
  const ReadResult result = reader.read(kept, x.data());
  switch (result.status) {
    case ReadStatus::kOk: return x;
    case ReadStatus::kDamaged:
      throw damage_error("{}: iteration {} in slot {} is damaged (chunk {}); `ringside verify` lists all damage",
                         reader.path().string(), kept.header.iteration, kept.slot, result.damaged_chunk);
    case ReadStatus::kOverwritten: break;
  }
  throw damage_error("{}: iteration {} was overwritten while it was read: an analyzer is at work; try a newer one",
                     reader.path().string(), kept.header.iteration);
}

/// A file that appears under its name only when it is complete.
class OutputFile {
 public:
  explicit OutputFile(std::string path) : path_(std::move(path)), partial_(path_ + ".partial") {
    file_.reset(std::fopen(partial_.c_str(), "wb"));
    if (!file_) throw system_error("--output: cannot write '{}': {}", path_, errno_text(errno));
  }
  ~OutputFile() {
    if (file_) {
      file_.reset();
      std::remove(partial_.c_str());
    }
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const void* data, std::size_t bytes) {
    if (std::fwrite(data, 1, bytes, file_.get()) != bytes) fail();
  }
  void write(const std::string& text) { write(text.data(), text.size()); }

  void finish() {
    if (std::fflush(file_.get()) != 0) fail();
    file_.reset();
    if (std::rename(partial_.c_str(), path_.c_str()) != 0) {
      throw system_error("--output: cannot write '{}': {}", path_, errno_text(errno));
    }
  }

 private:
  [[noreturn]] void fail() { throw system_error("--output: cannot write '{}': {}", path_, errno_text(errno)); }

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::string partial_;
  std::unique_ptr<std::FILE, Close> file_;
};

/// NumPy's format 1.0: magic, version, length of a header padded so that the data starts at a multiple of 64, the data.
void write_npy(OutputFile& file, const std::vector<double>& x) {
  std::string header = fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({},), }}", x.size());
  constexpr std::size_t kPreambleBytes = 10;
  header.append(63 - (kPreambleBytes + header.size()) % 64, ' ');
  header += '\n';
  const char preamble[kPreambleBytes] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, static_cast<char>(header.size() & 0xff),
                                         static_cast<char>(header.size() >> 8)};
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

}  // namespace

int export_command(int argc, const char* const* argv) {
  std::string pool;
  std::string iteration = "last";
  std::string format = "npy";
  std::string output;
  CLI::App app("Writes a kept iterate to a file, after verifying it. Rows count from 0.", "ringside export");
  app.add_option("POOL", pool, "pool file")->required()->type_name("FILE");
  app.add_option("--iteration", iteration, "which iterate")->type_name("K|last")->capture_default_str();
  app.add_option("--format", format, "file format")
      ->check(CLI::IsMember({"npy", "csv", "mtx"}).description(""))
      ->type_name("npy|csv|mtx")
      ->capture_default_str();
  app.add_option("--output", output, "file to write")->required()->type_name("FILE");
  if (const auto code = parse_or_exit_code(app, argc, argv)) return *code;

  const RingReader reader = RingReader::open(pool);
  const KeptSlot kept = find(pool, reader.recover(), iteration);
  const std::vector<double> x = read(reader, kept);
  OutputFile file(output);
  if (format == "npy") write_npy(file, x);
  if (format == "csv") write_csv(file, x);
  if (format == "mtx") write_mtx(file, x);
  file.finish();
  fmt::print("{}: iteration {} of {}, {} rows\n", output, with_separators(kept.header.iteration), pool,
             with_separators(x.size()));
  return 0;
}

}  // namespace ringside
