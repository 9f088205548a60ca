// SPDX-License-Identifier: BSD-3-Clause
// A kept step of a pool for `export`. It is verified before any of it is used, and it detects that an analyzer
// overwrites it. It is either read in place, from the mapped pool, without a copy, or is a verified copy in memory.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "common/pool_reader/ring_reader.hpp"

namespace ringside {

class VerifiedStep {
 public:
  enum class Way {
    kInPlace,  // holds the slot if possible; call `still_there` at the end
    kCopy      // of the whole step: an overwrite cannot affect it
  };

  /// Empty if the slot took another commit meanwhile. Throws Error (exit code 5) if the step is damaged. If slots
  /// cannot be held, kInPlace becomes kCopy. The reader outlives the step.
  static std::optional<VerifiedStep> open(const RingReader& reader, const KeptSlot& kept, Way way);

  const KeptSlot& kept() const noexcept { return kept_; }
  std::span<const std::byte> bytes(std::size_t variable) const noexcept;
  /// Whether everything read so far belongs to this step.
  bool still_there() noexcept;

 private:
  VerifiedStep(const RingReader& reader, const KeptSlot& kept) : reader_(&reader), kept_(kept) {}

  const RingReader* reader_;
  KeptSlot kept_;
  HeldStep held_;
  std::vector<std::byte> copy_;  // empty: in place
};

}  // namespace ringside
