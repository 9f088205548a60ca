// SPDX-License-Identifier: BSD-3-Clause
// The limit to which the products are compared: a copy with non-temporal stores, by the same pinned threads. The vector
// is four times as large as a large last-level cache, and each double moves 16 B. The given matrix is loaded only for
// its sizes.
#include <emmintrin.h>

#include <algorithm>
#include <cmath>

#include "bench/products/product.hpp"
#include "bench/programs/machine_header.hpp"
#include "common/platform/version.hpp"
#include "producer/matrix/array.hpp"

namespace ringside::bench {
namespace {

constexpr std::uint64_t kDoubles = std::uint64_t{1} << 24;  // 128 MiB

class Copy final : public Product {
 public:
  std::string version() const override { return ringside::version(); }
  std::string what() const override {
    return "a copy of 2^24 doubles with non-temporal stores; each double takes 16 B of traffic";
  }

  void load(const CsrMatrix&) override {
#pragma omp parallel for schedule(static)
    for (std::uint64_t i = 0; i < kDoubles; ++i) {
      from_[i] = operand(i);
      to_[i] = 0;
    }
  }

  void run() override {
    constexpr std::uint64_t kAtOnce = 512;
#pragma omp parallel
    {
#pragma omp for schedule(static)
      for (std::uint64_t block = 0; block < kDoubles; block += kAtOnce) {
        for (std::uint64_t i = block; i < block + kAtOnce; i += 2) {
          _mm_stream_pd(to_.data() + i, _mm_load_pd(from_.data() + i));
        }
      }
      _mm_sfence();
    }
  }

  double error(const CsrMatrix&) override {
    return std::equal(from_.begin(), from_.end(), to_.begin()) ? 0 : HUGE_VAL;
  }

 private:
  Array<double> from_{kDoubles};
  Array<double> to_{kDoubles};
};

}  // namespace

std::unique_ptr<Product> make_product(int threads) {
  pin_threads(threads);
  return std::make_unique<Copy>();
}

}  // namespace ringside::bench
