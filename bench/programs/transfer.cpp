// SPDX-License-Identifier: BSD-3-Clause
// Four questions about the analyzer's work on one iterate, each answered as a ratio within one run, pair by pair, on
// one pinned thread:
//   one_pass    copying an iterate into a slot, with the hash and all reductions in the same pass (--reduce transfer),
//               compared with only the non-temporal copy; with the change, with a copy that also reads a third array.
//               Bytes that must move: 8n read, 8n written; 8n more read for the change.
//               The same work in two passes, as with --reduce slot, is also measured: 8n (16n) are read again.
//   transfer    copying an iterate into a ring slot, hashed chunk by chunk, compared with only the non-temporal copy.
//               Bytes that must move: 8n read, 8n written; both use the same kind of store.
//   reductions  a sweep of all reductions, compared with a read of the same bytes. Bytes that must move: 8n in a sweep,
//               16n in the first one, which also reads the previous iterate. Five sweeps, as with --passes 5, move 48n;
//               five fused passes reduce each part five times while it is in the cache, and move 16n.
//   fields      one_pass with the change, for fields of other dtypes with the same number of bytes, compared with the
//               copy that also reads a third array.
// Sources and slots rotate through 4 times 32 MB and more, so that they come from memory and not from a cache.
#include <immintrin.h>
#include <omp.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bench/programs/bench_program.hpp"
#include "bench/programs/fused_passes.hpp"
#include "bench/programs/read_kernel.hpp"
#include "common/kernels/copy.hpp"
#include "common/kernels/isa.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "common/reductions/field_reducer.hpp"
#include "common/reductions/reduction.hpp"
#include "common/reductions/reduction_scratch.hpp"
#include "common/reductions/step_reducer.hpp"

