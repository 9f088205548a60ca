// SPDX-License-Identifier: BSD-3-Clause
// Sends lists of any length between all ranks while a problem is loaded. MPI counts elements with `int`; these
// functions have no such limit.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

namespace ringside::mpi {

/// Bytes that are sent to a rank, or received from it.
struct Bytes {
  int rank = 0;
  const void* sent = nullptr;  // null: the bytes are received
  void* received = nullptr;
  std::size_t bytes = 0;
};

/// Sends and receives all messages. Between two ranks, messages arrive in the order of the list. Collective among the
/// ranks that the messages name.
inline void transfer(MPI_Comm ranks, std::span<const Bytes> messages) {
  constexpr std::size_t kPiece = std::size_t{1} << 30;
  constexpr int kTag = 1;
  std::vector<MPI_Request> requests;
  for (const Bytes& message : messages) {
    for (std::size_t at = 0; at < message.bytes; at += kPiece) {
      const int bytes = static_cast<int>(std::min(kPiece, message.bytes - at));
      MPI_Request& request = requests.emplace_back();
      if (message.received != nullptr) {
        MPI_Irecv(static_cast<char*>(message.received) + at, bytes, MPI_BYTE, message.rank, kTag, ranks, &request);
      } else {
        MPI_Isend(static_cast<const char*>(message.sent) + at, bytes, MPI_BYTE, message.rank, kTag, ranks, &request);
      }
    }
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

/// Returns for each rank r the number of elements in its list for this rank. Collective.
template <class T>
std::vector<std::uint64_t> lengths_for_this_rank(MPI_Comm ranks, const std::vector<std::vector<T>>& lists) {
  std::vector<std::uint64_t> own;
  for (const std::vector<T>& list : lists) own.push_back(list.size());
  std::vector<std::uint64_t> theirs(lists.size());
  MPI_Alltoall(own.data(), 1, MPI_UINT64_T, theirs.data(), 1, MPI_UINT64_T, ranks);
  return theirs;
}

/// Sends lists[r] to rank r. Returns the elements that all ranks sent to this one, in one list, in the order of the
/// ranks. Collective.
template <class T>
std::vector<T> joined(MPI_Comm ranks, const std::vector<std::vector<T>>& lists) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::vector<std::uint64_t> theirs = lengths_for_this_rank(ranks, lists);
  std::vector<T> result(std::accumulate(theirs.begin(), theirs.end(), std::uint64_t{0}));
  std::vector<Bytes> messages;
  T* to = result.data();
  for (std::size_t r = 0; r < lists.size(); ++r) {
    messages.push_back({static_cast<int>(r), lists[r].data(), nullptr, lists[r].size() * sizeof(T)});
    messages.push_back({static_cast<int>(r), nullptr, to, theirs[r] * sizeof(T)});
    to += theirs[r];
  }
  transfer(ranks, messages);
  return result;
}

/// Sends lists[r] to rank r. Returns the lists that this rank received, one from each rank. Collective.
template <class T>
std::vector<std::vector<T>> exchanged(MPI_Comm ranks, const std::vector<std::vector<T>>& lists) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::vector<std::uint64_t> theirs = lengths_for_this_rank(ranks, lists);
  std::vector<std::vector<T>> result(lists.size());
  std::vector<Bytes> messages;
  for (std::size_t r = 0; r < lists.size(); ++r) {
    result[r].resize(theirs[r]);
    messages.push_back({static_cast<int>(r), lists[r].data(), nullptr, lists[r].size() * sizeof(T)});
    messages.push_back({static_cast<int>(r), nullptr, result[r].data(), theirs[r] * sizeof(T)});
  }
  transfer(ranks, messages);
  return result;
}

}  // namespace ringside::mpi
