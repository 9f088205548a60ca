// SPDX-License-Identifier: BSD-3-Clause
#include "common/kernels/copy.hpp"

#include "common/kernels/copy_kernel.hpp"
#include "common/kernels/isa.hpp"

namespace ringside {

void copy_nontemporal(void* to, const void* from, std::size_t bytes) noexcept {
  static const auto kernel =
      select<CopyFunction>(plain::copy_nontemporal, avx2::copy_nontemporal, avx512::copy_nontemporal);
  kernel(to, from, bytes);
}

std::uint64_t copy_nontemporal_hashed(void* to, const void* from, std::size_t bytes) noexcept {
  static const auto kernel = select<HashedCopyFunction>(plain::copy_nontemporal_hashed, avx2::copy_nontemporal_hashed,
                                                        avx512::copy_nontemporal_hashed);
  return kernel(to, from, bytes);
}

std::uint64_t copy_cached_hashed(void* to, const void* from, std::size_t bytes) noexcept {
  static const auto kernel =
      select<HashedCopyFunction>(plain::copy_cached_hashed, avx2::copy_cached_hashed, avx512::copy_cached_hashed);
  return kernel(to, from, bytes);
}

}  // namespace ringside
