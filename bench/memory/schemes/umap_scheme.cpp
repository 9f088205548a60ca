// SPDX-License-Identifier: BSD-3-Clause
// LLNL's umap (Peng et al., "UMap: Enabling Application-driven Optimizations for Page Management", MCHPC 2019): a
// userfaultfd handler with worker threads. Environment variables set umap's page size and buffer. This file implements
// umap's store, so that transfers can have the timing of emulated memory.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <deque>
#include <string>

#include "bench/memory/schemes/far_file.hpp"
#include "bench/memory/schemes/scheme.hpp"
#include "common/platform/error.hpp"

namespace Umap {

// The interface of umap's store; the library calls it through its virtual function table.
class Store {
 public:
  virtual ssize_t read_from_store(char* buffer, std::size_t bytes, off_t offset) = 0;
  virtual ssize_t write_to_store(char* buffer, std::size_t bytes, off_t offset) = 0;

 protected:
  ~Store() = default;
};

}  // namespace Umap

namespace ringside::bench {
namespace {

constexpr const char* kLibrary = "libumap.so";

class TimedStore final : public Umap::Store {
 public:
  TimedStore(UniqueFd file, const FarTiming& timing) : file_(std::move(file)), timing_(timing) {}

  ssize_t read_from_store(char* buffer, std::size_t bytes, off_t offset) override {
    const std::int64_t begin_ns = now_ns();
    const ssize_t done = pread(file_.get(), buffer, bytes, offset);
    timing_.wait(begin_ns, bytes, false);
    return done;
  }
  ssize_t write_to_store(char* buffer, std::size_t bytes, off_t offset) override {
    const std::int64_t begin_ns = now_ns();
    const ssize_t done = pwrite(file_.get(), buffer, bytes, offset);
    timing_.wait(begin_ns, bytes, true);
    return done;
  }
  int file() const { return file_.get(); }

 private:
  UniqueFd file_;
  FarTiming timing_;
};

class UmapScheme : public Scheme {
 public:
  UmapScheme(std::string folder, std::uint64_t page, int flags, const FarTiming& timing)
      : folder_(std::move(folder)), page_(page), flags_(flags), timing_(timing) {
    void* library = loaded_library("RINGSIDE_BENCH_UMAP", kLibrary);
    // Umap::umap_ex(void*, size_t, int, int, int, off_t, Umap::Store*)
    map_ = reinterpret_cast<Map>(function_of(library, kLibrary, "_ZN4Umap7umap_exEPvmiiilPNS_5StoreE"));
    unmap_ = reinterpret_cast<Unmap>(function_of(library, kLibrary, "uunmap"));
  }
  ~UmapScheme() override {
    for (const auto& [array, bytes] : arrays_) unmap_(array, bytes);
  }

  void* reserve(std::size_t bytes) override {
    const std::size_t whole = (bytes + page_ - 1) / page_ * page_;
    TimedStore& store =
        stores_.emplace_back(far_file(folder_, static_cast<int>(stores_.size()), whole, flags_), timing_);
    void* array = map_(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE, store.file(), 0, &store);
    if (array == MAP_FAILED) throw system_error("umap: {} bytes: {}", whole, errno_text(errno));
    arrays_.emplace_back(array, whole);
    return array;
  }

 private:
  using Map = void* (*)(void*, std::size_t, int, int, int, off_t, Umap::Store*);
  using Unmap = int (*)(void*, std::size_t);
  std::string folder_;
  std::uint64_t page_;
  int flags_;
  FarTiming timing_;
  Map map_ = nullptr;
  Unmap unmap_ = nullptr;
  std::deque<TimedStore> stores_;  // umap keeps pointers to them
  std::vector<std::pair<void*, std::size_t>> arrays_;
};

}  // namespace

std::unique_ptr<Scheme> umap_scheme(const Words& words, const FarTiming& timing) {
  const bool direct = words.size() == 4 && words[3] == "direct";
  if (words.size() != 3 && !direct) {
    throw usage_error("--memory: found 'umap' with {} words, expected umap:DIR:PAGE:LIMIT[:direct]", words.size());
  }
  const std::uint64_t page = bytes_of(words[1]);
  setenv("UMAP_PAGESIZE", std::to_string(page).c_str(), 1);
  setenv("UMAP_BUFSIZE", std::to_string(bytes_of(words[2]) / page).c_str(), 1);
  return std::make_unique<UmapScheme>(words[0], page, direct ? O_DIRECT : 0, timing);
}

}  // namespace ringside::bench
