// SPDX-License-Identifier: BSD-3-Clause
#include "common/reductions/plug_ins/plug_in_notes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "common/files/regular_file.hpp"
#include "common/platform/error.hpp"

namespace ringside {

struct PlugInNotes::Content {
  static constexpr std::uint64_t kFormat = 0x31'73'6e'49'67'75'6c'50;  // "PlugIns1"
  static constexpr std::size_t kCells = 1024;

  struct PlugIn {
    Id128 id;
    std::uint32_t deaths;
    std::uint32_t children;  // the number of forked children that returned from a call
    std::uint64_t ended_at;  // progress + 1 when the plug-in last ended an analyzer without a note; 0: never
  };

  std::uint64_t format;
  Id128 run_id;
  std::atomic<std::uint64_t> progress;  // the number of steps for which all plug-ins have returned
  std::atomic<std::uint32_t> ended_in;  // the plug-in's index + 1; 0: no note
  std::atomic<std::uint32_t> how;
  PlugIn plug_ins[kMostPlugIns];
  PlugInCell cells[kCells];
};

std::string to_text(PlugInEnd how) {
  switch (how) {
    case PlugInEnd::kUnknown: return "cause unknown";
    case PlugInEnd::kHang: return "it did not return in time";
    case PlugInEnd::kExit: return "it called exit";
    case PlugInEnd::kDescriptors: return "it closed descriptors that are not its own";
  }
  const char* const name = sigdescr_np(static_cast<int>(how));
  return fmt::format("signal {} ({})", static_cast<int>(how), name != nullptr ? name : "unknown");
}

PlugInNotes::PlugInNotes() {
  map(-1);
}

PlugInNotes::PlugInNotes(const std::string& path) {
  const RegularFile file = open_regular(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
  if (!file.valid()) throw system_error("{}: {}", path, file.why());
  if (ftruncate(file.fd.get(), sizeof(Content)) != 0) throw system_error("{}: {}", path, errno_text(errno));
  map(file.fd.get());
}

PlugInNotes::~PlugInNotes() {
  munmap(content_, sizeof(Content));
}

void PlugInNotes::map(int fd) {
  const int flags = fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED;  // also shared with child processes
  void* const at = mmap(nullptr, sizeof(Content), PROT_READ | PROT_WRITE, flags, fd, 0);
  if (at == MAP_FAILED) throw system_error("notes of plug-ins: {}", errno_text(errno));
  content_ = static_cast<Content*>(at);
  if (content_->format == Content::kFormat) return;
  std::memset(at, 0, sizeof(Content));
  content_ = new (at) Content{};
  content_->format = Content::kFormat;
}

std::vector<PlugInDeath> PlugInNotes::begin_run(const Id128& run_id, std::span<const Id128> ids) {
  Content& notes = *content_;
  const bool same_run = notes.run_id == run_id;
  std::vector<std::uint32_t> inside(kMostPlugIns, 0);
  for (PlugInCell& cell : notes.cells) {
    const std::uint32_t plug_in = cell.plug_in.exchange(0);
    if (plug_in != 0 && plug_in <= kMostPlugIns) inside[plug_in - 1] = 1;
  }
  const std::uint32_t noted = notes.ended_in.exchange(0);
  const PlugInEnd how{notes.how.exchange(0)};
  std::vector<PlugInDeath> deaths;
  for (std::size_t p = 0; p < kMostPlugIns; ++p) {
    Content::PlugIn& known = notes.plug_ins[p];
    const Id128 id = p < ids.size() ? ids[p] : Id128{};
    if (!same_run || known.id != id) {
      known = {.id = id, .deaths = 0, .children = 0, .ended_at = 0};
      continue;
    }
    if (noted == p + 1) {
      deaths.push_back({p, how, ++known.deaths});
    } else if (noted == 0 && inside[p] != 0) {
      // A user may have killed the analyzer while a plug-in happened to run, which is no fault of the plug-in. If this
      // happens twice without a completed step in between, it counts as a fault.
      const std::uint64_t now = notes.progress.load() + 1;
      if (known.ended_at == now) deaths.push_back({p, PlugInEnd::kUnknown, ++known.deaths});
      known.ended_at = now;
    }
  }
  notes.run_id = run_id;
  return deaths;
}

std::uint32_t PlugInNotes::deaths(std::size_t plug_in) const noexcept {
  return content_->plug_ins[plug_in].deaths;
}

PlugInCell& PlugInNotes::cell(std::size_t thread) noexcept {
  return content_->cells[thread % Content::kCells];
}

std::size_t PlugInNotes::cells() noexcept {
  return Content::kCells;
}

bool PlugInNotes::note_end(std::uint32_t plug_in, PlugInEnd how) noexcept {
  std::uint32_t none = 0;
  if (!content_->ended_in.compare_exchange_strong(none, plug_in + 1)) return false;
  content_->how.store(static_cast<std::uint32_t>(how));
  return true;
}

bool PlugInNotes::note_child(std::uint32_t plug_in) noexcept {
  return std::atomic_ref(content_->plug_ins[plug_in].children).fetch_add(1) == 0;
}

bool PlugInNotes::has_forked(std::size_t plug_in) const noexcept {
  return std::atomic_ref(content_->plug_ins[plug_in].children).load(std::memory_order_relaxed) != 0;
}

void PlugInNotes::step_done() noexcept {
  content_->progress.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace ringside
