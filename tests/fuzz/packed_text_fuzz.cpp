// Any bytes as a gzip or xz file: text, or one Error.
#include "producer/text_source.hpp"
#include "tests/fuzz/fuzzing.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace ringside;
  const std::string_view packed(reinterpret_cast<const char*>(data), bytes);
  if (!is_packed(packed)) return -1;
  fuzzing::run([&] { unpack(packed, "fuzz.gz"); });
  return 0;
}
