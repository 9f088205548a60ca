// SPDX-License-Identifier: BSD-3-Clause
#include "tests/crash/scenarios/scenarios.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/ring/ring_creation.hpp"
#include "common/ring/ring_recovery.hpp"

namespace ringside::crash {
namespace {

/// x has 4 to 7 chunks; the last chunk is usually shorter.
Setting small_ring(Storage storage, Durability durability, Random& random) {
  Setting setting{storage, durability};
  setting.slots = static_cast<std::uint32_t>(3 + random.below(3));
  setting.rows = 100 + random.below(120);
  draw_variables(setting, random);
  setting.reduces_on_the_way = setting.rows % 2 == 1;
  return setting;
}

/// A pool as libpmemobj creates it: with the header of libpmemobj, and with places for the parts of the ring.
RingGeometry geometry_of(const Setting& setting, std::uint64_t seed) {
  RingGeometry geometry(shape_of(setting), kScenarioChunkBytes);
  geometry.pool_id = {mixed(seed), 0x706f6f6c};
  geometry.slots.resize(setting.slots);
  place_root(2 * kPageBytes, geometry);
  std::uint64_t at = 2 * kPageBytes + root_object_bytes(geometry);
  for (SlotPlace& place : geometry.slots) {
    place = place_slot(at, geometry);
    at = place.payload_offset + round_up(geometry.payload_bytes(), kPageBytes);
  }
  geometry.file_bytes = std::max<std::uint64_t>(at, kLeastPoolBytes);
  return geometry;
}

class Stage {
 public:
  Stage(const Setting& setting, std::uint64_t seed)
      : random_(seed),
        published_(setting),
        traced_{setting, geometry_of(setting, seed), {}, 0},
        leases_(setting.slots) {
    pool_.emplace(traced_.geometry.file_bytes);
    put(0, "PMEMOBJ");
    put(kPageBytes, kPoolLayoutName);
    // New slots contain old data, because the persistent memory may have been used before.
    for (const SlotPlace& place : traced_.geometry.slots) {
      for (std::uint64_t at = 0; at < traced_.geometry.meta_bytes(); at += 8) {
        set(place.meta_offset + at, random_.next());
      }
    }
    traced_.first = traced_.trace.size();
  }

  void format() {
    TracingPersistence persistence(*pool_, traced_.trace);
    persistence.enter(Phase::kFormat);
    format_ring(pool_->file(), traced_.geometry, persistence);
    persistence.acknowledge({.kind = EventKind::kFormatted});
  }

  Owner& open() {
    owner_.reset();
    leases_.end_owner();
    owner_.emplace(*pool_, traced_.trace, traced_.setting, published_, random_.next(), &leases_);
    return *owner_;
  }

  /// Readers begin to hold slots and release slots; at most `most` slots are held at a time.
  void change_leases(std::uint32_t most) {
    if (random_.one_in(3)) leases_.release(static_cast<std::uint32_t>(random_.below(slots())));
    if (random_.one_in(2) && leases_.held() < most) owner_->hold(static_cast<std::uint32_t>(random_.below(slots())));
  }

  /// Kills the owner at one of its events since `from`, and removes the events after it. All phases are equally
  /// likely: otherwise the few events of a commit would hardly ever be chosen.
  void kill(std::size_t from) {
    owner_.reset();
    leases_.release_all();  // some leases began after the event
    Trace& trace = traced_.trace;
    std::vector<Phase> phases;
    for (std::size_t i = from; i < trace.size(); ++i) {
      if (std::find(phases.begin(), phases.end(), trace[i].phase) == phases.end()) phases.push_back(trace[i].phase);
    }
    const Phase phase = phases[random_.below(phases.size())];
    std::vector<std::size_t> events;
    for (std::size_t i = from; i < trace.size(); ++i) {
      if (trace[i].phase == phase) events.push_back(i);
    }
    trace.resize(events[random_.below(events.size())] + 1);
    pool_.emplace(traced_.geometry.file_bytes);
    for (const Event& event : trace) {
      if (is_store(event.kind)) pool_->store(event.offset, event.value);
    }
    trace.push_back({.kind = EventKind::kKilled});
  }

  /// Flips one bit of a superblock, like old damage of the medium.
  void damage_superblock() {
    const std::uint64_t word = random_.below(traced_.geometry.superblock_bytes() / 8);
    const std::uint64_t offset = traced_.geometry.superblock_offset[random_.below(2)] + 8 * word;
    set(offset, *pool_->word(offset) ^ std::uint64_t{1} << random_.below(64));
  }

  /// Everything before this call is persistent when the scenario begins.
  void begin_scenario() { traced_.first = traced_.trace.size(); }

  std::size_t now() const noexcept { return traced_.trace.size(); }
  std::uint64_t below(std::uint64_t count) { return random_.below(count); }
  std::uint64_t slots() const noexcept { return traced_.setting.slots; }

  TracedScenario end() {
    owner_.reset();
    return std::move(traced_);
  }

 private:
  void set(std::uint64_t offset, std::uint64_t value) {
    traced_.trace.push_back({.kind = EventKind::kStore, .offset = offset, .value = value});
    pool_->store(offset, value);
  }
  void put(std::uint64_t offset, std::string_view text) {
    for (std::size_t at = 0; at < text.size(); at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, text.data() + at, std::min<std::size_t>(8, text.size() - at));
      set(offset + at, word);
    }
  }

