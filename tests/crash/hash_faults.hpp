// SPDX-License-Identifier: BSD-3-Clause
// Faults in the data that the ring hashes, switched on at run time. The ring under test consists of the unchanged
// object files of the production library: the linker redirects its calls of hash64 to this code (--wrap in
// CMakeLists.txt), and the library contains no hook for faults.
#pragma once

#include <cstdint>

namespace ringside::crash {

enum class Hashing : std::uint8_t {
  kWhole,                     // the real hash
  kOff,                       // all hashes are equal, so that no hash shows damage or a torn write
  kHeaderWithoutSeq,          // header_hash does not cover commit_seq
  kHeaderWithoutPayloadHash,  // header_hash does not cover payload_hash
  kPayloadWithoutStep,        // payload_hash does not cover the step descriptor and its scalars
  kPayloadWithoutFurtherScalars,
  kPayloadWithoutChunks,    // payload_hash does not cover the chunk hashes
  kResultsWithoutCatalogue  // the hash of a slot's results does not cover catalogue_hash
};

/// Selects how the ring hashes, while this object exists. Only one UseHashing may exist at a time.
class UseHashing {
 public:
  explicit UseHashing(Hashing hashing) noexcept;
  ~UseHashing();
  UseHashing(const UseHashing&) = delete;
  UseHashing& operator=(const UseHashing&) = delete;
};

}  // namespace ringside::crash
