// SPDX-License-Identifier: BSD-3-Clause
#include "common/reductions/whole/whole_field.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "common/reductions/kernels/field_results.hpp"

namespace ringside {
namespace {

// The choice of the instruction set does not matter, because all variants give the same bits.
constexpr const ReductionKernel& kernel = plain::reduction_kernel;

template <ReductionName kName>
double f64_of(const FieldPart& part) noexcept {
  return std::bit_cast<double>(part.values[place_of(kName.text, RINGSIDE_CLASS_REAL).word]);
}

template <ReductionName kName>
Int128 i128_of(const FieldPart& part) noexcept {
  const std::uint64_t* const words = &part.values[place_of(kName.text, RINGSIDE_CLASS_INTEGER).word];
  return static_cast<Int128>(static_cast<UInt128>(words[1]) << 64 | words[0]);
}

ExactReductions exact_of(const FieldPart& part) noexcept {
  ExactReductions exact;
  exact.sum = i128_of<"sum">(part);
  exact.l1 = i128_of<"l1">(part);
  exact.min = i128_of<"min">(part);
  exact.max = i128_of<"max">(part);
  exact.change_l1 = i128_of<"change_l1">(part);
  exact.change_linf = i128_of<"change_linf">(part);
  return exact;
}

}  // namespace

void WholeField::take(const FieldPart& part) {
  has_change = has_change && part.has_change;
  if (part.exact_sums != nullptr) {
    if (!exact_sums) exact_sums = std::make_unique<ExactSums>();
    exact_sums->add(*part.exact_sums);
    entries += part.entries;
  } else {
    run_on(part.head, part.head_change);
    kernel.add_blocks(part.block_sums.data(), part.block_sums.size() / kernel.sums_per_block, totals, errors);
    entries += part.block_sums.size() / kernel.sums_per_block * kReductionBlockRows;
    run_on(part.tail, part.tail_change);
  }
  if (part.is_integer) {
    exact.merge(exact_of(part));
    return;
  }
  min = std::min(min, f64_of<"min">(part));
  max = std::max(max, f64_of<"max">(part));
  change_linf = std::max(change_linf, f64_of<"change_linf">(part));  // in this order, std::max ignores NaN of a part
  non_finite += part.values[place_of("non_finite", RINGSIDE_CLASS_REAL).word];
}

/// Adds entries, all of one block, to the block that is not yet complete, and then adds that block to the totals if it
/// is now complete.
void WholeField::run_on(std::span<const double> x, std::span<const double> change) noexcept {
  if (x.empty()) return;
  kernel.run_on(running, false, open_entries(), x.data(), x.size());
  if (!change.empty()) kernel.run_on(running, true, open_entries(), change.data(), change.size());
  entries += x.size();
  if (open_entries() != 0) return;
  double sums[kMostBlockSums] = {};
  kernel.fold_running(running, sums);
  kernel.add_blocks(sums, 1, totals, errors);
  std::ranges::fill(running, 0.0);
}

void WholeField::finish_ordered_sums(FieldResults& results) const noexcept {
  double sums[kMostBlockSums] = {};
  double total[kMostBlockSums];
  double error[kMostBlockSums];
  std::ranges::copy(totals, total);
  std::ranges::copy(errors, error);
  if (open_entries() != 0) {
    kernel.fold_running(running, sums);
    kernel.add_blocks(sums, 1, total, error);
  }
  for (std::size_t s = 0; s < kMostBlockSums; ++s) total[s] = settled_total(total[s], error[s]);
  kernel.finish_sums(total, has_change, results);
}

/// For an integer field, only l2 and change_l2 are written; its other sums come from ExactReductions.
void WholeField::finish_exact_sums(FieldResults& results) const noexcept {
  const double sum = exact_sums->sum();
  results.f64<"sum">(sum);
  results.f64<"mean">(sum / static_cast<double>(entries));
  results.f64<"l1">(exact_sums->l1());
  results.f64<"l2">(exact_sums->l2());
  if (!has_change) return;
  results.f64<"change_l1">(exact_sums->change_l1());
  results.f64<"change_l2">(exact_sums->change_l2());
}

std::uint64_t WholeField::finish(bool is_integer, std::uint64_t* values) const noexcept {
  std::fill_n(values, is_integer ? kIntegerFieldWords : kRealFieldWords, 0);
  FieldResults results(values, entries, is_integer);
  if (exact_sums) {
    finish_exact_sums(results);
  } else {
    finish_ordered_sums(results);
  }
  if (is_integer) {
    exact.finish(results, has_change);
  } else {
    results.f64<"min">(min);
    results.f64<"max">(max);
    results.f64<"linf">(std::fabs(max) > std::fabs(min) ? std::fabs(max) : std::fabs(min));
    results.i64<"non_finite">(non_finite);
    if (has_change) {
      results.f64<"change_linf">(change_linf);
      results.settle_change();
    }
  }
  return results.presence();
}

}  // namespace ringside
