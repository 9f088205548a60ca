// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/solvers/messages.hpp"

#include <algorithm>

namespace ringside::mpi {

void transfer(MPI_Comm ranks, std::span<const Bytes> messages) {
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

}  // namespace ringside::mpi
