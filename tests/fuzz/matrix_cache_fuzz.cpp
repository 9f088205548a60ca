// Any bytes as a matrix cache, also with its hashes mended, as someone might who wants a solver to leave its arrays: a
// matrix a solver can walk, or one Error.
#include <cstring>

#include "producer/csr_builder.hpp"
#include "producer/matrix_cache.hpp"
#include "tests/fuzz/fuzzing.hpp"

namespace {

// The input is spread over a page-aligned file: its first 512 bytes are the header, the rest begins at 4096.
ringside::Text as_file(const std::uint8_t* data, std::size_t bytes) {
  constexpr std::size_t kHeaderBytes = sizeof(ringside::CacheHeader);
  const std::size_t body_bytes = bytes > kHeaderBytes ? bytes - kHeaderBytes : 0;
  const std::size_t file_bytes = body_bytes == 0 ? bytes
                                                 : (ringside::kCacheAlignment * 2 + body_bytes - 1) /
                                                       ringside::kCacheAlignment * ringside::kCacheAlignment;
  std::shared_ptr<void> pages = ringside::allocate_pages(file_bytes);
  char* const file = static_cast<char*>(pages.get());
  if (bytes > 0) std::memcpy(file, data, std::min(bytes, kHeaderBytes));
  if (body_bytes > 0) std::memcpy(file + ringside::kCacheAlignment, data + kHeaderBytes, body_bytes);
  return {pages, {file, file_bytes}};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace ringside;
  const Text file = as_file(data, bytes);
  fuzzing::read_both_ways([&](Orientation orientation) { return read_matrix_cache(file, "fuzz.rsm", orientation); });
  fuzzing::run([&] { is_fresh_cache(file.text, "fuzz.rsm", Orientation::kRows, {"fuzz", {}}); });

  if (file.text.size() < sizeof(CacheHeader)) return 0;
  auto* const header = static_cast<CacheHeader*>(file.owner.get());
  std::memcpy(header->magic, kCacheMagic.data(), sizeof header->magic);
  header->version = kCacheVersion;
  header->byte_order = kCacheByteOrder;
  header->file_bytes = file.text.size();
  const auto mend_header = [&] { header->header_hash = hash128(header, offsetof(CacheHeader, header_hash)); };
  mend_header();
  // The error names the content's true hash: the second try carries it.
  for (int attempt = 0; attempt < 2; ++attempt) {
    const std::string error = fuzzing::read_both_ways(
        [&](Orientation orientation) { return read_matrix_cache(file, "fuzz.rsm", orientation); });
    const std::size_t at = error.find("content is damaged (hash ");
    if (at == std::string::npos) break;
    const std::string digits = error.substr(at + std::strlen("content is damaged (hash "), 32);
    header->content_id = {std::stoull(digits.substr(0, 16), nullptr, 16), std::stoull(digits.substr(16), nullptr, 16)};
    mend_header();
  }
  return 0;
}
