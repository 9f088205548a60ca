// SPDX-License-Identifier: BSD-3-Clause
#include "tests/crash/mutants.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace ringside::crash {
namespace {

/// Erases the events of `phase` for which `is_left_out` is true.
template <class Predicate>
void leave_out(Trace& trace, Phase phase, Predicate is_left_out) {
  std::erase_if(trace, [&](const Event& event) { return event.phase == phase && is_left_out(event); });
}

bool is_drain(const Event& event) {
  return event.kind == EventKind::kDrain;
}
bool is_flush(const Event& event) {
  return event.kind == EventKind::kFlush;
}
bool is_sync(const Event& event) {
  return event.kind == EventKind::kSyncBegin || event.kind == EventKind::kSyncEnd;
}
bool is_memory(const Event& event) {
  return !is_acknowledgement(event.kind) && !is_sync(event);
}

/// Calls `change` with each maximal part of the trace whose events are all of `phase`. If events of another phase
/// follow each call of the phase's function, a part is one call.
template <class Change>
void in_each(Trace& trace, Phase phase, Change change) {
  for (auto begin = trace.begin(); begin != trace.end();) {
    begin = std::find_if(begin, trace.end(), [&](const Event& event) { return event.phase == phase; });
    const auto end = std::find_if(begin, trace.end(), [&](const Event& event) { return event.phase != phase; });
    if (begin != end) change(begin, end);
    begin = end;
  }
}

bool is_header_word(const RingGeometry& geometry, std::uint64_t offset, std::size_t field) {
  return std::any_of(geometry.slots.begin(), geometry.slots.end(),
                     [&](const SlotPlace& place) { return offset == place.meta_offset + field; });
}

bool is_in_meta(const RingGeometry& geometry, std::uint64_t offset, std::uint64_t begin, std::uint64_t end) {
  return std::any_of(geometry.slots.begin(), geometry.slots.end(), [&](const SlotPlace& place) {
    return offset >= place.meta_offset + begin && offset < place.meta_offset + end;
  });
}

/// The offsets, from the beginning of a meta area, of the last variable's first chunk hash and of the end of the table.
std::pair<std::uint64_t, std::uint64_t> last_variable_table(const RingGeometry& geometry) {
  const std::uint64_t first = geometry.chunks.first_of(geometry.schema().size() - 1);
  const std::uint64_t table = geometry.chunk_hashes_offset();
  return {table + first * sizeof(std::uint64_t), table + geometry.chunk_count() * sizeof(std::uint64_t)};
}

/// True for a word of a slot's last variable, if the slot has several variables.
bool is_in_last_variable(const RingGeometry& geometry, const Event& event) {
  const Schema& schema = geometry.schema();
  if (schema.size() == 1 || event.kind != EventKind::kCopyWord) return false;
  const VariablePlace& last = schema.place(schema.size() - 1);
  return std::any_of(geometry.slots.begin(), geometry.slots.end(), [&](const SlotPlace& place) {
    const std::uint64_t begin = place.payload_offset + last.offset;
    return event.offset >= begin && event.offset < begin + last.stored_bytes;
  });
}

/// In every commit, moves the store of commit_seq before the store of the header's field `before_field`.
template <std::size_t before_field>
void commit_seq_early(Trace& trace, const RingGeometry& geometry) {
  in_each(trace, Phase::kCommit, [&](auto begin, auto end) {
    const auto store_of = [&](std::size_t field) {
      return std::find_if(begin, end, [&](const Event& event) {
        return event.kind == EventKind::kStore && is_header_word(geometry, event.offset, field);
      });
    };
    const auto seq = store_of(offsetof(SlotHeader, commit_seq));
    if (seq != end) std::rotate(store_of(before_field), seq, seq + 1);
  });
}

/// Leaves out the events of a phase that `is_left_out` selects.
template <Phase phase, bool (*is_left_out)(const Event&)>
void left_out(Trace& trace, const RingGeometry&) {
  leave_out(trace, phase, is_left_out);
}

void header_before_payload(Trace& trace, const RingGeometry&) {
  // Puts the commit's stores and fence before the copy.
  for (auto copy = trace.begin(); copy != trace.end();) {
    copy = std::find_if(copy, trace.end(), [](const Event& event) { return event.phase == Phase::kCopy; });
    const auto commit = std::find_if(copy, trace.end(), [](const Event& event) { return event.phase != Phase::kCopy; });
    const auto end = std::find_if(
        commit, trace.end(), [](const Event& event) { return event.phase != Phase::kCommit || !is_memory(event); });
    std::rotate(copy, commit, end);
    copy = end;
  }
}

void one_thread_drains(Trace& trace, const RingGeometry&) {
  leave_out(trace, Phase::kCopy, [](const Event& event) { return is_drain(event) && event.thread != 0; });
}
void chunk_hashes_not_flushed(Trace& trace, const RingGeometry& geometry) {
  leave_out(trace, Phase::kCopy, [&](const Event& event) {
    return is_flush(event) && is_in_meta(geometry, event.offset, geometry.chunk_hashes_offset(), geometry.meta_bytes());
  });
}
void step_not_flushed(Trace& trace, const RingGeometry& geometry) {
  leave_out(trace, Phase::kCopy, [&](const Event& event) {
    return is_flush(event) && is_in_meta(geometry, event.offset, kStepOffset, geometry.results_offset());
  });
}

void chunk_hashes_of_the_last_variable_not_flushed(Trace& trace, const RingGeometry& geometry) {
  if (geometry.schema().size() == 1) return;
  const auto [begin, end] = last_variable_table(geometry);
  for (Event& event : trace) {
    if (event.phase != Phase::kCopy || !is_flush(event)) continue;
    for (const SlotPlace& place : geometry.slots) {
      const std::uint64_t table = place.meta_offset + begin;
      if (event.offset >= place.meta_offset + end || event.offset + event.value <= table) continue;
      event.value = event.offset < table ? table - event.offset : 0;
    }
  }
  std::erase_if(trace, [](const Event& event) { return is_flush(event) && event.value == 0; });
}
void last_variable_not_drained(Trace& trace, const RingGeometry& geometry) {
  // Moves the drain before the copy of the last variable.
  in_each(trace, Phase::kCopy, [&](auto begin, auto end) {
    const auto copy =
        std::find_if(begin, end, [&](const Event& event) { return is_in_last_variable(geometry, event); });
    const auto drain = std::find_if(copy, end, is_drain);
    if (drain != end) std::rotate(copy, drain, drain + 1);
  });
}
void last_variable_copied_before_invalidation(Trace& trace, const RingGeometry& geometry) {
  // Moves the copy of the last variable before the stores of `begin`.
  for (auto begin = trace.begin(); begin != trace.end();) {
    begin = std::find_if(begin, trace.end(),
                         [](const Event& event) { return event.phase == Phase::kBegin && is_memory(event); });
    auto to = begin;
    const auto end = std::find_if(begin, trace.end(), [](const Event& event) { return event.phase == Phase::kCommit; });
    for (auto event = begin; event != end; ++event) {
      if (is_in_last_variable(geometry, *event)) std::rotate(to++, event, event + 1);
    }
    begin = end;
  }
}
void further_scalars_not_flushed(Trace& trace, const RingGeometry& geometry) {
  for (Event& event : trace) {
    if (event.phase == Phase::kCopy && is_flush(event) &&
        is_in_meta(geometry, event.offset, kStepOffset, geometry.results_offset())) {
      event.value = sizeof(StepDescriptor);
    }
  }
}

void results_named_first(Trace& trace, const RingGeometry&) {
  // Moves the name and the hash, which follow the first fence, before the results. The old name is still removed first.
  in_each(trace, Phase::kReductions, [](auto begin, auto end) {
    const auto fence = std::find_if(begin, end, is_drain);
    const auto second = fence == end ? end : std::find_if(fence + 1, end, is_drain);
    if (second != end) std::rotate(begin + 1, fence + 1, second + 1);
  });
}
void results_keep_their_old_name(Trace& trace, const RingGeometry& geometry) {
  const std::uint64_t name = geometry.results_offset() + offsetof(ResultsHead, header_hash);
  leave_out(trace, Phase::kReductions, [&](const Event& event) {
    return event.kind == EventKind::kStore && event.value == 0 && is_header_word(geometry, event.offset, name);
  });
}
void results_first_fence_left_out(Trace& trace, const RingGeometry&) {
  Trace::iterator fences[64];
  std::size_t count = 0;
  in_each(trace, Phase::kReductions, [&](auto begin, auto end) {
    const auto fence = std::find_if(begin, end, is_drain);
    if (fence != end && count < std::size(fences)) fences[count++] = fence;
  });
  while (count > 0) trace.erase(fences[--count]);
}

void found_not_persisted(Trace& trace, const RingGeometry&) {
  // Leaves out begin_run's flushes and drains before its first store.
  bool before_first_store = false;
  std::erase_if(trace, [&](const Event& event) {
    if (event.kind == EventKind::kRunBegins) before_first_store = true;
    if (event.kind == EventKind::kStore || event.kind == EventKind::kRunBegun) before_first_store = false;
    return before_first_store && (is_flush(event) || is_drain(event));
  });
}
bool is_record_seq(const Event& event, const RingGeometry& geometry) {
  const std::uint64_t table = geometry.run_table_offset[event.offset >= geometry.run_table_offset[1] ? 1 : 0];
  return event.kind == EventKind::kStore && event.phase == Phase::kBeginRun && event.offset >= table &&
         (event.offset - table) % geometry.run_entry_bytes() ==
             geometry.run_tail_offset() + offsetof(RunEntryTail, record_seq);
}
void catalogue_after_record_seq(Trace& trace, const RingGeometry& geometry) {
  // Moves the stores of the descriptions behind the store of the number that makes their entry valid.
  const auto is_in_catalogue = [&](const Event& event) {
    const std::uint64_t table = geometry.run_table_offset[event.offset >= geometry.run_table_offset[1] ? 1 : 0];
    if (event.kind != EventKind::kStore || event.phase != Phase::kBeginRun || event.offset < table) return false;
    const std::uint64_t in_entry = (event.offset - table) % geometry.run_entry_bytes();
    return in_entry >= sizeof(RunEntryHead) && in_entry < geometry.run_tail_offset();
  };
  for (auto begin = trace.begin(); begin != trace.end();) {
    begin = std::find_if(begin, trace.end(), is_in_catalogue);
    const auto end = std::find_if_not(begin, trace.end(), is_in_catalogue);
    const auto seq = std::find_if(end, trace.end(), [&](const Event& event) { return is_record_seq(event, geometry); });
    if (seq == trace.end()) return;
    std::rotate(begin, end, seq + 1);
    begin = seq + 1;
  }
}
void run_entry_not_invalidated(Trace& trace, const RingGeometry& geometry) {
  std::erase_if(trace, [&](const Event& event) { return is_record_seq(event, geometry) && event.value == 0; });
}
void run_entry_not_flushed(Trace& trace, const RingGeometry&) {
  // Leaves out all of begin_run's flushes after its first store.
  bool after_first_store = false;
  std::erase_if(trace, [&](const Event& event) {
    if (event.kind == EventKind::kRunBegins) after_first_store = false;
    if (event.kind == EventKind::kStore) after_first_store = event.phase == Phase::kBeginRun;
    return after_first_store && is_flush(event) && event.phase == Phase::kBeginRun;
  });
}

void formatted_word_first(Trace& trace, const RingGeometry& geometry) {
  in_each(trace, Phase::kFormat, [&](auto begin, auto end) {
    const auto at = [&](std::uint64_t offset) {
      return std::find_if(begin, end, [&](const Event& event) { return event.offset == offset; });
    };
    const auto superblock = at(geometry.superblock_offset[0]);
    const auto word = at(geometry.superblock_offset[0] + geometry.formatted_word_offset());
    std::rotate(superblock, word, std::find_if(word, end, is_sync));
  });
}
void format_sync_left_out(Trace& trace, const RingGeometry&) {
  in_each(trace, Phase::kFormat, [&](auto begin, auto end) {
    // Moves the begin and the end of the first sync behind the second sync. The first sync then has no effect.
    const auto sync = std::find_if(begin, end, is_sync);
    std::rotate(sync, sync + 2, end);
  });
}

void syncs_left_out(Trace& trace, const RingGeometry&) {
  std::erase_if(trace, is_sync);
}
void too_much_reported(Trace& trace, const RingGeometry&) {
  // The report after a sync also includes the commits that were made during that sync.
  std::uint64_t committed = 0;
  for (Event& event : trace) {
    if (event.kind == EventKind::kCommitted) committed = event.value;
    if (event.kind == EventKind::kPersisted) event.value = std::max(event.value, committed);
  }
}
void begin_does_not_wait(Trace& trace, const RingGeometry&) {
  // Lets the syncs for which `begin` waited end only after the slot was overwritten.
  for (std::size_t i = 0; i < trace.size(); ++i) {
    if (trace[i].phase != Phase::kBegin || trace[i].kind != EventKind::kTaking) continue;
    auto waited = trace.begin() + static_cast<std::ptrdiff_t>(i);
    while (waited != trace.begin() && std::prev(waited)->phase == Phase::kBegin &&
           (is_sync(*std::prev(waited)) || std::prev(waited)->kind == EventKind::kPersisted)) {
      --waited;
    }
    const auto taking = trace.begin() + static_cast<std::ptrdiff_t>(i);
    const auto commit =
        std::find_if(taking, trace.end(), [](const Event& event) { return event.phase == Phase::kCommit; });
    std::rotate(waited, taking, commit);
  }
}

void cleared_by_slot(Trace& trace, const RingGeometry&) {
  in_each(trace, Phase::kClear, [](auto begin, auto end) {
    // For each slot, there are two stores, a flush and a drain.
    Trace stores;
    const auto first = std::find_if(begin, end, [](const Event& event) { return event.kind == EventKind::kStore; });
    const auto last = std::find_if(first, end, [](const Event& event) { return !is_memory(event); });
    std::vector<Trace> slots;
    for (auto at = first; last - at >= 4; at += 4) slots.emplace_back(at, at + 4);
    std::sort(slots.begin(), slots.end(), [](const Trace& a, const Trace& b) { return a[0].offset < b[0].offset; });
    auto to = first;
    for (const Trace& slot : slots) to = std::copy(slot.begin(), slot.end(), to);
  });
}
void cleared_numbers_only(Trace& trace, const RingGeometry& geometry) {
  leave_out(trace, Phase::kClear, [&](const Event& event) {
    return event.kind == EventKind::kStore && is_header_word(geometry, event.offset, offsetof(SlotHeader, header_hash));
  });
}

/// Calls `change` with the part of each begin_run that discards iterates: two stores, a flush and a drain for each
/// iterate.
template <class Change>
void in_each_discard(Trace& trace, Change change) {
  for (auto begin = trace.begin();;) {
    begin = std::find_if(begin, trace.end(), [](const Event& event) { return event.kind == EventKind::kGoingBack; });
    if (begin == trace.end()) return;
    begin = std::find_if(begin, trace.end(), [](const Event& event) { return event.kind == EventKind::kStore; });
    auto end = begin;
    while (trace.end() - end >= 4 && end[0].kind == EventKind::kStore && end[0].value == 0 &&
           end[1].kind == EventKind::kStore && is_flush(end[2]) && is_drain(end[3])) {
      end += 4;
    }
    begin = change(begin, end);
  }
}

void discarded_oldest_first(Trace& trace, const RingGeometry&) {
  in_each_discard(trace, [](auto begin, auto end) {
    const Trace newest_first(begin, end);
    auto to = begin;
    for (auto slot = newest_first.end(); slot != newest_first.begin();) {
      slot -= 4;
      to = std::copy(slot, slot + 4, to);
    }
    return end;
  });
}
void discard_not_fenced(Trace& trace, const RingGeometry&) {
  in_each_discard(trace, [&](auto begin, auto end) { return trace.erase(std::remove_if(begin, end, is_drain), end); });
}

using enum Checksums;
constexpr Mutant kMutants[] = {
    {"fence 1 left out", "two-laps", Model::kDax, kOnAndOff, left_out<Phase::kBegin, is_drain>},
    {"fence 2 left out", "two-laps", Model::kDax, kOnAndOff, left_out<Phase::kCopy, is_drain>},
    {"fence 3 left out", "two-laps", Model::kDax, kOnAndOff, left_out<Phase::kCommit, is_drain>},
    {"the header is not flushed", "two-laps", Model::kDax, kOnAndOff, left_out<Phase::kCommit, is_flush>},
    {"the victim is not invalidated", "two-laps", Model::kDax, kOnAndOff, left_out<Phase::kBegin, is_memory>},
    {"header before payload", "two-laps", Model::kDax, kOnAndOff, header_before_payload},
    {"commit_seq before header_hash", "two-laps", Model::kDax, kOn,
     commit_seq_early<offsetof(SlotHeader, header_hash)>},
    {"commit_seq before the rest of the header", "two-laps", Model::kDax, kOnAndOff,
     commit_seq_early<offsetof(SlotHeader, iteration)>},
    {"only one thread drains", "many-threads", Model::kDax, kOnAndOff, one_thread_drains},
    {"chunk hashes are not flushed", "two-laps", Model::kDax, kOn, chunk_hashes_not_flushed},
    {"the step descriptor is not flushed", "two-laps", Model::kDax, kOnAndOff, step_not_flushed},
    {"chunk hashes of the last variable are not flushed", "many-threads", Model::kDax, kOn,
     chunk_hashes_of_the_last_variable_not_flushed},
    {"the last variable is not drained", "two-laps", Model::kDax, kOnAndOff, last_variable_not_drained},
    {"the last variable is copied before the invalidation", "two-laps", Model::kDax, kOnAndOff,
     last_variable_copied_before_invalidation},
    {"further scalars are not flushed", "two-laps", Model::kDax, kOnAndOff, further_scalars_not_flushed},
    {"results are named before they are there", "two-laps", Model::kDax, kOn, results_named_first},
    {"results keep their old name while they change", "two-laps", Model::kDax, kOn, results_keep_their_old_name},
    {"no fence between results and their name", "two-laps", Model::kDax, kOn, results_first_fence_left_out},
    {"a new owner does not persist what it finds", "killed-owner", Model::kDax, kOnAndOff, found_not_persisted},
    {"a run table entry is not invalidated", "second-run", Model::kDax, kOff, run_entry_not_invalidated},
    {"the catalogue is stored after record_seq", "second-run", Model::kDax, kOff, catalogue_after_record_seq},
    {"a run table entry is not flushed", "second-run", Model::kDax, kOnAndOff, run_entry_not_flushed},
    {"the ring is cleared slot by slot, not by age", "second-run", Model::kDax, kOnAndOff, cleared_by_slot},
    {"clearing is not fenced", "second-run", Model::kDax, kOnAndOff, left_out<Phase::kClear, is_drain>},
    {"clearing leaves the header's hash", "second-run", Model::kTornPageCache, kOn, cleared_numbers_only},
    {"a run that goes back discards the oldest iterate first", "going-back", Model::kDax, kOnAndOff,
     discarded_oldest_first},
    {"discarding is not fenced", "going-back", Model::kDax, kOnAndOff, discard_not_fenced},
    {"formatted word before the superblocks", "format", Model::kDax, kOn, formatted_word_first},
    {"no sync before the formatted word", "format", Model::kPageCache, kOn, format_sync_left_out},
    {"syncs left out, their end reported", "two-laps", Model::kPageCache, kOn, syncs_left_out},
    {"commits made during a sync reported with it", "two-laps", Model::kPageCache, kOn, too_much_reported},
    {"begin does not wait for the disk", "two-laps", Model::kPageCache, kOn, begin_does_not_wait},
    {"header_hash does not cover commit_seq", "two-laps", Model::kDax, kOn, nullptr, Hashing::kHeaderWithoutSeq, true},
    {"header_hash does not cover payload_hash", "two-laps", Model::kTornPageCache, kOn, nullptr,
     Hashing::kHeaderWithoutPayloadHash},
    {"payload_hash does not cover the step", "two-laps", Model::kPageCache, kOn, nullptr, Hashing::kPayloadWithoutStep},
    {"payload_hash does not cover the further scalars", "two-laps", Model::kPageCache, kOn, nullptr,
     Hashing::kPayloadWithoutFurtherScalars},
    {"the hash of the results does not cover catalogue_hash", "two-laps", Model::kDax, kOn, nullptr,
     Hashing::kResultsWithoutCatalogue, true},
    {"payload_hash does not cover the chunk hashes", "two-laps", Model::kPageCache, kOn, nullptr,
     Hashing::kPayloadWithoutChunks},
    {"no hashes on a page cache", "two-laps", Model::kPageCache, kOff, nullptr},
    {"the victim is chosen without regard to leases", "held-slots", Model::kDax, kOnAndOff, nullptr, Hashing::kWhole,
     false, true},
};

}  // namespace

