// SPDX-License-Identifier: BSD-3-Clause
// Lists of any length between all ranks, while a problem is loaded. MPI counts with `int`; these functions do not.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace ringside::mpi {

/// Bytes for one rank, or from one.
struct Bytes {
  int rank = 0;
  const void* sent = nullptr;  // or
  void* received = nullptr;
  std::size_t bytes = 0;
};

/// Sends and receives all. Between two ranks, bytes go in the order of the lists. Collective among those named.
void transfer(MPI_Comm ranks, std::span<const Bytes> messages);

/// [r] of the result is [this rank] of rank r's lists. Collective.
template <class T>
std::vector<std::vector<T>> exchanged(MPI_Comm ranks, const std::vector<std::vector<T>>& lists) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<std::uint64_t> own(lists.size());
  std::vector<std::uint64_t> theirs(lists.size());
  for (std::size_t r = 0; r < lists.size(); ++r) own[r] = lists[r].size();
  MPI_Alltoall(own.data(), 1, MPI_UINT64_T, theirs.data(), 1, MPI_UINT64_T, ranks);
  std::vector<std::vector<T>> result(lists.size());
  std::vector<Bytes> messages;
  for (std::size_t r = 0; r < lists.size(); ++r) {
    result[r].resize(theirs[r]);
    messages.push_back({static_cast<int>(r), lists[r].data(), nullptr, own[r] * sizeof(T)});
    messages.push_back({static_cast<int>(r), nullptr, result[r].data(), theirs[r] * sizeof(T)});
  }
  transfer(ranks, messages);
  return result;
}

}  // namespace ringside::mpi
