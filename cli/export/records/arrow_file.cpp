// SPDX-License-Identifier: BSD-3-Clause
#include "cli/export/records/arrow_file.hpp"

#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <vector>

namespace ringside {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using flatbuffers::uoffset_t;
using Table = flatbuffers::Table;

// Field numbers in Arrow's Schema.fbs, Message.fbs and File.fbs. The offset of a table's field N is at 4 + 2 * N.
constexpr flatbuffers::voffset_t field(int number) {
  return static_cast<flatbuffers::voffset_t>(4 + 2 * number);
}
constexpr std::int16_t kVersion5 = 4;
constexpr std::int16_t kDoublePrecision = 2;
constexpr int kDecimalDigits = 38;
enum class ArrowType : std::uint8_t { kInt = 2, kFloatingPoint = 3, kUtf8 = 5, kBool = 6, kDecimal = 7 };
enum class ArrowHeader : std::uint8_t { kSchema = 1, kRecordBatch = 3 };

struct FieldNode {
  std::int64_t length;
  std::int64_t null_count;
};
struct BufferPlace {
  std::int64_t offset;
  std::int64_t length;
};
struct Block {
  std::int64_t offset;
  std::int32_t metadata_bytes;
  std::int32_t padding;
  std::int64_t body_bytes;
};

constexpr std::size_t kRowsOfABatch = 65536;

ArrowType arrow_type(ColumnType type) {
  switch (type) {
    case ColumnType::kU64:
    case ColumnType::kI64: return ArrowType::kInt;
    case ColumnType::kF64: return ArrowType::kFloatingPoint;
    case ColumnType::kI128: return ArrowType::kDecimal;
    case ColumnType::kBool: return ArrowType::kBool;
    case ColumnType::kText: break;
  }
  return ArrowType::kUtf8;
}

Offset<Table> ended(FlatBufferBuilder& builder, uoffset_t start) {
  return Offset<Table>(builder.EndTable(start));
}

Offset<Table> type_table(FlatBufferBuilder& builder, ColumnType type) {
  const uoffset_t start = builder.StartTable();
  switch (type) {
    case ColumnType::kU64:
    case ColumnType::kI64:
      builder.AddElement<std::int32_t>(field(0), 64, 0);
      builder.AddElement<std::uint8_t>(field(1), type == ColumnType::kI64, 0);
      break;
    case ColumnType::kF64: builder.AddElement<std::int16_t>(field(0), kDoublePrecision, 0); break;
    case ColumnType::kI128:
      builder.AddElement<std::int32_t>(field(0), kDecimalDigits, 0);
      builder.AddElement<std::int32_t>(field(1), 0, 0);
      builder.AddElement<std::int32_t>(field(2), 128, 128);
      break;
    case ColumnType::kBool:
    case ColumnType::kText: break;
  }
  return ended(builder, start);
}

Offset<Table> field_table(FlatBufferBuilder& builder, const RecordColumn& column) {
  const auto name = builder.CreateString(column.name);
  const Offset<Table> type = type_table(builder, column.type);
  const auto children = builder.CreateVector(std::vector<Offset<Table>>());
  std::vector<Offset<Table>> metadata;
  if (!column.unit.empty()) {
    const auto key = builder.CreateString("unit");
    const auto value = builder.CreateString(column.unit);
    const uoffset_t start = builder.StartTable();
    builder.AddOffset(field(0), key);
    builder.AddOffset(field(1), value);
    metadata.push_back(ended(builder, start));
  }
  const auto pairs = builder.CreateVector(metadata);
  const uoffset_t start = builder.StartTable();
  builder.AddOffset(field(0), name);
  builder.AddElement<std::uint8_t>(field(1), 1, 0);  // nullable
  builder.AddElement<std::uint8_t>(field(2), static_cast<std::uint8_t>(arrow_type(column.type)), 0);
  builder.AddOffset(field(3), type);
  builder.AddOffset(field(5), children);
  builder.AddOffset(field(6), pairs);
  return ended(builder, start);
}

Offset<Table> schema_table(FlatBufferBuilder& builder, const RecordsTable& table) {
  std::vector<Offset<Table>> fields;
  for (const RecordColumn& column : table.columns()) fields.push_back(field_table(builder, column));
  const auto vector = builder.CreateVector(fields);
  const uoffset_t start = builder.StartTable();
  builder.AddElement<std::int16_t>(field(0), 0, 0);  // little-endian
  builder.AddOffset(field(1), vector);
  return ended(builder, start);
}

void finish_message(FlatBufferBuilder& builder, ArrowHeader kind, Offset<Table> header, std::size_t body_bytes) {
  const uoffset_t start = builder.StartTable();
  builder.AddElement<std::int16_t>(field(0), kVersion5, 0);
  builder.AddElement<std::uint8_t>(field(1), static_cast<std::uint8_t>(kind), 0);
  builder.AddOffset(field(2), header);
  builder.AddElement<std::int64_t>(field(3), static_cast<std::int64_t>(body_bytes), 0);
  builder.Finish(ended(builder, start));
}

/// The rows of one column in one batch.
struct ColumnData {
  std::vector<std::uint8_t> valid;
  std::int64_t absent = 0;
  std::vector<std::uint8_t> values;
  std::vector<std::int32_t> ends = {0};  // for texts

