// SPDX-License-Identifier: BSD-3-Clause
// The case labels are the field numbers in proto/ringside.proto.
#include "common/records/plain_record.hpp"

#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>

#include "common/platform/error.hpp"
#include "common/records/result_names.hpp"
#include "common/records/wire_fields.hpp"
#include "common/text/fixed_text.hpp"

namespace ringside {
namespace {

/// Calls take(field) for each field of a message; returns false if the message is damaged or `take` returned false.
template <class Take>
bool for_each_field(std::string_view message, const Take& take) {
  WireFields fields(message);
  for (WireField field; fields.next(field);) {
    if (!take(field)) return false;
  }
  return fields.intact();
}

/// Stores the values of a repeated number, which may be packed or not.
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

/// Decodes a sint64.
std::uint64_t from_zigzag(std::uint64_t value) noexcept {
  return (value >> 1) ^ (~(value & 1) + 1);
}

/// The enumerator with that name, if its number is from 1 to `last`.
template <class Enumeration>
std::optional<Enumeration> named(std::string_view text, std::uint8_t last) {
  for (std::uint8_t number = 1; number <= last; ++number) {
    if (to_string(Enumeration{number}) == text) return Enumeration{number};
  }
  return std::nullopt;
}

/// The largest number of descriptions: a run's entry in the ring has room for as many. Without this limit, one small
/// record could describe millions of results.
constexpr std::size_t kMostDescriptions = 128;

/// A run's description of its variables and results, which is recorded once.
class Description {
 public:
  /// field: a field of the message; schema, results: the numbers of the two repeated fields. Returns false if the
  /// message is damaged.
  bool take(const WireField& field, std::uint32_t schema, std::uint32_t results) {
    if (field.number == schema) return take_variable(field.bytes);
    return field.number != results || take_result(field.bytes);
  }

  /// Null if there is no description, or an invalid one.
  SharedLayout layout() {
    if (!can_be_ || variables_.empty()) return nullptr;
    try {
      Schema made = Schema::of_whole(std::move(variables_));  // the journal may belong to a run of several nodes
      Catalogue catalogue = Catalogue::decode(made, results_, "record");
      return std::make_shared<const RecordLayout>(std::move(made), std::move(catalogue));
    } catch (const Error&) {  // no analyzer writes such a description
      return nullptr;
    }
  }

 private:
  bool take_variable(std::string_view message) {
    Variable variable;
    std::string_view dtype;
    std::string_view role;
    const bool intact = for_each_field(message, [&](const WireField& field) {
      switch (field.number) {
        case 1: variable.name = field.bytes; return true;
        case 2: dtype = field.bytes; return true;
        case 3: return take_varints(field, [&](std::uint64_t value) { variable.shape.push_back(value); });
        case 4: variable.unit = field.bytes; return true;
        case 5: role = field.bytes; return true;
        default: return true;
      }
    });
    variable.role = role == to_string(Role::kField) ? Role::kField : Role::kState;
    can_be_ = can_be_ && dtype_named(dtype) && role == to_string(variable.role);
    variable.dtype = dtype_named(dtype).value_or(variable.dtype);
    variables_.push_back(std::move(variable));
    return intact;
  }

  bool take_result(std::string_view message) {
    std::string_view name;
    std::string_view unit;
    std::string_view origin;  // the bytes of a plug-in's id; otherwise empty
    std::optional<ValueType> type;
    std::optional<ResultSource> source;
    std::uint32_t classes = 0;
    ResultDescription result;
    result.count = 0;
    const bool intact = for_each_field(message, [&](const WireField& field) {
      switch (field.number) {
        case 1: name = field.bytes; break;
        case 2: type = named<ValueType>(field.bytes, 3); break;
        case 3: source = named<ResultSource>(field.bytes, 3); break;
        case 4: classes = field.u32(); break;
        case 5: unit = field.bytes; break;
        case 6: result.count = field.u32(); break;
        case 7: result.flags = field.flag() ? kNeedsPrevious : 0; break;
        case 8: origin = field.bytes; break;
        default: break;
      }
      return true;
    });
    can_be_ = can_be_ && type && source && name.size() < kNameBytes && unit.size() < kUnitBytes && classes <= 0xffff &&
              (origin.empty() || origin.size() == sizeof result.origin) && results_.size() < kMostDescriptions;
    if (!can_be_) return intact;
    assign(result.name, name);
    assign(result.unit, unit);
    result.type = *type;
    result.source = *source;
    result.classes = static_cast<std::uint16_t>(classes);
    std::copy_n(origin.begin(), origin.size(), result.origin);
    results_.push_back(result);
    return intact;
  }

