// SPDX-License-Identifier: BSD-3-Clause
// Seeded numbers that depend only on a position, not on the thread, so that a program generates the same data with any
// number of threads. mix() is the finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace ringside::bench {

constexpr std::uint64_t mix(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

/// A number below `limit`, evenly distributed over the bits of `random`.
constexpr std::uint64_t below(std::uint64_t limit, std::uint64_t random) noexcept {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(random) * limit) >> 64);
}

/// A number in [0, 1).
constexpr double unit(std::uint64_t random) noexcept {
  return static_cast<double>(random >> 11) * 0x1p-53;
}

/// One element's contribution to a checksum: it depends on the value and its place, not on the order of the additions.
constexpr std::uint64_t checked(std::uint64_t place, std::uint64_t value) noexcept {
  return mix(value ^ (place * 0xd1342543de82ef95U));
}
inline std::uint64_t checked(std::uint64_t place, double value) noexcept {
  return checked(place, std::bit_cast<std::uint64_t>(value));
}

/// A permutation of 0 .. count-1: a bijection on 0 .. 2^n - 1, where 2^n is the next power of two, which is applied
/// until the result is below count.
class Permutation {
 public:
  Permutation(std::uint64_t count, std::uint64_t seed)
      : count_(count), shift_(static_cast<int>((std::bit_width(count - 1) + 1) / 2)), seed_(mix(seed)) {
    mask_ = count <= 1 ? 0 : ~std::uint64_t{0} >> std::countl_zero(count - 1);
  }

  std::uint64_t operator()(std::uint64_t i) const noexcept {
    do {
      for (const std::uint64_t odd : {0x9e3779b97f4a7c15U, 0xbf58476d1ce4e5b9U, 0x94d049bb133111ebU}) {
        i = ((i ^ (seed_ & mask_)) * odd) & mask_;
        i ^= i >> shift_;
      }
    } while (i >= count_);
    return i;
  }

 private:
  std::uint64_t count_;
  int shift_;
  std::uint64_t seed_;
  std::uint64_t mask_ = 0;
};

/// Ranks 1 .. count with probability ~ rank^-exponent, by rejection-inversion, which needs no table (Hörmann,
/// Derflinger, ACM TOMACS 6(3), 1996). exponent is not 1.
class Zipf {
 public:
  Zipf(std::uint64_t count, double exponent)
      : count_(static_cast<double>(count)), power_(1 - exponent), exponent_(exponent) {
    area_begin_ = area(1.5) - 1;
    area_end_ = area(count_ + 0.5);
    accept_ = 2 - inverse(area(2.5) - height(2));
  }

  /// `next` returns 64 random bits at each call.
  template <class Next>
  std::uint64_t rank(Next&& next) const {
    for (;;) {
      const double at = area_end_ + unit(next()) * (area_begin_ - area_end_);
      const double x = inverse(at);
      double k = std::floor(x + 0.5);
      k = k < 1 ? 1 : (k > count_ ? count_ : k);
      if (k - x <= accept_ || at >= area(k + 0.5) - height(k)) return static_cast<std::uint64_t>(k);
    }
  }

 private:
  double height(double x) const { return std::exp(-exponent_ * std::log(x)); }
  double area(double x) const { return std::expm1(power_ * std::log(x)) / power_; }
  double inverse(double y) const { return std::exp(std::log1p(y * power_) / power_); }

  double count_;
  double power_;
  double exponent_;
  double area_begin_ = 0;
  double area_end_ = 0;
  double accept_ = 0;
};

}  // namespace ringside::bench
