#include "cli/verify.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "analyzer/ring_reader.hpp"
#include "cli/format.hpp"
#include "common/error.hpp"
#include "common/options.hpp"

namespace ringside {
namespace {

using nlohmann::ordered_json;

struct SlotVerdict {
  KeptSlot kept;
  PayloadCheck payload;
  ReductionsState reductions = ReductionsState::kNotRecorded;

  bool intact() const { return payload.overwritten || (payload.intact() && reductions != ReductionsState::kDamaged); }
};

const char* text_of(const SlotVerdict& verdict) {
  if (verdict.payload.overwritten) return "overwritten";
  return verdict.intact() ? "intact" : "damaged";
}

std::string explanation(const RingView& ring, const SlotVerdict& verdict) {
  if (verdict.payload.overwritten) return "overwritten while it was read: an analyzer is at work";
  std::string text;
  if (!verdict.payload.table_intact)
    text += " its table of chunk hashes, or what the producer said of the step, is damaged;";
  if (!verdict.payload.damaged_chunks.empty()) {
    text += fmt::format(" {} of {} chunks of {} bytes differ: {};", verdict.payload.damaged_chunks.size(),
                        ring.geometry().chunk_count(), ring.geometry().chunk_bytes,
                        fmt::join(verdict.payload.damaged_chunks, ", "));
  }
  if (verdict.reductions == ReductionsState::kDamaged) text += " its reductions record is damaged;";
  return text.empty() ? "intact" : "DAMAGED:" + text.substr(0, text.size() - 1);
}

}  // namespace

int verify_command(int argc, const char* const* argv) {
  std::string pool;
  bool json = false;
  CLI::App app(
      "Checks every slot's hashes; says which slot and which chunk is damaged. Works while an analyzer uses the pool.",
      "ringside verify");
  app.add_option("POOL", pool, "pool file")->required()->type_name("FILE");
  app.add_flag("--json", json, "one JSON object");
  if (const auto code = parse_or_exit_code(app, argc, argv)) return *code;

  const RingReader reader = RingReader::open(pool);
  const RingView& ring = reader.ring();
  const Recovery recovery = reader.recover();
  std::vector<SlotVerdict> verdicts;
  for (const KeptSlot& kept : recovery.kept) {
    Reductions ignored;
    verdicts.push_back({kept, reader.verify(kept), ring.reductions(kept.slot, kept.header, ignored)});
  }

  std::size_t damaged = recovery.damaged.size();
  ordered_json slots = ordered_json::array();
  for (const SlotVerdict& verdict : verdicts) {
    if (!verdict.intact()) ++damaged;
    slots.push_back({{"slot", verdict.kept.slot},
                     {"iteration", verdict.kept.header.iteration},
                     {"commit_seq", verdict.kept.header.commit_seq},
                     {"verdict", text_of(verdict)},
                     {"damaged_chunks", verdict.payload.damaged_chunks},
                     {"chunk_table_intact", verdict.payload.table_intact},
                     {"reductions_intact", verdict.reductions != ReductionsState::kDamaged}});
    if (!json) {
      fmt::print("slot {:>4}  iteration {:>12}  {}\n", verdict.kept.slot,
                 with_separators(verdict.kept.header.iteration), explanation(ring, verdict));
    }
  }
  for (const std::uint32_t slot : recovery.damaged) {
    slots.push_back({{"slot", slot}, {"verdict", "damaged header"}});
    if (!json)
      fmt::print("slot {:>4}  DAMAGED: its header does not verify; which iterate it held is not known\n", slot);
  }
  const bool superblocks_intact = ring.superblock_intact(0) && ring.superblock_intact(1);
  if (json) {
    fmt::print("{}\n", ordered_json{{"pool", pool},
                                    {"intact", damaged == 0 && superblocks_intact},
                                    {"superblocks_intact", superblocks_intact},
                                    {"damaged_slots", damaged},
                                    {"slots", slots}}
                           .dump(2, ' ', false, ordered_json::error_handler_t::replace));
  } else {
    if (!superblocks_intact)
      fmt::print("one of the two superblocks is damaged; its twin serves, the analyzer mends it\n");
    fmt::print("{}: {} iterates, {} damaged slots\n", pool, verdicts.size(), damaged);
  }
  if (damaged == 0 && superblocks_intact) return 0;
  return static_cast<int>(ExitCode::kDamaged);
}

}  // namespace ringside
