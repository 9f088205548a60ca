// SPDX-License-Identifier: BSD-3-Clause
#include "tests/crash/explorer.hpp"

#include <fmt/format.h>

namespace ringside::crash {
namespace {

/// Cuts off one traced scenario at every moment, and judges the images.
class Walk {
 public:
  Walk(const TracedScenario& traced, Model model, bool hashes_hold, const Depth& depth, std::uint64_t seed)
      : traced_(traced),
        model_(model),
        depth_(depth),
        seed_(seed),
        promise_(promise_of(model, traced.setting)),
        published_(traced.setting),
        pool_(traced.geometry.file_bytes),
        recovering_(traced.setting) {
    promise_.hashes_hold = hashes_hold;
    recovering_.threads = 1;
  }

  Exploration run(std::optional<std::uint64_t> only) {
    CrashImages images(model_, pool_);
    for (std::size_t i = 0; i < traced_.trace.size() && !result_.violation; ++i) {
      const Event& event = traced_.trace[i];
      history_.apply(event);
      images.apply(event);
      if (i < traced_.first) images.settle_all();
      pool_.keep();
      if (i < traced_.first || !images.adds_images() || (only && *only != i)) continue;
      ++result_.events;
      std::uint64_t image = 0;
      images.for_each(depth_.images, Random(seed_, i), [&] { look(i, image++); });
    }
    return result_;
  }

 private:
  void look(std::size_t event, std::uint64_t image) {
    if (result_.violation) return;
    ++result_.images;
    const Verdict verdict = check_image(pool_, history_, promise_, published_);
    if (!verdict.violation.empty()) return report(event, image, "", verdict.violation);
    Random random(mixed(seed_) + event, image);
    // Of the images from before the first begin_run, only a few contain a finished ring. An owner continues from each
    // of these few images, and the owner's work is always cut off.
    const bool is_young = history_.begun_or_beginning().empty();
    if (!verdict.is_ring || !(is_young || random.one_in(depth_.going_on_every))) return;
    const bool cut_again =
        is_young || random.one_in(std::max<std::uint64_t>(1, depth_.cut_again_every / depth_.going_on_every));
    go_on(event, image, verdict, cut_again);
  }

  void go_on(std::size_t event, std::uint64_t image, const Verdict& verdict, bool cut_again) {
    ++result_.continued;
    History cut_off = history_;
    cut_off.cut_off(verdict.intact);
    Trace recovery;
    const std::string violation =
        check_continuation(pool_, cut_off, promise_, recovering_, verdict.intact, published_, recovery);
    if (!violation.empty()) return report(event, image, "", violation);
    if (!cut_again) return;

    const std::size_t mark = pool_.mark();
    CrashImages images(model_, pool_);
    for (std::size_t i = 0; i < recovery.size() && !result_.violation; ++i) {
      cut_off.apply(recovery[i]);
      images.apply(recovery[i]);
      if (!images.adds_images()) continue;
      Random random(mixed(seed_ + image) + event, i);
      images.for_each(depth_.during_recovery, random, [&] {
        if (result_.violation) return;
        ++result_.images_in_recovery;
        const auto where = [&] {
          return fmt::format(", cut again at event {} of the recovery ({})", i, to_string(recovery[i].phase));
        };
        const Verdict again = check_image(pool_, cut_off, promise_, published_);
        if (!again.violation.empty()) return report(event, image, where(), again.violation);
        if (!random.one_in(depth_.going_on_every)) return;
        History twice = cut_off;
        twice.cut_off(again.intact);
        Trace unused;
        const std::string second =
            check_continuation(pool_, twice, promise_, recovering_, again.intact, published_, unused);
        if (!second.empty()) report(event, image, where(), second);
      });
    }
    pool_.rollback(mark);
  }

  void report(std::size_t event, std::uint64_t image, std::string where, std::string what) {
    const Phase phase = traced_.trace[event].phase;
    result_.violation = Violation{event, image, fmt::format("{}{}", to_string(phase), where), std::move(what)};
  }

  const TracedScenario& traced_;
  const Model model_;
  const Depth depth_;
  const std::uint64_t seed_;
  Promise promise_;
  Published published_;
  PoolBytes pool_;
  Setting recovering_;
  History history_;
  Exploration result_;
};

}  // namespace

Exploration explore(const TracedScenario& traced, Model model, bool hashes_hold, const Depth& depth, std::uint64_t seed,
                    std::optional<std::uint64_t> only) {
  return Walk(traced, model, hashes_hold, depth, seed).run(only);
}

Exploration explore_bit_flips(const TracedScenario& traced) {
  const RingGeometry& geometry = traced.geometry;
  PoolBytes pool(geometry.file_bytes);
  Published published(traced.setting);
  History history;
  for (const Event& event : traced.trace) {
    history.apply(event);
    if (is_store(event.kind)) pool.store(event.offset, event.value);
  }
  pool.keep();

  Promise promise;  // no iterate is promised: a flip may destroy any one
  promise.numbers_hold = true;
  Exploration result;
  const std::size_t whole = check_image(pool, history, promise, published).intact.size();
  const auto flip_each_bit = [&](std::uint64_t begin, std::uint64_t bytes, std::size_t least) {
    for (std::uint64_t bit = 8 * begin; bit < 8 * (begin + bytes) && !result.violation; ++bit) {
      const std::uint64_t word = bit / 64 * 8;
      const std::size_t mark = pool.mark();
      pool.store(word, *pool.word(word) ^ std::uint64_t{1} << bit % 64);
      const Verdict verdict = check_image(pool, history, promise, published);
      ++result.images;
      if (!verdict.violation.empty()) {
        result.violation = Violation{0, bit, "bit flips", verdict.violation};
      } else if (verdict.intact.size() < least) {
        result.violation = Violation{
            0, bit, "bit flips",
            fmt::format("3: one bit was flipped, {} of {} iterates are intact", verdict.intact.size(), whole)};
      }
      pool.rollback(mark);
    }
  };
  for (const SlotPlace& place : geometry.slots) {
    flip_each_bit(place.meta_offset, geometry.meta_bytes(), whole - 1);
    for (std::size_t v = 0; v < geometry.schema().size(); ++v) {
      const VariablePlace& variable = geometry.schema().place(v);
      flip_each_bit(place.payload_offset + variable.offset, variable.stored_bytes, whole - 1);
    }
  }
  for (const int copy : {0, 1}) {
    flip_each_bit(geometry.run_table_offset[copy], geometry.run_table_bytes(), whole);
    flip_each_bit(geometry.superblock_offset[copy], geometry.superblock_bytes(), whole);
  }
  return result;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Scenario& scenario : scenarios()) {
    // On DAX, the stores are the same with both durabilities.
    for (const Model model : {Model::kDax, Model::kProcessDeath}) {
      cases.push_back({&scenario, Storage::kDax, Durability::kPower, model});
    }
    for (const Durability durability : {Durability::kPower, Durability::kProcess}) {
      for (const Model model : {Model::kPageCache, Model::kTornPageCache, Model::kProcessDeath}) {
        cases.push_back({&scenario, Storage::kFile, durability, model});
      }
    }
  }
  return cases;
}

std::string name_of(const Case& one) {
  return fmt::format("{}/{}/{}/{}", one.scenario->name, to_string(one.storage), to_string(one.durability),
                     to_string(one.model));
}

}  // namespace ringside::crash
