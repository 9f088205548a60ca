// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/ring/persistence.hpp"


#include "common/reductions/step_reducer.hpp"

namespace ringside {

void Persistence::store_words(void* to, const void* from, std::size_t bytes) noexcept {
  for_each_word(to, from, bytes, [this](std::uint64_t* at, std::uint64_t word) { store64(at, word); });
}

std::uint64_t Persistence::copy_reduced(void* to, const void* from, std::size_t bytes,
                                        const BytesToReduce& what) noexcept {
  const std::uint64_t hash = copy_nontemporal(to, from, bytes);
  const std::uint64_t in_payload = what.reducer.schema().place(what.variable).offset + what.first_byte;
  what.reducer.sweep(what.thread, what.variable, static_cast<const std::byte*>(to) - in_payload, what.first_byte,
                     bytes);
  return hash;
}

void persist(Persistence& persistence, const void* address, std::size_t bytes) noexcept {
  persistence.flush(address, bytes);
  persistence.drain();
}

}  // namespace ringside