  std::vector<Variable> variables_;
  std::vector<ResultDescription> results_;
  bool can_be_ = true;
};

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
  const std::size_t counts[] = {f64.size(), i64.size(), i128.size()};
  f64.insert(f64.end(), i64.begin(), i64.end());
  f64.insert(f64.end(), i128.begin(), i128.end());
  step.results = StepResults::of_columns(counts[0], counts[1], counts[2], f64, absent).value_or(StepResults());
  return true;
}

/// for_each_scalar visits the fields in the order of their numbers, which begin with 1.
bool take_reductions(std::string_view message, Reductions& reductions) {
  return for_each_field(message, [&](const WireField& field) {
    std::uint32_t number = 0;
    for_each_scalar([&](const char*, auto, auto to) {
      if (++number != field.number) return;
      if constexpr (std::is_same_v<std::remove_reference_t<decltype(reductions.*to)>, double>) {
        reductions.*to = field.f64();
      } else {
        reductions.*to = to == &Reductions::has_change ? field.flag() : field.integer;
      }
    });
    return true;
  });
}

bool take_step(std::string_view message, PlainRecord& record) {
  PlainStep& step = record.step;
  bool has_results = false;
  std::optional<Reductions> reductions;  // for a step of an older release, like the residuals
  double residual_l1 = 0;
  double residual_linf = 0;
  const bool intact = for_each_field(message, [&](const WireField& field) {
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
      case 14: residual_l1 = field.f64(); break;
      case 15: residual_linf = field.f64(); break;
      case 16: return take_reductions(field.bytes, reductions.emplace());
      case 19: step.skipped_before = field.integer; break;
      case 20: step.rebuilt = field.flag(); break;
      case 21: has_results = true; return take_results(field.bytes, step);
      case 22: step.broke_lease = field.flag(); break;
      case 24: step.record_ns = field.i64(); break;
      default: break;
    }
    return true;
  });
  if (!has_results) step.results = older_results(reductions, step.rebuilt, residual_l1, residual_linf);
  return intact;
}

bool take_started(std::string_view message, PlainRecord& record) {
  Description description;
  const bool intact = for_each_field(message, [&](const WireField& field) {
    switch (field.number) {
      case 1: record.run_id = field.bytes; return true;
      case 5: record.solver = field.bytes; return true;
      case 6: record.problem = field.bytes; return true;
      case 7: record.parameters = field.bytes; return true;
      default: return description.take(field, 22, 23);
    }
  });
  record.layout = description.layout();
  return intact;
}

bool take_described(std::string_view message, PlainRecord& record) {
  Description description;
  const bool intact = for_each_field(message, [&](const WireField& field) {
    if (field.number == 1) record.run_id = field.bytes;
    return description.take(field, 2, 3);
  });
  record.layout = description.layout();
  return intact;
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
  const auto kind = static_cast<RecordKind>(field.number);
  if (kind >= RecordKind::kStep && kind <= RecordKind::kAnalysisResults) record.kind = kind;
  switch (kind) {
    case RecordKind::kStep: return take_step(field.bytes, record);
    case RecordKind::kRunStarted: return take_started(field.bytes, record);
    case RecordKind::kRunEnded: return take_ended(field.bytes, record);
    case RecordKind::kAnalyzerStarted: return for_each_field(field.bytes, [](const WireField&) { return true; });
    case RecordKind::kRecordsMissing:
      return for_each_field(field.bytes, [&](const WireField& inner) {
        if (inner.number == 1) record.run_id = inner.bytes;
        return true;
      });
    case RecordKind::kRunDescribed: return take_described(field.bytes, record);
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

}  // namespace ringside
