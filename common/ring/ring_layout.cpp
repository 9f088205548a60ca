// SPDX-License-Identifier: BSD-3-Clause
#include "common/ring/ring_layout.hpp"

namespace ringside {

std::uint64_t superblock_hash(const std::byte* superblock, std::uint64_t bytes) noexcept {
  constexpr std::size_t kBefore = offsetof(SuperblockHead, hash);
  constexpr std::size_t kAfter = kBefore + sizeof(std::uint64_t);
  return hash64(superblock + kAfter, bytes - kAfter, hash64(superblock, kBefore));
}

std::uint64_t payload_hash(std::span<const std::uint64_t> chunk_hashes, const StepWithScalars& step,
                           std::size_t step_bytes) noexcept {
  return hash64(chunk_hashes.data(), chunk_hashes.size_bytes(), hash64(&step, step_bytes));
}

std::uint64_t header_hash(const SlotHeader& header, std::uint64_t seed) noexcept {
  SlotHeader covered = header;
  covered.header_hash = 0;
  return hash64(&covered, sizeof(covered), seed);
}

std::uint64_t results_hash(const ResultsHead& head, const std::uint64_t* words) noexcept {
  const std::uint64_t identity[] = {head.words, head.catalogue_hash, head.header_hash};
  return hash64(words, head.words * sizeof(std::uint64_t), hash64(identity, sizeof(identity)));
}

std::uint64_t run_hash(const RunEntryHead& head, std::span<const ResultDescription> catalogue, std::uint64_t record_seq,
                       std::uint64_t seed) noexcept {
  const std::uint64_t of_head = hash64(&head, sizeof(head), seed);
  const std::uint64_t of_catalogue = hash64(catalogue.data(), catalogue.size_bytes(), of_head);
  return hash64(&record_seq, sizeof(record_seq), of_catalogue);
}

}  // namespace ringside
