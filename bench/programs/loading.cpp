// SPDX-License-Identifier: BSD-3-Clause
// How fast are matrices loaded, and how much memory does that take? The program measures the MB/s (10^6 bytes) of plain
// MatrixMarket text with one thread and with all threads; the peak of memory, without the text, relative to the matrix;
// and the mapping of a large grid's cache.
//
// This work cannot be avoided: the text is read twice. In each reading, an entry of 14 bytes needs about 30
// instructions to convert digits to numbers, and an atomic addition to a random cache line of the row counts; the entry
// also needs one store to a random line.
//
// bench_loading [--megabytes 128] [--grid 4000] [--repeats 5] [--dir FOLDER] [--output FILE.json]
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "bench/programs/bench_program.hpp"
#include "common/platform/clock.hpp"
#include "producer/matrix/matrix_market.hpp"
#include "producer/matrix/matrix_source.hpp"

namespace ringside::bench {
namespace {

std::uint64_t next_random(std::uint64_t& state) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

// A text with 16 entries per row at random columns. The ids have six or seven digits, as in real graphs.
std::string random_matrix_text(const std::string& field, std::size_t bytes) {
  constexpr std::size_t kBytesPerEntry = 15;
  const std::uint64_t entries = bytes / (field == "pattern" ? kBytesPerEntry : kBytesPerEntry + 9);
  const std::uint64_t rows = std::max<std::uint64_t>(entries / 16, 1);
  std::string text = fmt::format("%%MatrixMarket matrix coordinate {} general\n{} {} {}\n", field, rows, rows, entries);
  text.reserve(bytes + bytes / 4);
  std::uint64_t state = 88172645463325252;
  for (std::uint64_t i = 0; i < entries; ++i) {
    const std::uint64_t row = i * rows / entries + 1;
    const std::uint64_t column = next_random(state) % rows + 1;
    if (field == "pattern") {
      fmt::format_to(std::back_inserter(text), "{} {}\n", row, column);
    } else {
      fmt::format_to(std::back_inserter(text), "{} {} {:.6f}\n", row, column,
                     static_cast<double>(next_random(state) % 1000000) / 1e6 + 1e-6);
    }
  }
  return text;
}

std::uint64_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  std::string key;
  for (std::uint64_t kib = 0; status >> key; status.ignore(200, '\n')) {
    if (key == "VmHWM:" && status >> kib) return kib * 1024;
  }
  return 0;
}

void forget_peak() {
  std::ofstream("/proc/self/clear_refs") << 5;
}

struct Times {
  double median_s, min_s, max_s;
};

Times measure(int repeats, const std::function<void()>& work) {
  work();  // warm-up
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) {
    const std::int64_t begin_ns = now_ns();
    work();
    seconds.push_back(static_cast<double>(now_ns() - begin_ns) * 1e-9);
  }
  std::sort(seconds.begin(), seconds.end());
  return {seconds[seconds.size() / 2], seconds.front(), seconds.back()};
}

Json to_json(const Times& times) {
  return {{"median_s", times.median_s}, {"min_s", times.min_s}, {"max_s", times.max_s}};
}

Json measure_text(const std::string& field, std::size_t bytes, int threads, int repeats) {
  const std::string text = random_matrix_text(field, bytes);
  omp_set_num_threads(threads);
  forget_peak();
  const std::uint64_t before = peak_bytes();
  std::uint64_t matrix_bytes = 0;
  {
    const CsrMatrix matrix = read_matrix_market(text, "generated", Orientation::kInLinks);
    matrix_bytes = matrix.row_begin.bytes() + matrix.column.bytes() + matrix.value.bytes();
  }
  const std::uint64_t peak = peak_bytes() - before;
  const Times times = measure(repeats, [&] { read_matrix_market(text, "generated", Orientation::kInLinks); });
  Json result = to_json(times);
  result["case"] = "parse " + field;
  result["threads"] = threads;
  result["text_bytes"] = text.size();
  result["megabytes_per_s"] = static_cast<double>(text.size()) / 1e6 / times.median_s;
  result["megabytes_per_s_per_thread"] = static_cast<double>(text.size()) / 1e6 / times.median_s / threads;
  result["peak_beside_text_over_matrix"] = static_cast<double>(peak) / static_cast<double>(matrix_bytes);
  return result;
}

Json measure_cache(std::uint32_t side, int threads, int repeats, const std::string& folder) {
  omp_set_num_threads(threads);
  const MatrixOptions options{.matrix = fmt::format("grid:{}", side), .cache = true, .cache_dir = folder};
  const std::string cache = write_cache(options, Orientation::kInLinks);
  const Times times = measure(repeats, [&] { load_matrix(options, Orientation::kInLinks); });
  Json result = to_json(times);
  result["case"] = "map cache of " + options.matrix;
  result["threads"] = threads;
  result["cache_bytes"] = std::filesystem::file_size(cache);
  std::filesystem::remove(cache);
  return result;
}

}  // namespace
}  // namespace ringside::bench

int main(int argc, char** argv) {
  using namespace ringside;
  using namespace ringside::bench;
  BenchProgram program("loading", "Measures how fast matrices are loaded into memory");
  std::size_t megabytes = 128;
  std::uint32_t side = 4000;
  int repeats = 5;
  std::string folder = std::filesystem::temp_directory_path().string();
  program.line.option("--megabytes", megabytes, "Size of each generated text, 10^6 bytes").show_default();
  program.line.option("--grid", side, "Side of the grid whose cache is mapped").show_default();
  program.line.option("--repeats", repeats, "Measurements of each case, after one for warming up").show_default();
  program.line.option("--dir", folder, "Folder in which the cache is made; the cache is removed afterwards")
      .show_default();
  return program.run(argc, argv, [&](Json& report) {
    const int all = omp_get_num_procs();
    for (const std::string field : {"pattern", "real"}) {
      report["results"].push_back(measure_text(field, megabytes * 1'000'000, 1, repeats));
      if (all > 1) report["results"].push_back(measure_text(field, megabytes * 1'000'000, all, repeats));
    }
    report["results"].push_back(measure_cache(side, all, repeats, folder));
  });
}