std::span<const Mutant> mutants() {
  return kMutants;
}

TracedScenario bent(const Mutant& mutant, TracedScenario traced) {
  if (mutant.bend == nullptr) return traced;
  const auto begin = traced.trace.begin() + static_cast<std::ptrdiff_t>(traced.first);
  Trace bent(begin, traced.trace.end());
  mutant.bend(bent, traced.geometry);
  traced.trace.erase(begin, traced.trace.end());
  traced.trace.insert(traced.trace.end(), bent.begin(), bent.end());
  return traced;
}

Kill try_to_kill(const Mutant& mutant, bool checksums, std::uint64_t seed, int rounds) {
  const UseHashing use(checksums ? mutant.hashing : Hashing::kOff);
  const UseLeaseFault leases(mutant.ignores_leases);
  const auto scenario = std::ranges::find(scenarios(), mutant.scenario, &Scenario::name);
  const Storage storage = mutant.model == Model::kDax ? Storage::kDax : Storage::kFile;
  Depth depth = kQuick;
  depth.cut_again_every = ~std::uint64_t{0};  // a first cut is sufficient to detect each mutant
  Kill kill;
  for (int round = 0; round < rounds && kill.violation.empty(); ++round) {
    kill.seed = seed + static_cast<std::uint64_t>(round);
    const TracedScenario traced = bent(mutant, scenario->trace(storage, Durability::kPower, kill.seed));
    const Exploration seen =
        mutant.flips_bits ? explore_bit_flips(traced) : explore(traced, mutant.model, checksums, depth, kill.seed);
    kill.images += seen.images;
    if (seen.violation) kill.violation = seen.violation->what;
  }
  return kill;
}

}  // namespace ringside::crash
