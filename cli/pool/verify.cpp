// SPDX-License-Identifier: BSD-3-Clause
// `ringside verify POOL`: checks each slot's bytes against its hashes.
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cli/pool/pool_report.hpp"
#include "cli/subcommands.hpp"
#include "cli/terminal/format.hpp"
#include "common/json/json.hpp"
#include "common/options/command_line.hpp"
#include "common/platform/error.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "common/ring/ring_check.hpp"
#include "common/node_rings/ring_set.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

const char* verdict_of(const SlotCheck& check) {
  if (check.payload.overwritten) return "overwritten";
  return check.damaged() ? "damaged" : "intact";
}

std::string explanation(const SlotCheck& check, const RingGeometry& shape) {
  if (check.payload.overwritten) return "overwritten while it was read: an analyzer is at work";
  if (!check.damaged()) return "intact";
  std::string text = check.payload.intact() ? "" : describe(check.payload, shape);
  if (check.results_damaged()) text += std::string(text.empty() ? "" : "; ") + "its stored reductions are damaged";
  return "DAMAGED: " + text;
}

Json to_json(const SlotCheck& check, const RingGeometry& shape) {
  Json slot = {{"slot", check.kept.slot},
               {"iteration", check.kept.header.iteration},
               {"commit_seq", check.kept.header.commit_seq},
               {"verdict", verdict_of(check)}};
  add_to(slot, check.payload, shape);
  slot["reductions_intact"] = !check.results_damaged();
  return slot;
}

/// The slots without a commit: slots that were never committed, are being overwritten now, or were being overwritten
/// when the writer died.
std::vector<std::uint32_t> empty_slots(const RingView& ring, const Recovery& recovery) {
  std::vector<char> taken(ring.geometry().slot_count(), 0);
  for (const KeptSlot& kept : recovery.kept) taken[kept.slot] = 1;
  for (const std::uint32_t slot : recovery.damaged) taken[slot] = 1;
  std::vector<std::uint32_t> empty;
  for (std::uint32_t slot = 0; slot < taken.size(); ++slot) {
    if (taken[slot] == 0) empty.push_back(slot);
  }
  return empty;
}

/// The findings for one pool. Text output is not collected here: each line is printed at once, after `prefix`.
struct Verified {
  bool intact = true;
  Json found;
};

Verified verify_pool(const RingReader& reader, const std::string& pool, const std::string& prefix, bool json) {
  const RingView& ring = reader.ring();
  const Recovery recovery = reader.recover();
  std::size_t damaged = recovery.damaged.size();
  std::size_t overwritten = 0;
  Json slots = Json::array();
  for (const KeptSlot& kept : recovery.kept) {
    const SlotCheck check = check_slot(ring, kept);
    if (check.damaged()) ++damaged;
    if (check.payload.overwritten) ++overwritten;
    slots.push_back(to_json(check, ring.geometry()));
    if (!json) {
      fmt::print("{}slot {:>4}  iteration {:>12}  {}\n", prefix, kept.slot, with_separators(kept.header.iteration),
                 explanation(check, ring.geometry()));
    }
  }
  for (const std::uint32_t slot : recovery.damaged) {
    slots.push_back({{"slot", slot}, {"verdict", "damaged header"}});
    if (!json) fmt::print("{}{}\n", prefix, describe_damaged_header(slot));
  }
  for (const std::uint32_t slot : empty_slots(ring, recovery)) {
    slots.push_back({{"slot", slot}, {"verdict", "empty"}});
    if (!json) fmt::print("{}slot {:>4}  empty\n", prefix, slot);
  }
  const TwinsCheck twins = check_twins(ring);
  const bool pmdk_intact = ring.pmdk_metadata_intact();
  const bool intact = damaged == 0 && twins.intact() && pmdk_intact;
  if (json) {
    Json object = {{"pool", pool}, {"intact", intact}};
    add_to(object, twins);
    object["pmdk_metadata_intact"] = pmdk_intact;
    object["damaged_slots"] = damaged;
    object["slots"] = std::move(slots);
    return {intact, std::move(object)};
  }
  for (const std::string& text : describe(twins)) fmt::print("{}{}\n", prefix, text);
  if (!pmdk_intact) {
    fmt::print(
        "{}libpmemobj's own data in the file is DAMAGED: the iterates can be read, but an analyzer refuses the pool; "
        "export what you need, then run with --overwrite\n",
        prefix);
  }
  const std::string unseen =
      overwritten == 0 ? "" : fmt::format(", {} overwritten before they could be checked", overwritten);
  fmt::print("{}{}: {} iterates, {} damaged slot{}{}\n", prefix, printable(pool), recovery.kept.size(), damaged,
             damaged == 1 ? "" : "s", unseen);
  return {intact, {}};
}

void print(const Json& object) {
  fmt::print("{}\n", object.dump(2));
}

/// Checks all readable rings, even if others cannot be read.
ExitCode verify_rings(const std::string& path, bool json) {
  const RingSet set = RingSet::open(path);
  Json nodes = Json::array();
  ExitCode code = ExitCode::kDone;
  for (std::size_t n = 0; n < set.nodes().size(); ++n) {
    const NodeRing& ring = set.nodes()[n];
    Json node = {{"node", n}};
    try {
      if (ring.why) throw *ring.why;
      const Verified verified = verify_pool(*ring.reader, ring.path, ring.name + "  ", json);
      code = code_with(code, verified.intact ? ExitCode::kDone : ExitCode::kDamaged);
      if (json) node.update(verified.found);
    } catch (const Error& why) {
      if (!json) fmt::print("{}: {}\n", ring.name, printable(why.what()));
      node.update({{"pool", ring.path}, {"error", why.what()}});
      code = code_with(code, why.code());
    }
    nodes.push_back(std::move(node));
  }
  if (json) print({{"rings", path}, {"intact", code == ExitCode::kDone}, {"nodes", std::move(nodes)}});
  return code;
}

}  // namespace

int verify_command(int argc, const char* const* argv) {
  std::string pool;
  bool json = false;
  CommandLine line(
      "Checks every hash in a pool, and names damaged slots and chunks. Works while an analyzer uses the pool.",
      "ringside verify");
  line.option("POOL", pool, kPoolOrRings).required().value_name("FILE");
  line.flag("--json", json, "print one JSON object");
  if (const auto code = parse_or_exit_code(line, argc, argv)) return *code;

  if (names_rings(pool)) return static_cast<int>(verify_rings(pool, json));
  const Verified verified = verify_pool(RingReader::open(pool), pool, "", json);
  if (json) print(verified.found);
  return static_cast<int>(verified.intact ? ExitCode::kDone : ExitCode::kDamaged);
}

}  // namespace ringside