  Random random_;
  Published published_;
  TracedScenario traced_;
  DrawnLeases leases_;
  std::optional<PoolBytes> pool_;
  std::optional<Owner> owner_;
};

/// Traces a scenario on a small ring: `play` makes the operations on a stage with this ring.
template <void (*play)(Stage&)>
TracedScenario trace(Storage storage, Durability durability, std::uint64_t seed) {
  Random random(seed);
  Stage stage(small_ring(storage, durability, random), random.next());
  play(stage);
  return stage.end();
}

void play_laps(Stage& stage, std::uint64_t commits) {
  stage.format();
  stage.begin_scenario();
  Owner& owner = stage.open();
  owner.begin_run(1);
  for (std::uint64_t k = 1; k <= commits; ++k) owner.commit_next();
  if (stage.below(2) == 0) owner.finish();
}

TracedScenario trace_many_threads(Storage storage, Durability durability, std::uint64_t seed) {
  Random random(seed);
  Setting setting = small_ring(storage, durability, random);
  setting.slots = 3;
  setting.rows = 300 + random.below(100);  // 10 to 13 chunks
  setting.reduces_on_the_way = setting.rows % 2 == 1;
  setting.threads = static_cast<int>(2 + random.below(3));
  setting.scattered = setting.rows % 4 >= 2;
  Stage stage(setting, random.next());
  play_laps(stage, setting.slots + 2);
  return stage.end();
}

void play_second_run(Stage& stage) {
  play_laps(stage, stage.slots() + stage.below(stage.slots()));
  // Run 2 commits nothing, so that run 4 takes run 2's place in the table of runs.
  for (std::uint32_t run = 2; run <= 4; ++run) {
    Owner& owner = stage.open();
    owner.clear();
    owner.begin_run(run);
    for (std::uint64_t k = run == 2 ? 0 : 1 + stage.below(stage.slots() + 1); k > 0; --k) owner.commit_next();
    if (stage.below(2) == 0) owner.finish();
  }
}

void play_killed_owner(Stage& stage) {
  play_laps(stage, 1 + stage.below(stage.slots() + 2));
  for (int deaths = 0; deaths < 3; ++deaths) {
    const std::size_t from = stage.now();
    Owner& owner = stage.open();
    owner.begin_run(1);
    owner.commit_next();
    owner.commit_next();
    stage.kill(from);
  }
  Owner& owner = stage.open();
  owner.begin_run(1);
  for (std::uint64_t k = 0; k <= stage.slots(); ++k) owner.commit_next();
}

/// An iteration of the run that the ring holds; not the newest one, unless the ring holds only that one.
std::uint64_t older_iteration(Stage& stage, const Owner& owner) {
  const std::vector<KeptSlot> kept = recover(owner.ring()).kept;
  return kept[stage.below(std::max<std::size_t>(kept.size(), 2) - 1)].header.iteration;
}

void play_going_back(Stage& stage) {
  play_laps(stage, 2 + stage.below(2 * stage.slots()));
  for (int life = 0; life < 3; ++life) {
    const std::size_t from = stage.now();
    Owner& owner = stage.open();
    owner.begin_run(1, older_iteration(stage, owner));
    for (std::uint64_t k = 2 + stage.below(stage.slots()); k > 0; --k) owner.commit_next();
    if (life == 1) stage.kill(from);
  }
  Owner& owner = stage.open();
  owner.begin_run(1);
  owner.commit_next();
  owner.finish();
}

TracedScenario trace_held_slots(Storage storage, Durability durability, std::uint64_t seed) {
  Random random(seed);
  Setting setting = small_ring(storage, durability, random);
  setting.slots = static_cast<std::uint32_t>(4 + random.below(4));
  Stage stage(setting, random.next());
  const std::uint32_t most =
      random.one_in(4) ? setting.slots : setting.slots - 3;  // with more than K - 3 held slots, leases are broken
  play_laps(stage, setting.slots);
  for (int life = 0; life < 2; ++life) {
    const std::size_t from = stage.now();
    Owner& owner = stage.open();
    owner.begin_run(1);
    for (std::uint64_t k = 0; k < 2 * stage.slots(); ++k) {
      stage.change_leases(most);
      owner.commit_next();
    }
    if (life == 0) stage.kill(from);
  }
  return stage.end();
}

void play_damaged_superblock(Stage& stage) {
  play_laps(stage, stage.slots() + 1);
  stage.damage_superblock();
  stage.begin_scenario();
  Owner& owner = stage.open();
  owner.begin_run(1);
  owner.commit_next();
  owner.finish();
}

constexpr Scenario kScenarios[] = {
    {"format", "a pool is created", trace<[](Stage& stage) { stage.format(); }>},
    {"two-laps", "a run commits more than twice as many iterates as there are slots",
     trace<[](Stage& stage) { play_laps(stage, 2 * stage.slots() + 2); }>},
    {"many-threads", "2 to 4 threads copy, each its chunks", trace_many_threads},
    {"second-run", "the ring is cleared and another run begins, three times", trace<play_second_run>},
    {"killed-owner", "owners are killed at any instant, the next one continues the run", trace<play_killed_owner>},
    {"going-back", "a run continues from an older iterate, three times; its owner is killed once",
     trace<play_going_back>},
    {"held-slots", "readers hold slots while a run commits; its owner is killed once", trace_held_slots},
    {"damaged-superblock", "an owner finds one superblock damaged and mends it", trace<play_damaged_superblock>},
};

}  // namespace

std::span<const Scenario> scenarios() {
  return kScenarios;
}

}  // namespace ringside::crash