namespace ringside::bench {
namespace {

constexpr std::size_t kIterates = 4;
constexpr std::size_t kSlots = 8;

using Values = std::unique_ptr<double, std::function<void(double*)>>;

/// `rows` doubles on separate pages, huge ones if available. The thread that first writes a page determines the page's
/// NUMA node.
Values allocate(std::size_t rows) {
  const std::size_t bytes = rows * sizeof(double);
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw system_error("cannot allocate {} bytes; try fewer --rows", bytes);
  madvise(pages, bytes, MADV_HUGEPAGE);
  return {static_cast<double*>(pages), [bytes](double* p) { munmap(p, bytes); }};
}

/// Fills x as PageRank fills it for a grid: one value nearly everywhere, others along the border.
void fill_smooth(double* x, std::size_t rows, std::size_t iterate) {
  const auto side = static_cast<std::size_t>(std::sqrt(static_cast<double>(rows)));
  const double inner = (1.0 + 1e-9 * static_cast<double>(iterate)) / static_cast<double>(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    const bool border = row % side == 0 || row % side == side - 1 || row < side || row >= rows - side;
    x[row] = border ? 0.66 * inner : inner;
  }
}

/// Fills x as PageRank fills it for the web: a power law, with unrelated neighbours.
void fill_power_law(double* x, std::size_t rows, std::size_t iterate) {
  std::mt19937_64 generator(1);  // the same seed for every iterate, so that they differ only slightly
  std::uniform_real_distribution<double> uniform(1e-9, 1);
  const double scale = (1.0 + 1e-3 * static_cast<double>(iterate)) / static_cast<double>(rows);
  for (std::size_t row = 0; row < rows; ++row) x[row] = std::pow(uniform(generator), -1 / 1.1) * scale;
}

template <class Work>
double milliseconds(Work work) {
  const std::int64_t begin_ns = now_ns();
  work();
  return milliseconds_since(begin_ns);
}

void bare_copy(double* slot, const double* x, std::size_t rows) {
  copy_nontemporal(slot, x, rows * sizeof(double));
  _mm_sfence();
}

std::uint64_t transfer(double* slot, const double* x, std::size_t rows) {
  const std::size_t bytes = rows * sizeof(double);
  std::uint64_t hashes = 0;
  for (std::size_t offset = 0; offset < bytes; offset += kCopyChunkBytes) {
    const std::size_t chunk_bytes = std::min(kCopyChunkBytes, bytes - offset);
    hashes ^= copy_nontemporal_hashed(reinterpret_cast<char*>(slot) + offset, reinterpret_cast<const char*>(x) + offset,
                                      chunk_bytes);
  }
  _mm_sfence();
  return hashes;
}

std::vector<double> quotients(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> result;
  for (std::size_t i = 0; i < a.size(); ++i) result.push_back(a[i] / b[i]);
  return result;
}

// Stores the results, so that the compiler cannot omit the work.
volatile std::uint64_t sink = 0;

Json measure_transfer(const std::vector<Values>& iterates, std::size_t rows, int repeats) {
  std::vector<Values> slots;
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    slots.push_back(allocate(rows));
    bare_copy(slots.back().get(), iterates[0].get(), rows);
  }
  std::vector<double> bare_ms;
  std::vector<double> transfer_ms;
  std::size_t step = 0;
  const auto next = [&](auto copy) {
    const double* x = iterates[step % kIterates].get();
    double* slot = slots[step % kSlots].get();
    ++step;
    return milliseconds([&] { copy(slot, x, rows); });
  };
  const auto hashed = [](double* slot, const double* x, std::size_t n) { sink = sink ^ transfer(slot, x, n); };
  for (int repeat = -3; repeat < repeats; ++repeat) {  // the first three warm up
    const bool bare_first = repeat % 2 == 0;
    double bare = bare_first ? next(bare_copy) : 0;
    const double with_hash = next(hashed);
    if (!bare_first) bare = next(bare_copy);
    if (repeat < 0) continue;
    bare_ms.push_back(bare);
    transfer_ms.push_back(with_hash);
  }
  return {{"chunk_bytes", kCopyChunkBytes},
          {"counted_bytes", 2 * rows * sizeof(double)},
          {"bare_copy", spread(bare_ms, "ms")},
          {"transfer", spread(transfer_ms, "ms")},
          {"speed_of_bare_copy", spread(quotients(bare_ms, transfer_ms), "ratio")}};
}

Json measure_reductions(const std::vector<Values>& iterates, std::size_t rows, int repeats) {
  const auto read_all = select(&plain::read_all, &avx2::read_all, &avx512::read_all);
  Reducer reducer(rows);
  FusedPasses fused(rows);
  std::vector<double> read_ms;
  std::vector<double> first_ms;
  std::vector<double> sweep_ms;
  std::vector<double> five_ms;
  std::vector<double> fused_ms;
  for (int repeat = -2; repeat < repeats; ++repeat) {  // the first two warm up
    const auto iterate = [&](int offset) {
      return iterates[static_cast<std::size_t>(repeat + 2 + offset) % kIterates].get();
    };
    const double read = milliseconds([&] { sink = sink + read_all(iterate(0), rows); });
    const double sweep = milliseconds([&] { reducer.reduce(iterate(1), nullptr, 1); });
    const double first = milliseconds([&] { reducer.reduce(iterate(3), iterate(2), 1); });
    const double five = milliseconds([&] { reducer.reduce(iterate(1), iterate(0), FusedPasses::kPasses); });
    const double five_fused = milliseconds([&] { fused.reduce(iterate(3), iterate(2)); });
    if (repeat == 0) fused.check(iterate(3), iterate(2));
    if (repeat < 0) continue;
    read_ms.push_back(read);
    sweep_ms.push_back(sweep);
    first_ms.push_back(first);
    five_ms.push_back(five);
    fused_ms.push_back(five_fused);
  }
  return {{"read", spread(read_ms, "ms")},
          {"sweep", spread(sweep_ms, "ms")},
          {"sweep_with_change", spread(first_ms, "ms")},
          {"five_passes_with_change", spread(five_ms, "ms")},
          {"five_fused_passes_with_change", spread(fused_ms, "ms")},
          {"five_fused_passes_per_five_passes", spread(quotients(fused_ms, five_ms), "ratio")},
          {"sweep_per_read", spread(quotients(sweep_ms, read_ms), "ratio")},
          {"read_bytes", rows * sizeof(double)}};
}

/// The 95 % confidence interval of the median of the samples, for any distribution. Its ends are two of the sorted
/// samples (Conover, "Practical Nonparametric Statistics", section 3.2).
Json confidence_of_median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const auto n = static_cast<double>(samples.size());
  const double half_width = 1.96 * std::sqrt(n) / 2;
  const auto low = static_cast<std::size_t>(std::max(0.0, std::floor(n / 2 - half_width)));
  const auto high = std::min(samples.size() - 1, static_cast<std::size_t>(std::ceil(n / 2 + half_width)));
  return {samples[low], samples[high]};
}

Json ratio(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> ratios = quotients(a, b);
  Json result = spread(ratios, "ratio");
  result["median_95_percent"] = confidence_of_median(ratios);
  return result;
}

/// Times `work` for one iterate after another: each is written into the next slot, while the slot before it holds the
/// previous iterate.
class Rotation {
 public:
  Rotation(const std::vector<Values>& iterates, std::size_t rows) : iterates_(iterates) {
    for (std::size_t slot = 0; slot < kSlots; ++slot) {
      slots_.push_back(allocate(rows));
      bare_copy(slots_.back().get(), iterates[0].get(), rows);
    }
  }

