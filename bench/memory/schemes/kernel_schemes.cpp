// SPDX-License-Identifier: BSD-3-Clause
// The kernel's own schemes: anonymous memory (all in DRAM, or with the machine's swap device), and shared mappings of
// files.
#include <sys/mman.h>

#include <cerrno>

#include "bench/memory/schemes/far_file.hpp"
#include "bench/memory/schemes/scheme.hpp"
#include "common/platform/error.hpp"

namespace ringside::bench {
namespace {

class Dram : public Scheme {
 public:
  Dram(bool huge, bool committed) : huge_(huge), flags_(committed ? 0 : MAP_NORESERVE) {}
  void* reserve(std::size_t bytes) override {
    void* array = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags_, -1, 0);
    if (array == MAP_FAILED) throw system_error("{} bytes of memory: {}", bytes, errno_text(errno));
    if (huge_) madvise(array, bytes, MADV_HUGEPAGE);
    return array;
  }

 private:
  bool huge_;
  int flags_;  // `ringside-memory run` does not handle mappings with NORESERVE
};

class MappedFiles : public Scheme {
 public:
  MappedFiles(std::string folder, int advice) : folder_(std::move(folder)), advice_(advice) {}

  void* reserve(std::size_t bytes) override {
    const UniqueFd file = far_file(folder_, arrays_++, bytes, 0);
    void* array = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (array == MAP_FAILED) throw system_error("{}: {} bytes: {}", folder_, bytes, errno_text(errno));
    if (madvise(array, bytes, advice_) != 0) throw system_error("{}: madvise: {}", folder_, errno_text(errno));
    return array;
  }

 private:
  std::string folder_;
  int advice_;
  int arrays_ = 0;
};

}  // namespace

std::unique_ptr<Scheme> dram_scheme(const Words& words) {
  const std::string kind = words.empty() ? "" : words.back();
  if (words.size() > 1 || (!words.empty() && kind != "huge" && kind != "committed")) {
    throw usage_error("--memory: found dram with '{}', expected dram, dram:huge or dram:committed", kind);
  }
  return std::make_unique<Dram>(kind == "huge", kind == "committed");
}

std::unique_ptr<Scheme> mmap_scheme(const Words& words) {
  const std::string advice = words.size() > 1 ? words[1] : "normal";
  if (words.empty() || words.size() > 2 || (advice != "normal" && advice != "random" && advice != "sequential")) {
    throw usage_error("--memory: found 'mmap' with {} words, expected mmap:DIR[:normal|random|sequential]",
                      words.size());
  }
  const int given = advice == "normal" ? MADV_NORMAL : advice == "random" ? MADV_RANDOM : MADV_SEQUENTIAL;
  return std::make_unique<MappedFiles>(words[0], given);
}

}  // namespace ringside::bench
