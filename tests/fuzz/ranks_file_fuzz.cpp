// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a ranks file must give a usable file, or one Error. Usable means: when the file is written and read
// again, it is the same, and each entry of a whole array comes from exactly one place in the bytes of the rings.
#include <algorithm>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "cli/export/formats/slice.hpp"
#include "common/platform/error.hpp"
#include "common/ranks/ranks_file.hpp"
#include "common/node_rings/assembly.hpp"
#include "tests/fuzz/fuzzing.hpp"

namespace {

using namespace ringside;

constexpr std::uint64_t kMostEntries = 4096;

/// Bytes whose 8 bits encode their place in a node and the node.
std::vector<std::byte> counted(std::uint64_t bytes, std::size_t node) {
  std::vector<std::byte> made(bytes);
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = static_cast<std::byte>(i + 7 * node);
  return made;
}

/// Assembles a variable at once and in small chunks; both must give the same bytes.
void assemble(const RanksFile& file, const Assembly& assembly, std::size_t v) {
  const Variable& variable = file.variables[v];
  const std::size_t entry = bytes_of(variable.dtype);
  const ChunkPlace whole = whole_of(variable.shape, entry);
  if (whole.bytes > kMostEntries * entry) return;
  std::vector<std::vector<std::byte>> nodes;
  for (std::size_t n = 0; n < file.nodes.size(); ++n) nodes.push_back(counted(file.layout_of(n).schema.place(v).bytes, n));
  const auto bytes_of_node = [&](std::size_t node) { return std::span<const std::byte>(nodes[node]); };
  const Region region = Slice().of(variable);
  std::vector<std::byte> buffer;
  std::vector<std::byte> part;
  const std::span<const std::byte> all = assembly.part(v, indices_of(region, whole), bytes_of_node, buffer);
  if (all.size() != whole.bytes) abort();
  const std::vector<std::byte> expected(all.begin(), all.end());
  for_each_chunk(variable.shape, chunk_shape(variable.shape, entry, 16), entry, [&](const ChunkPlace& place) {
    const std::span<const std::byte> found = assembly.part(v, indices_of(region, place), bytes_of_node, part);
    if (!std::equal(found.begin(), found.end(), expected.begin() + static_cast<std::ptrdiff_t>(place.offset))) abort();
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  try {
    const RanksFile file = parse_ranks({reinterpret_cast<const char*>(data), bytes}, "fuzz.ranks");
    const std::string text = to_text(file);
    if (to_text(parse_ranks(text, "again")) != text) abort();
    const Assembly assembly(file);
    for (std::size_t v = 0; v < file.variables.size(); ++v) assemble(file, assembly, v);
  } catch (const Error&) {
  }
  return 0;
}
