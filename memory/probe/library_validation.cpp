// SPDX-License-Identifier: BSD-3-Clause
#include "memory/probe/library_validation.hpp"

namespace ringside::probe {

const Answer* LibraryCase::answer(const char* question) const {
  for (const Answer& answer : report.answers) {
    if (answer.question == question) return &answer;
  }
  return nullptr;
}

bool LibraryCase::size_is_right() const {
  const Answer* const size = answer("size");
  return size != nullptr && size->determined() && size->value * 100 >= choice.dram_bytes * 88 &&
         size->value * 100 <= choice.dram_bytes * 112;
}

bool LibraryCase::line_is_right() const {
  const Answer* const line = answer("line");
  return line != nullptr && line->determined() &&
         line->value == (choice.granule_bytes == 0 ? 4096 : choice.granule_bytes);
}

bool LibraryCase::read_ahead_is_right() const {
  const Answer* const prefetch = answer("prefetch");
  return prefetch != nullptr && prefetch->answer == (choice.read_ahead ? "sequential" : "none");
}

/// The library is write-back and allocates on writes. It may keep any granule at any place, and its replacement policy
/// is not among those that the probes compare.
bool LibraryCase::no_answer_is_wrong() const {
  for (const Answer& answer : report.answers) {
    if (!answer.determined()) continue;
    if (answer.question == "size" && !size_is_right()) return false;
    if (answer.question == "line" && !line_is_right()) return false;
    if (answer.question == "prefetch" && !read_ahead_is_right()) return false;
    if (answer.question == "write" && answer.answer != "write-back, write-allocate") return false;
    if (answer.question == "ways" || answer.question == "replacement") return false;
  }
  return true;
}

LibraryCase probe_library(const LibraryChoice& choice, const ProbeChoice& questions) {
  LibraryMemory memory(choice);
  return {choice, probe_memory(memory, questions)};
}

std::vector<LibraryChoice> library_choices(const std::string& far_folder) {
  constexpr std::uint64_t kMegabyte = std::uint64_t{1} << 20;
  std::vector<LibraryChoice> choices;
  for (const std::uint32_t granule : {4096U, 16384U, 65536U}) {
    for (const std::uint64_t dram : {3 * kMegabyte, 8 * kMegabyte}) {
      for (const bool read_ahead : {false, true}) choices.push_back({far_folder, dram, granule, read_ahead});
    }
  }
  return choices;
}

}  // namespace ringside::probe
