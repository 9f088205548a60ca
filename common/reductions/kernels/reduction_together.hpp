// SPDX-License-Identifier: BSD-3-Clause
// Combines several reductions into one: one loop over a block computes all sums among them, then the looks (reductions
// that are not sums) run. The compiler generates all of this code from the list of classes
// (common/reductions/kernels/reduction_list.hpp).
#pragma once

#include <type_traits>

#include "common/reductions/kernels/field_results.hpp"
#include "common/reductions/kernels/reduction_block.hpp"

namespace ringside::RINGSIDE_ISA {

template <class Reduction>
concept IsSum = requires(double value) {
  Reduction::term(value);
};

template <class... Sums>
struct Terms {
  static constexpr std::size_t kCount = sizeof...(Sums);
  using Running = RINGSIDE_ISA::Running<Sums...>;

  /// The index of the sum of `One` among the sums of a block.
  template <class One>
  static constexpr std::size_t place_of() noexcept {
    std::size_t place = 0;
    bool found = false;
    ((found = found || std::is_same_v<One, Sums>, place += found ? 0 : 1), ...);
    return place;
  }

  /// running: kRunning running sums for each sum.
  static void run_on(double* running, double value, std::size_t lane) noexcept {
    std::size_t t = 0;
    ((running[t++ * kRunning + lane] += Sums::term(value)), ...);
  }
  static void finish(const double* totals, FieldResults& results) noexcept {
    (Sums::finish(*totals++, results), ...);
  }
};

/// Selects the sums from a list, in their order.
template <class Sums, class... Rest>
struct SumsAmong {
  using Type = Sums;
};
template <class... Sums, class First, class... Rest>
struct SumsAmong<Terms<Sums...>, First, Rest...> : SumsAmong<Terms<Sums...>, Rest...> {};
template <class... Sums, IsSum First, class... Rest>
struct SumsAmong<Terms<Sums...>, First, Rest...> : SumsAmong<Terms<Sums..., First>, Rest...> {};

/// The type for the results of a reduction without its working memory: the class itself, unless it has a smaller type
/// for this.
template <class One>
struct FoundOf {
  using Type = One;
};
template <class One>
requires requires { typename One::Found; }
struct FoundOf<One> {
  using Type = typename One::Found;
};

template <class... Each>
class Together : Each... {
  using Sums = typename SumsAmong<Terms<>, Each...>::Type;

 public:
  static constexpr std::size_t kBlockSums = Sums::kCount;
  template <class One>
  static constexpr std::size_t kPlaceOf = Sums::template place_of<One>();

  static void run_on(double* running, double value, std::size_t lane) noexcept { Sums::run_on(running, value, lane); }

  /// Constructs the object at `place`, because some instances are too large to be made elsewhere and copied.
  static void* operator new(std::size_t, void* place) noexcept { return place; }

  /// The running results of the loop over a block.
  using Running = typename Sums::Running;

  /// Adds a block, with a loop of its own. Source: the values or the changes of a block. sums: kBlockSums doubles for
  /// this block.
  template <class Source>
  void add_block(Block& block, double* sums) noexcept {
    Running running;
    take_rows(Source(block), 0, block.rows / kRunning * kRunning, running);
    add_block<Source>(running, block, sums);
  }
  /// Adds a block after the loop over its whole groups of kRunning rows has run. Source: read for the other rows, and
  /// for results that the loop could not determine.
  template <class Source>
  void add_block(Running& running, Block& block, double* sums) noexcept {
    end_loop(Source(block), running, block, sums);
    (look<Each>(block), ...);
  }
  /// The results of the looks among the reductions, without working memory. Instances of Together can be merged into a
  /// Found, and a Found can be merged into an instance.
  class Found : FoundOf<Each>::Type... {
    friend Together;

   public:
    static void* operator new(std::size_t, void* place) noexcept { return place; }

    void merge(const Together& other) noexcept { (merge_one<Each>(other), ...); }

   private:
    template <class One>
    void merge_one(const One& other) noexcept {
      if constexpr (!IsSum<One>) FoundOf<One>::Type::merge(other);
    }
  };

  void merge(const Found& found) noexcept {
    (merge_one<Each>(static_cast<const typename FoundOf<Each>::Type&>(found)), ...);
  }
  static void finish_sums(const double* totals, FieldResults& results) noexcept { Sums::finish(totals, results); }
  /// totals: the totals of the block sums.
  void finish(const double* totals, FieldResults& results) const noexcept {
    finish_sums(totals, results);
    (finish_one<Each>(results), ...);
  }

 private:
  template <class One>
  void look(const Block& block) noexcept {
    if constexpr (!IsSum<One>) One::add_block(block);
  }
  template <class One, class Other>
  void merge_one(const Other& other) noexcept {
    if constexpr (!IsSum<One>) One::merge(other);
  }
  template <class One>
  void finish_one(FieldResults& results) const noexcept {
    if constexpr (!IsSum<One>) One::finish(results);
  }
};

}  // namespace ringside::RINGSIDE_ISA