  void append(ColumnType type, const RecordCell& cell, std::size_t row) {
    const auto set_bit = [row](std::vector<std::uint8_t>& bits, bool value) {
      if (row % 8 == 0) bits.push_back(0);
      if (value) bits.back() = static_cast<std::uint8_t>(bits.back() | 1u << row % 8);
    };
    set_bit(valid, cell.present);
    if (!cell.present) ++absent;
    const auto* words = reinterpret_cast<const std::uint8_t*>(cell.words);
    switch (type) {
      case ColumnType::kBool: set_bit(values, cell.words[0] != 0); break;
      case ColumnType::kText:
        values.insert(values.end(), cell.text.begin(), cell.text.end());
        ends.push_back(static_cast<std::int32_t>(values.size()));
        break;
      default: values.insert(values.end(), words, words + (type == ColumnType::kI128 ? 16 : 8));
    }
  }
};

class ArrowWriter {
 public:
  ArrowWriter(const RecordsTable& table, const std::function<void(const void*, std::size_t)>& put)
      : table_(table), put_(put) {}

  void write(ArrowForm form) {
    const bool file = form == ArrowForm::kFile;
    if (file) put(kMagic, sizeof kMagic);
    put_schema();
    for (std::size_t first = 0; first < table_.rows(); first += kRowsOfABatch) {
      put_batch(first, std::min(first + kRowsOfABatch, table_.rows()));
    }
    const std::uint32_t end[] = {0xffffffff, 0};
    put(end, sizeof end);
    if (file) put_footer();
  }

 private:
  static constexpr char kMagic[8] = {'A', 'R', 'R', 'O', 'W', '1', 0, 0};

  void put(const void* data, std::size_t bytes) {
    put_(data, bytes);
    written_ += bytes;
  }
  void pad() {
    const char zeros[8] = {};
    put(zeros, (8 - written_ % 8) % 8);
  }

  /// Writes the head of a message. Returns its size in bytes, including the prefix with its length.
  std::size_t put_message(const FlatBufferBuilder& builder) {
    const std::size_t padded = (builder.GetSize() + 7) / 8 * 8;
    const std::uint32_t prefix[] = {0xffffffff, static_cast<std::uint32_t>(padded)};
    put(prefix, sizeof prefix);
    put(builder.GetBufferPointer(), builder.GetSize());
    pad();
    return sizeof prefix + padded;
  }

  void put_schema() {
    FlatBufferBuilder builder;
    finish_message(builder, ArrowHeader::kSchema, schema_table(builder, table_), 0);
    put_message(builder);
  }

  void put_batch(std::size_t first, std::size_t end) {
    std::vector<ColumnData> columns(table_.columns().size());
    for (std::size_t row = first; row < end; ++row) {
      const std::vector<RecordCell> cells = table_.row(row);
      for (std::size_t c = 0; c < columns.size(); ++c) {
        columns[c].append(table_.columns()[c].type, cells[c], row - first);
      }
    }
    std::vector<FieldNode> nodes;
    std::vector<BufferPlace> places;
    std::vector<std::pair<const void*, std::size_t>> buffers;
    std::size_t body = 0;
    const auto add = [&](const void* data, std::size_t bytes) {
      places.push_back({static_cast<std::int64_t>(body), static_cast<std::int64_t>(bytes)});
      buffers.emplace_back(data, bytes);
      body += (bytes + 7) / 8 * 8;
    };
    for (std::size_t c = 0; c < columns.size(); ++c) {
      nodes.push_back({static_cast<std::int64_t>(end - first), columns[c].absent});
      add(columns[c].valid.data(), columns[c].valid.size());
      if (table_.columns()[c].type == ColumnType::kText) {
        add(columns[c].ends.data(), columns[c].ends.size() * sizeof columns[c].ends[0]);
      }
      add(columns[c].values.data(), columns[c].values.size());
    }
    FlatBufferBuilder builder;
    const auto node_vector = builder.CreateVectorOfStructs(nodes.data(), nodes.size());
    const auto place_vector = builder.CreateVectorOfStructs(places.data(), places.size());
    const uoffset_t start = builder.StartTable();
    builder.AddElement<std::int64_t>(field(0), static_cast<std::int64_t>(end - first), 0);
    builder.AddOffset(field(1), node_vector);
    builder.AddOffset(field(2), place_vector);
    finish_message(builder, ArrowHeader::kRecordBatch, ended(builder, start), body);
    Block block{static_cast<std::int64_t>(written_), 0, 0, static_cast<std::int64_t>(body)};
    block.metadata_bytes = static_cast<std::int32_t>(put_message(builder));
    blocks_.push_back(block);
    for (const auto& [data, bytes] : buffers) {
      put(data, bytes);
      pad();
    }
  }

  void put_footer() {
    FlatBufferBuilder builder;
    const Offset<Table> schema = schema_table(builder, table_);
    const auto dictionaries = builder.CreateVectorOfStructs(static_cast<const Block*>(nullptr), 0);
    const auto batches = builder.CreateVectorOfStructs(blocks_.data(), blocks_.size());
    const uoffset_t start = builder.StartTable();
    builder.AddElement<std::int16_t>(field(0), kVersion5, 0);
    builder.AddOffset(field(1), schema);
    builder.AddOffset(field(2), dictionaries);
    builder.AddOffset(field(3), batches);
    builder.Finish(ended(builder, start));
    put(builder.GetBufferPointer(), builder.GetSize());
    const auto bytes = static_cast<std::uint32_t>(builder.GetSize());
    put(&bytes, sizeof bytes);
    put(kMagic, 6);
  }

  const RecordsTable& table_;
  const std::function<void(const void*, std::size_t)>& put_;
  std::size_t written_ = 0;
  std::vector<Block> blocks_;
};

}  // namespace

void write_arrow(const RecordsTable& table, ArrowForm form, const std::function<void(const void*, std::size_t)>& put) {
  ArrowWriter(table, put).write(form);
}

}  // namespace ringside