  template <class Work>
  double next(Work work) {
    const double* x = iterates_[step_ % kIterates].get();
    const double* previous = slots_[(step_ + kSlots - 1) % kSlots].get();
    double* slot = slots_[step_ % kSlots].get();
    ++step_;
    return milliseconds([&] { work(slot, x, previous); });
  }

 private:
  const std::vector<Values>& iterates_;
  std::vector<Values> slots_;
  std::size_t step_ = 0;
};

Json measure_one_pass(const std::vector<Values>& iterates, std::size_t rows, int repeats) {
  const auto copy_and_read = select(&plain::copy_and_read, &avx2::copy_and_read, &avx512::copy_and_read);
  Rotation rotation(iterates, rows);
  Reducer reducer(rows);
  ReductionScratch scratch(1);
  FieldReducer field(DType::kF64, rows, scratch);
  const auto in_one_pass = [&](double* slot, const double* x, const double* previous) {
    field.begin(previous);
    std::uint64_t hashes = 0;
    constexpr std::size_t kMostRows = kCopyChunkBytes / sizeof(double);
    for (std::size_t row = 0; row < rows; row += kMostRows) {
      hashes ^= field.copy_nontemporal(0, slot + row, x + row, row * sizeof(double),
                                       std::min(kMostRows, rows - row) * sizeof(double));
    }
    _mm_sfence();
    std::uint64_t values[kRealFieldWords] = {};
    sink = sink ^ hashes ^ field.finish(values);
  };
  const auto in_two = [&](double* slot, const double* x, const double* previous) {
    sink = sink ^ transfer(slot, x, rows);
    reducer.reduce(slot, previous, 1);
  };

  enum Way { kBare, kOnePass, kSlot, kBareAndRead, kOnePassWithChange, kSlotWithChange, kWays };
  std::vector<double> ms[kWays];
  std::mt19937 generator(1);
  for (int repeat = -3; repeat < repeats; ++repeat) {  // the first three warm up
    Way order[kWays] = {kBare, kOnePass, kSlot, kBareAndRead, kOnePassWithChange, kSlotWithChange};
    std::shuffle(std::begin(order), std::end(order), generator);
    for (const Way way : order) {
      const double took = rotation.next([&](double* slot, const double* x, const double* previous) {
        switch (way) {
          case kBare: return bare_copy(slot, x, rows);
          case kOnePass: return in_one_pass(slot, x, nullptr);
          case kSlot: return in_two(slot, x, nullptr);
          case kOnePassWithChange: return in_one_pass(slot, x, previous);
          case kSlotWithChange: return in_two(slot, x, previous);
          default: break;
        }
        sink = sink ^ copy_and_read(slot, x, previous, rows);
        _mm_sfence();
      });
      if (repeat >= 0) ms[way].push_back(took);
    }
  }
  return {{"bare_copy", spread(ms[kBare], "ms")},
          {"bare_copy_and_read", spread(ms[kBareAndRead], "ms")},
          {"one_pass", spread(ms[kOnePass], "ms")},
          {"one_pass_with_change", spread(ms[kOnePassWithChange], "ms")},
          {"slot", spread(ms[kSlot], "ms")},
          {"slot_with_change", spread(ms[kSlotWithChange], "ms")},
          {"one_pass_per_bare_copy", ratio(ms[kOnePass], ms[kBare])},
          {"one_pass_with_change_per_bare_copy", ratio(ms[kOnePassWithChange], ms[kBare])},
          {"one_pass_with_change_per_bare_copy_and_read", ratio(ms[kOnePassWithChange], ms[kBareAndRead])},
          {"bare_copy_and_read_per_bare_copy", ratio(ms[kBareAndRead], ms[kBare])},
          {"slot_per_bare_copy", ratio(ms[kSlot], ms[kBare])},
          {"slot_with_change_per_bare_copy", ratio(ms[kSlotWithChange], ms[kBare])}};
}

/// Fills the bytes of `rows` doubles with entries like those of fill_smooth.
void fill_field(DType dtype, double* bytes, std::size_t rows, std::size_t iterate) {
  const std::size_t entries = rows * sizeof(double) / bytes_of(dtype);
  const auto side = static_cast<std::size_t>(std::sqrt(static_cast<double>(entries)));
  const double inner = 1e6 + static_cast<double>(iterate);
  for (std::size_t i = 0; i < entries; ++i) {
    const double value = i % side == 0 || i < side ? 0.66 * inner : inner;
    const auto as_float = static_cast<float>(value);
    const auto as_integer = static_cast<std::int32_t>(value);
    const auto as_long = static_cast<std::int64_t>(value);
    const double as_complex[] = {value, value / 2};
    char* const to = reinterpret_cast<char*>(bytes) + i * bytes_of(dtype);
    switch (dtype) {
      case DType::kF32: std::memcpy(to, &as_float, sizeof as_float); break;
      case DType::kI32: std::memcpy(to, &as_integer, sizeof as_integer); break;
      case DType::kI64: std::memcpy(to, &as_long, sizeof as_long); break;
      case DType::kC128: std::memcpy(to, as_complex, sizeof as_complex); break;
      default: std::memcpy(to, &value, sizeof value);
    }
  }
}

