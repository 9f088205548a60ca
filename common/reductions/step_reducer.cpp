// SPDX-License-Identifier: BSD-3-Clause
#include "common/reductions/step_reducer.hpp"

#include <algorithm>
#include <utility>

#include "common/reductions/reduction.hpp"
#include "common/reductions/kernels/reduction_table.hpp"
#include "common/reductions/reduction_catalogue.hpp"
#include "common/threads/openmp_team.hpp"

namespace ringside {
namespace {

const void* at(const void* payload, std::uint64_t offset) noexcept {
  return payload != nullptr ? static_cast<const std::byte*>(payload) + offset : nullptr;
}

/// presence: at most 64 bits. These bits may extend into the next word.
void set_presence(std::uint64_t* words, std::uint64_t first_bit, std::uint64_t presence) noexcept {
  const std::uint64_t shift = first_bit % 64;
  words[first_bit / 64] |= presence << shift;
  if (shift == 0) return;
  if (const std::uint64_t rest = presence >> (64 - shift); rest != 0) words[first_bit / 64 + 1] |= rest;
}

std::span<const ResultDescription> descriptions_of(const PlugInSet* plug_ins) noexcept {
  return plug_ins != nullptr ? std::span<const ResultDescription>(plug_ins->descriptions())
                             : std::span<const ResultDescription>();
}

}  // namespace

StepReducer::StepReducer(const Schema& schema) : StepReducer(schema, nullptr) {}
StepReducer::StepReducer(const Schema& schema, PlugInSet* plug_ins)
    : StepReducer(schema, std::make_unique<OpenMpTeam>(), nullptr, plug_ins) {}
StepReducer::StepReducer(const Schema& schema, Team& team, PlugInSet* plug_ins)
    : StepReducer(schema, nullptr, &team, plug_ins) {}

StepReducer::StepReducer(const Schema& schema, std::unique_ptr<Team> own_team, Team* team, PlugInSet* plug_ins)
    : own_team_(std::move(own_team)),
      team_(team != nullptr ? *team : *own_team_),
      schema_(schema),
      plug_ins_(plug_ins),
      catalogue_(catalogue_of(schema, {}, descriptions_of(plug_ins))),
      scratch_(static_cast<std::size_t>(team_.threads())),
      field_of_(schema.size(), nullptr),
      plug_ins_of_(schema.size(), nullptr),
      words_(catalogue_.words(), 0) {
  for (const Result& result : catalogue_.results()) {
    if (field_of_[result.variable] != nullptr) continue;  // skip all but the first result of each field
    const DType dtype = schema_.variables()[result.variable].dtype;
    const VariablePlace& place = schema_.place(result.variable);
    Field& field = fields_.emplace_back();
    field.reducer = std::make_unique<FieldReducer>(dtype, place.entries, scratch_);
    field.variable = result.variable;
    field.offset = place.offset;
    field.first_block = blocks_;
    field.first_bit = result.bit;
    field.first_word = result.word;
    field_of_[result.variable] = field.reducer.get();
    blocks_ += field.reducer->blocks();
    if (plug_ins == nullptr || plug_ins->empty()) continue;
    field.plug_ins = std::make_unique<FieldPlugIns>(*plug_ins, schema, result.variable, catalogue_, scratch_.threads(),
                                                    field_kernel_of(dtype));
    if (!field.plug_ins->empty()) plug_ins_of_[result.variable] = field.plug_ins.get();
  }
}

std::span<const std::uint64_t> StepReducer::values(std::size_t variable,
                                                   std::span<const std::uint64_t> words) const noexcept {
  const auto field = std::ranges::find(fields_, variable, &Field::variable);
  const bool is_integer = class_of(schema_.variables()[variable].dtype) == DTypeClass::kInteger;
  return words.subspan(field->first_word, is_integer ? kIntegerFieldWords : kRealFieldWords);
}

void StepReducer::begin(const void* previous) noexcept {
  plug_ins_run_ = true;
  for (Field& field : fields_) {
    field.reducer->begin(at(previous, field.offset));
    if (field.plug_ins) field.plug_ins->begin(at(previous, field.offset));
  }
}

/// Copies through memory that only this thread uses, so that the plug-ins read from the cache the same bytes that are
/// then stored.
std::uint64_t StepReducer::copy_staged(std::size_t thread, std::size_t variable, void* to, const void* from,
                                       std::uint64_t first_byte, std::size_t bytes) noexcept {
  const StagedBytes staged = stage(thread, variable, from, first_byte, bytes);
  ringside::copy_nontemporal(to, staged.bytes, bytes);
  return staged.hash;
}

StagedBytes StepReducer::stage(std::size_t thread, std::size_t variable, const void* from, std::uint64_t first_byte,
                               std::size_t bytes) noexcept {
  const StagedBytes staged = field_of_[variable]->stage(thread, from, first_byte, bytes);
  if (FieldPlugIns* const plug_ins = plug_ins_of_[variable]) {
    const std::uint64_t entry_bytes = bytes_of(schema_.variables()[variable].dtype);
    const std::uint64_t first_entry = first_byte / entry_bytes;
    const std::uint64_t left = schema_.place(variable).entries - first_entry;
    plug_ins->reduce(thread, staged.bytes, first_entry, std::min(bytes / entry_bytes, left));
  }
  return staged;
}

void StepReducer::sweep(std::size_t thread, std::size_t variable, const void* payload, std::uint64_t first_byte,
                        std::uint64_t bytes) noexcept {
  const std::uint64_t block_bytes = kReductionBlockRows * bytes_of(schema_.variables()[variable].dtype);
  sweep_blocks(thread, variable, at(payload, schema_.place(variable).offset), first_byte / block_bytes,
               (first_byte + bytes + block_bytes - 1) / block_bytes);
}

/// With plug-ins, sweeps block by block: the plug-ins then read a block that is still in the first-level cache, because
/// our own reductions have just read it.
void StepReducer::sweep_blocks(std::size_t thread, std::size_t variable, const void* field, std::uint64_t first_block,
                               std::uint64_t end_block) noexcept {
  FieldReducer& reducer = *field_of_[variable];
  FieldPlugIns* const plug_ins = plug_ins_run_ ? plug_ins_of_[variable] : nullptr;
  if (plug_ins == nullptr) return reducer.sweep(thread, field, first_block, end_block);
  const std::uint64_t entries = schema_.place(variable).entries;
  const std::uint64_t entry_bytes = bytes_of(schema_.variables()[variable].dtype);
  for (std::uint64_t block = first_block; block < end_block; ++block) {
    const std::uint64_t first = block * kReductionBlockRows;
    reducer.sweep(thread, field, block, block + 1);
    plug_ins->reduce(thread, at(field, first * entry_bytes), first,
                     std::min<std::uint64_t>(kReductionBlockRows, entries - first));
  }
}

/// Runs one job of the team over the blocks of all fields, one field after the other.
void StepReducer::sweep_all(const void* payload) noexcept {
  const std::uint64_t pieces = team_.pieces(blocks_, kReductionBlocksInPiece);
  team_.share(pieces, [&](std::uint64_t piece, int thread) noexcept {
    std::uint64_t block = piece_begin(blocks_, piece, pieces);
    const std::uint64_t end = piece_begin(blocks_, piece + 1, pieces);
    const auto begins_behind = [](std::uint64_t number, const Field& field) { return number < field.first_block; };
    auto next = std::upper_bound(fields_.begin(), fields_.end(), block, begins_behind);
    while (block < end) {
      const Field& field = *(next++ - 1);
      const std::uint64_t end_of_field = std::min(end, field.first_block + field.reducer->blocks());
      sweep_blocks(static_cast<std::size_t>(thread), field.variable, at(payload, field.offset),
                   block - field.first_block, end_of_field - field.first_block);
      block = end_of_field;
    }
  });
}

std::span<const std::uint64_t> StepReducer::finish(const void* payload, int passes) noexcept {
  plug_ins_run_ = false;  // the results of the plug-ins are complete
  for (int pass = 1; pass < passes; ++pass) {
    for (Field& field : fields_) field.reducer->begin_again();
    sweep_all(payload);
  }
  std::fill_n(words_.begin(), catalogue_.presence_words(), 0);
  for (Field& field : fields_) {
    set_presence(words_.data(), field.first_bit, field.reducer->finish(&words_[field.first_word]));
    if (field.plug_ins) field.plug_ins->finish(words_);
  }
  if (plug_ins_ != nullptr) plug_ins_->step_done();
  return words_;
}

std::span<const std::uint64_t> StepReducer::reduce(const void* payload, const void* previous, int passes) noexcept {
  begin(previous);
  sweep_all(payload);
  return finish(payload, passes);
}

}  // namespace ringside
