// SPDX-License-Identifier: BSD-3-Clause
// The numbers of the cases are those of the fields in proto/ringside.proto.
#include "common/records/plain_record.hpp"

#include <utility>

#include "common/records/older_results.hpp"
#include "common/records/wire_fields.hpp"

namespace ringside {
namespace {

/// Calls take(field) for each field of a message; false if the message is damaged or `take` returned false.
template <class Take>
bool for_each_field(std::string_view message, const Take& take) {
  WireFields fields(message);
  for (WireField field; fields.next(field);) {
    if (!take(field)) return false;
  }
  return fields.intact();
}

/// A repeated number, packed or alone.
template <class Store>
bool take_varints(const WireField& field, const Store& store) {
  if (!field.is_bytes) {
    store(field.integer);
    return true;
  }
  WireFields packed(field.bytes);
  while (!packed.at_end()) {
    std::uint64_t value = 0;
    if (!packed.take_varint(value)) return false;
    store(value);
  }
  return true;
}

bool take_words(const WireField& field, std::vector<std::uint64_t>& words) {
  if (!field.is_bytes) {
    words.push_back(field.integer);
    return true;
  }
  if (field.bytes.size() % sizeof(std::uint64_t) != 0) return false;
  const std::size_t before = words.size();
  words.resize(before + field.bytes.size() / sizeof(std::uint64_t));
  if (!field.bytes.empty()) std::memcpy(words.data() + before, field.bytes.data(), field.bytes.size());
  return true;
}

/// The integer of a sint64.
std::uint64_t from_zigzag(std::uint64_t value) noexcept {
  return (value >> 1) ^ (~(value & 1) + 1);
}

bool take_variable(std::string_view message, VariableTexts& variable) {
  return for_each_field(message, [&](const WireField& field) {
    switch (field.number) {
      case 1: variable.name = field.bytes; return true;
      case 2: variable.dtype = field.bytes; return true;
      case 3: return take_varints(field, [&](std::uint64_t value) { variable.shape.push_back(value); });
      case 4: variable.unit = field.bytes; return true;
      case 5: variable.role = field.bytes; return true;
      default: return true;
    }
  });
}

bool take_result(std::string_view message, ResultTexts& result) {
  return for_each_field(message, [&](const WireField& field) {
    switch (field.number) {
      case 1: result.name = field.bytes; break;
      case 2: result.type = field.bytes; break;
      case 3: result.source = field.bytes; break;
      case 4: result.classes = field.u32(); break;
      case 5: result.unit = field.bytes; break;
      case 6: result.count = field.u32(); break;
      case 7: result.needs_previous = field.flag(); break;
      case 8: result.origin = field.bytes; break;
      default: break;
    }
    return true;
  });
}

/// The two repeated fields of a description. False if the message is damaged.
bool take_description(const WireField& field, std::uint32_t schema, std::uint32_t results, LayoutTexts& layout) {
  if (field.number == schema) return take_variable(field.bytes, layout.schema.emplace_back());
  if (field.number == results) return take_result(field.bytes, layout.results.emplace_back());
  return true;
}

bool take_results(std::string_view message, PlainStep& step) {
  std::vector<std::uint64_t> f64;
  std::vector<std::uint64_t> i64;
  std::vector<std::uint64_t> i128;
  std::string_view absent;
  const bool intact = for_each_field(message, [&](const WireField& field) {
    switch (field.number) {
      case 1: return take_words(field, f64);
      case 2: return take_varints(field, [&](std::uint64_t value) { i64.push_back(from_zigzag(value)); });
      case 3: return take_words(field, i128);
      case 4: absent = field.bytes; return true;
      case 5: step.catalogue = field.integer; return true;
      default: return true;
    }
  });
  if (!intact) return false;
  step.has_results = true;
  const std::size_t counts[] = {f64.size(), i64.size(), i128.size()};
  f64.insert(f64.end(), i64.begin(), i64.end());
  f64.insert(f64.end(), i128.begin(), i128.end());
  step.columns = columns_of(counts[0], counts[1], counts[2], f64, absent);
  return true;
}

bool take_reductions(std::string_view message, Reductions& r) {
  return for_each_field(message, [&](const WireField& field) {
    switch (field.number) {
      case 1: r.sum = field.f64(); break;
      case 2: r.mean = field.f64(); break;
      case 3: r.min = field.f64(); break;
      case 4: r.max = field.f64(); break;
      case 5: r.l1 = field.f64(); break;
      case 6: r.l2 = field.f64(); break;
      case 7: r.linf = field.f64(); break;
      case 8: r.has_change = field.flag() ? 1 : 0; break;
      case 9: r.change_l1 = field.f64(); break;
      case 10: r.change_l2 = field.f64(); break;
      case 11: r.change_linf = field.f64(); break;
      case 12: r.non_finite = field.integer; break;
      default: break;
    }
    return true;
  });
}

bool take_step(std::string_view message, PlainRecord& record) {
  PlainStep& step = record.step;
  return for_each_field(message, [&](const WireField& field) {
    switch (field.number) {
      case 1: record.run_id = field.bytes; break;
      case 2: step.step = field.integer; break;
      case 3: step.iteration = field.integer; break;
      case 4: step.commit_seq = field.integer; break;
      case 5: step.published_at_ns = field.i64(); break;
      case 6: step.generate_ns = field.i64(); break;
      case 7: step.producer_idle_ns = field.i64(); break;
      case 8: step.analyzer_idle_ns = field.i64(); break;
      case 9: step.hand_off_ns = field.i64(); break;
      case 10: step.transfer_ns = field.i64(); break;
      case 11: step.commit_ns = field.i64(); break;
      case 12: step.analyze_ns = field.i64(); break;
      case 13: step.bytes_transferred = field.integer; break;
      case 14: step.residual_l1 = field.f64(); break;
      case 15: step.residual_linf = field.f64(); break;
      case 16: return take_reductions(field.bytes, step.reductions.emplace());
      case 19: step.skipped_before = field.integer; break;
      case 20: step.rebuilt = field.flag(); break;
      case 21: return take_results(field.bytes, step);
      case 22: step.broke_lease = field.flag(); break;
      case 24: step.record_ns = field.i64(); break;
      default: break;
    }
    return true;
  });
}

bool take_started(std::string_view message, PlainRecord& record) {
  return for_each_field(message, [&](const WireField& field) {
    switch (field.number) {
      case 1: record.run_id = field.bytes; return true;
      case 5: record.solver = field.bytes; return true;
      case 6: record.problem = field.bytes; return true;
      case 7: record.parameters = field.bytes; return true;
      default: return take_description(field, 22, 23, record.layout);
    }
  });
}

bool take_ended(std::string_view message, PlainRecord& record) {
  return for_each_field(message, [&](const WireField& field) {
    switch (field.number) {
      case 1: record.run_id = field.bytes; break;
      case 2: record.how = field.bytes; break;
      case 3: record.outcome = field.bytes; break;
      case 7: record.exit_code = field.u32(); break;
      case 8: record.text = field.bytes; break;
      default: break;
    }
    return true;
  });
}

bool take_analysis(std::string_view message, PlainRecord& record) {
  const bool intact = for_each_field(message, [&](const WireField& field) {
    switch (field.number) {
      case 1: record.run_id = field.bytes; return true;
      case 2: record.step.step = field.integer; return true;
      case 3: record.step.iteration = field.integer; return true;
      case 4: record.step.commit_seq = field.integer; return true;
      case 5: record.names.emplace_back(field.bytes); return true;
      case 6: return take_words(field, record.values);
      default: return true;
    }
  });
  return intact && record.names.size() == record.values.size();
}

bool take_mark(std::string_view message, PlainRecord& record) {
  return for_each_field(message, [&](const WireField& field) {
    switch (field.number) {
      case 1: record.run_id = field.bytes; break;
      case 2: record.step.step = field.integer; break;
      case 3: record.step.iteration = field.integer; break;
      case 4: record.step.commit_seq = field.integer; break;
      case 5: record.cause = field.bytes; break;
      case 6: record.name = field.bytes; break;
      case 7: record.text = field.bytes; break;
      case 8:
        if (!record.actions.empty()) record.actions += ", ";
        record.actions += field.bytes;
        break;
      default: break;
    }
    return true;
  });
}

bool take_what(const WireField& field, PlainRecord& record) {
  const auto take_run_id = [&](const WireField& inner) {
    if (inner.number == 1) record.run_id = inner.bytes;
    return true;
  };
  const auto kind = static_cast<RecordKind>(field.number);
  if (kind >= RecordKind::kStep && kind <= RecordKind::kAnalysisResults) record.kind = kind;
  switch (kind) {
    case RecordKind::kStep: return take_step(field.bytes, record);
    case RecordKind::kRunStarted: return take_started(field.bytes, record);
    case RecordKind::kRunEnded: return take_ended(field.bytes, record);
    case RecordKind::kAnalyzerStarted: return for_each_field(field.bytes, [](const WireField&) { return true; });
    case RecordKind::kRecordsMissing: return for_each_field(field.bytes, take_run_id);
    case RecordKind::kRunDescribed:
      return for_each_field(field.bytes, [&](const WireField& inner) {
        return take_run_id(inner) && take_description(inner, 2, 3, record.layout);
      });
    case RecordKind::kMark: return take_mark(field.bytes, record);
    case RecordKind::kAnalysisResults: return take_analysis(field.bytes, record);
    case RecordKind::kNone: break;
  }
  return true;  // a field of a later release
}

}  // namespace

std::optional<PlainRecord> decode_record(std::string_view bytes) {
  PlainRecord record;
  const bool intact = for_each_field(bytes, [&](const WireField& field) {
    switch (field.number) {
      case 1: record.seq = field.integer; return true;
      case 2: record.unix_ns = field.i64(); return true;
      default: return take_what(field, record);
    }
  });
  return intact ? std::optional(std::move(record)) : std::nullopt;
}

void PlainNames::learn(const PlainRecord& record) {
  learn(layout_of(record.layout));
}

void PlainNames::learn(SharedLayout layout) {
  if (!layout) return;
  const std::uint64_t hash = layout->hash();
  layouts_.emplace(hash, std::move(layout));
}

StepResults PlainNames::results(const PlainRecord& record) const {
  if (record.kind != RecordKind::kStep) return {};
  const PlainStep& step = record.step;
  if (!step.has_results) {
    return older_results(step.reductions, step.rebuilt, step.residual_l1, step.residual_linf);
  }
  if (!step.columns) return {};
  const auto found = layouts_.find(step.catalogue);
  if (found == layouts_.end() || found->second->counts() != step.columns->counts) {
    return {step.columns->counts, step.columns->words};
  }
  return {found->second, step.columns->words};
}

}  // namespace ringside