/// Overwrites the iterates.
Json measure_field(DType dtype, const std::vector<Values>& iterates, std::size_t rows, int repeats) {
  const auto copy_and_read = select(&plain::copy_and_read, &avx2::copy_and_read, &avx512::copy_and_read);
  const std::size_t bytes = rows * sizeof(double);
  for (std::size_t i = 0; i < kIterates; ++i) fill_field(dtype, iterates[i].get(), rows, i);
  StepReducer reducer(Schema::of({{.name = "x", .dtype = dtype, .shape = {bytes / bytes_of(dtype)}}}));
  Rotation rotation(iterates, rows);
  const auto reduced = [&](double* slot, const double* x, const double* previous) {
    reducer.begin(previous);
    std::uint64_t hashes = 0;
    for (std::size_t begin = 0; begin < bytes; begin += StepReducer::kMostBytes) {
      const std::size_t i = begin / sizeof(double);
      hashes ^=
          reducer.copy_nontemporal(0, 0, slot + i, x + i, begin, std::min(StepReducer::kMostBytes, bytes - begin));
    }
    _mm_sfence();
    sink = sink ^ hashes ^ reducer.finish(slot, 1)[1];
  };
  const auto bare = [&](double* slot, const double* x, const double* previous) {
    sink = sink ^ copy_and_read(slot, x, previous, rows);
    _mm_sfence();
  };
  std::vector<double> bare_ms;
  std::vector<double> reduced_ms;
  for (int repeat = -3; repeat < repeats; ++repeat) {  // the first three warm up
    const double first = repeat % 2 == 0 ? rotation.next(bare) : 0;
    const double with_reductions = rotation.next(reduced);
    const double without = repeat % 2 == 0 ? first : rotation.next(bare);
    if (repeat < 0) continue;
    bare_ms.push_back(without);
    reduced_ms.push_back(with_reductions);
  }
  return {{"bare_copy_and_read", spread(bare_ms, "ms")},
          {"one_pass_with_change", spread(reduced_ms, "ms")},
          {"one_pass_with_change_per_bare_copy_and_read", ratio(reduced_ms, bare_ms)}};
}

void measure(std::size_t rows, int repeats, int core, Json& result) {
  result.update({{"rows", rows}, {"core", core}, {"threads", 1}});
  pin_to_core(core);
  omp_set_num_threads(1);

  std::vector<Values> iterates;
  for (std::size_t i = 0; i < kIterates; ++i) {
    iterates.push_back(allocate(rows));
    fill_smooth(iterates.back().get(), rows, i);
  }
  result["transfer"] = measure_transfer(iterates, rows, repeats);
  result["one_pass"]["smooth"] = measure_one_pass(iterates, rows, repeats);
  result["reductions"]["smooth"] = measure_reductions(iterates, rows, repeats);
  for (std::size_t i = 0; i < kIterates; ++i) fill_power_law(iterates[i].get(), rows, i);
  result["one_pass"]["power_law"] = measure_one_pass(iterates, rows, repeats);
  result["reductions"]["power_law"] = measure_reductions(iterates, rows, repeats);
  for (const DType dtype : {DType::kF64, DType::kF32, DType::kC128, DType::kI32, DType::kI64}) {
    result["fields"][std::string(to_string(dtype))] = measure_field(dtype, iterates, rows, repeats);
  }
}

}  // namespace
}  // namespace ringside::bench

int main(int argc, char** argv) {
  using namespace ringside;
  using namespace ringside::bench;
  BenchProgram program("transfer",
                       "Measures what it costs to copy, hash and reduce one iterate, compared with only a copy");
  std::size_t rows = 4'000'000;
  int repeats = 31;
  int core = -1;
  program.line.option("--rows", rows, "Doubles in one iterate")
      .check(whole_number_within(1000, std::uint64_t{1} << 31));
  program.line.option("--repeats", repeats, "Measured repeats of each pair").check(whole_number_within(5, 10'000));
  program.line.option("--core", core, "The core to run on (default: the lowest core that this process may use)");
  return program.run(argc, argv,
                     [&](Json& report) { measure(rows, repeats, core >= 0 ? core : first_allowed_core(), report); });
}
