// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a matrix cache. Most random bytes fail the hash checks. Therefore the target also builds caches from
// arrays and header words that the fuzzer chooses, and corrects every hash. An attacker could write such caches to make
// a solver access memory outside its arrays. Each cache must give a matrix that a solver can process, or one Error.
#include <unistd.h>

#include <cstring>

#include "producer/matrix/matrix_cache.hpp"
#include "producer/matrix/matrix_checks.hpp"
#include "tests/fuzz/fuzzing.hpp"

namespace {

using namespace ringside;

// Takes numbers from the fuzzer's bytes, one byte at a time; returns zeros after the last byte.
class Numbers {
 public:
  Numbers(const std::uint8_t* data, std::size_t bytes) : data_(data), bytes_(bytes) {}
  std::uint64_t below(std::uint64_t limit) {
    if (bytes_ == 0) return 0;
    --bytes_;
    return *data_++ % limit;
  }

 private:
  const std::uint8_t* data_;
  std::size_t bytes_;
};

Text copy_of(const void* data, std::size_t bytes) {
  std::shared_ptr<void> pages = allocate_pages(bytes);
  if (bytes > 0) std::memcpy(pages.get(), data, bytes);
  return {pages, {static_cast<const char*>(pages.get()), bytes}};
}

CsrMatrix any_arrays(Numbers& numbers) {
  CsrMatrix matrix;
  matrix.rows = 1 + numbers.below(6);
  matrix.columns = 1 + numbers.below(6);
  matrix.orientation = numbers.below(2) == 0 ? Orientation::kRows : Orientation::kInLinks;
  matrix.row_begin = Array<std::uint64_t>(matrix.rows + 1);
  matrix.column = Array<std::uint32_t>(numbers.below(10));
  if (numbers.below(2) == 1) matrix.value = Array<double>(matrix.column.size());
  if (numbers.below(2) == 1) matrix.id = Array<std::uint64_t>(matrix.rows);
  for (std::uint64_t& begin : matrix.row_begin) begin = numbers.below(12);
  for (std::uint32_t& column : matrix.column) column = static_cast<std::uint32_t>(numbers.below(8));
  for (double& value : matrix.value) value = static_cast<double>(numbers.below(256));
  for (std::uint64_t& id : matrix.id) id = numbers.below(256);
  matrix.content_id = hash_content(matrix);
  return matrix;
}

// The bytes of a cache with arbitrary arrays; some words of its header may be changed.
Text forged_cache(Numbers& numbers) {
  static const std::string path = "/tmp/matrix_cache_fuzz." + std::to_string(getpid());
  write_matrix_cache(any_arrays(numbers), {.text = "fuzz"}, path);
  const Text written = map_file(path);
  const Text forged = copy_of(written.text.data(), written.text.size());
  unlink(path.c_str());
  auto* const header = static_cast<CacheHeader*>(forged.owner.get());
  auto* const words = static_cast<std::uint64_t*>(forged.owner.get());
  for (std::uint64_t changes = numbers.below(4); changes > 0; --changes) {
    // Changes a word of the shape or the offsets: bytes 16 to 104 (docs/use/run.md).
    words[2 + numbers.below(11)] ^= (numbers.below(256) + 1) << numbers.below(64);
  }
  header->header_hash = hash128(header, offsetof(CacheHeader, header_hash));
  return forged;
}

void read(const Text& file) {
  fuzzing::read_both_ways([&](Orientation orientation) { return read_matrix_cache(file, "fuzz.rsm", orientation); });
  fuzzing::run([&] { is_fresh_cache(file.text, "fuzz.rsm", Orientation::kRows, {.text = "fuzz"}); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  read(copy_of(data, bytes));
  Numbers numbers(data, bytes);
  read(forged_cache(numbers));
  return 0;
}
