// SPDX-License-Identifier: BSD-3-Clause
// libringside_memory, Ringside's software Memory Mode, with its C interface. The library is loaded by name like the
// other libraries.
#include "bench/memory/schemes/scheme.hpp"
#include "common/platform/error.hpp"
#include "memory/ringside_memory.h"

namespace ringside::bench {
namespace {

constexpr const char* kRingsideLibrary = "libringside_memory.so";

class RingsideScheme : public Scheme {
 public:
  RingsideScheme(const ringside_memory_options& options, const FarTiming& timing)
      : library_(loaded_library("RINGSIDE_BENCH_MEMORY", kRingsideLibrary)) {
    if (timing.emulated) {
      // (latency of a read in ns, read bytes per second, written bytes per second)
      auto* emulate = reinterpret_cast<int (*)(double, double, double)>(
          function_of(library_, kRingsideLibrary, "ringside_memory_emulate"));
      emulate(timing.latency_ns, timing.read_bytes_per_ns * 1e9, timing.write_bytes_per_ns * 1e9);
    }
    refuse_unless(function<decltype(ringside_memory_start)>("ringside_memory_start")(&options) == 0);
    aligned_ = function<decltype(ringside_memory_aligned)>("ringside_memory_aligned");
    stats_ = function<decltype(ringside_memory_stats)>("ringside_memory_stats");
  }
  ~RingsideScheme() override { function<decltype(ringside_memory_stop)>("ringside_memory_stop")(); }

  void* reserve(std::size_t bytes) override {
    constexpr std::size_t kLargestGranule = 1 << 20;
    void* array = aligned_(kLargestGranule, (bytes + kLargestGranule - 1) / kLargestGranule * kLargestGranule);
    refuse_unless(array != nullptr);
    return array;
  }

  Json account() const override {
    struct ringside_memory_stats now {};
    now.struct_bytes = sizeof now;
    stats_(&now);
    return {{"faults", now.faults},
            {"faults_zero", now.faults_zero},
            {"faults_far", now.faults_far},
            {"faults_write", now.faults_write},
            {"fault_s", static_cast<double>(now.fault_ns) * 1e-9},
            {"read_bytes", now.read_bytes},
            {"written_bytes", now.written_bytes},
            {"evicted", now.evicted},
            {"evicted_clean", now.evicted_clean},
            {"read_ahead", now.read_ahead},
            {"read_ahead_used", now.read_ahead_used},
            {"dram_limit_bytes", now.dram_limit_bytes},
            {"dram_peak_bytes", now.dram_peak_bytes},
            {"moves", now.moves != 0},
            {"mapped", now.mapped != 0},
            {"in_place_bytes", now.in_place_bytes},
            {"promoted_bytes", now.promoted_bytes},
            {"promotions", now.promotions},
            {"demotions", now.demotions}};
  }

 private:
  template <class Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(function_of(library_, kRingsideLibrary, name));
  }
  void refuse_unless(bool done) const {
    if (!done) throw system_error("{}", function<decltype(ringside_memory_error)>("ringside_memory_error")());
  }

  void* library_;
  decltype(ringside_memory_aligned)* aligned_ = nullptr;
  decltype(ringside_memory_stats)* stats_ = nullptr;
};

}  // namespace

std::unique_ptr<Scheme> ringside_scheme(const Words& words, const FarTiming& timing) {
  if (words.size() != 2 && words.size() != 3) {
    throw usage_error("--memory: found 'ringside' with {} words, expected ringside:DIR:LIMIT[:GRANULE|:in-place]",
                      words.size());
  }
  ringside_memory_options options{};
  options.struct_bytes = sizeof options;
  options.far_folder = words[0].c_str();
  options.dram_bytes = bytes_of(words[1]);
  options.in_place = words.size() == 3 && words[2] == "in-place" ? 1 : 2;
  options.granule_bytes =
      words.size() == 3 && options.in_place == 2 ? static_cast<std::uint32_t>(bytes_of(words[2])) : 0;
  return std::make_unique<RingsideScheme>(options, timing);
}

}  // namespace ringside::bench
