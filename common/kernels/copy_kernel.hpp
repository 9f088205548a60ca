// SPDX-License-Identifier: BSD-3-Clause
// The functions of common/kernels/copy.hpp, compiled once for each instruction set (cmake/isa_variants.cmake).
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/kernels/copy.hpp"

namespace ringside {

using CopyFunction = void(void* to, const void* from, std::size_t bytes) noexcept;
using HashedCopyFunction = std::uint64_t(void* to, const void* from, std::size_t bytes) noexcept;

namespace plain {
CopyFunction copy_nontemporal;
HashedCopyFunction copy_nontemporal_hashed;
HashedCopyFunction copy_cached_hashed;
}  // namespace plain

namespace avx2 {
CopyFunction copy_nontemporal;
HashedCopyFunction copy_nontemporal_hashed;
HashedCopyFunction copy_cached_hashed;
}  // namespace avx2

namespace avx512 {
CopyFunction copy_nontemporal;
HashedCopyFunction copy_nontemporal_hashed;
HashedCopyFunction copy_cached_hashed;
}  // namespace avx512

}  // namespace ringside
