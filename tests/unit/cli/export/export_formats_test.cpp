// SPDX-License-Identifier: BSD-3-Clause
// The bytes of exported files, for every dtype and for shapes with zero, one and two dimensions.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/mman.h>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/export/formats/export_format.hpp"
#include "cli/export/formats/vtk_xml.hpp"
#include "tests/unit/failure_line.hpp"
#include "tests/unit/sanitized.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

using testing::content_of;
using testing::TemporaryFolder;

const ExportFormat& format_named(std::string_view name) {
  for (const ExportFormat& format : export_formats()) {
    if (format.name == name) return format;
  }
  throw usage_error("no format '{}'", name);
}

/// A variable and its bytes.
struct Given {
  Variable variable;
  std::span<const std::byte> values;
};

ExportTarget target_for(const std::string& output, const std::vector<Given>& given) {
  ExportTarget target{.output = output, .kept = {}, .variables = {}, .series = false, .points = {}};
  for (const Given& one : given) target.variables.push_back({one.variable, Slice().of(one.variable)});
  return target;
}

/// Writes one step to `output`.
void write_file(std::string_view format, const std::string& output, const std::vector<Given>& given) {
  const std::unique_ptr<ExportSink> sink = format_named(format).make(target_for(output, given));
  ExportedStep step;
  step.part = [&](std::size_t v, const ChunkPlace& place) { return given[v].values.subspan(place.offset, place.bytes); };
  step.wrote = [](std::uint64_t) {};
  sink->write(step);
  sink->accept();
  sink->finish();
}

/// The content of a file with these variables in this format.
std::string exported(std::string_view format, const std::vector<Given>& given) {
  const TemporaryFolder folder;
  write_file(format, folder.file("out"), given);
  return content_of(folder.file("out"));
}

template <class T>
std::string exported(std::string_view format, const Variable& variable, const std::vector<T>& values) {
  return exported(format, {{variable, std::as_bytes(std::span(values))}});
}

std::vector<std::byte> counted_bytes(std::size_t number) {
  std::vector<std::byte> bytes(number);
  for (std::size_t i = 0; i < number; ++i) bytes[i] = static_cast<std::byte>(3 * i + 1);
  return bytes;
}

std::string text_of_bytes(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Shape {
  std::vector<std::uint64_t> extents;
  std::size_t entries;
  const char* python;
};

TEST(ExportFormatsTest, NpyHasEveryDTypeAndShape) {
  const std::pair<DType, const char*> dtypes[] = {{DType::kF32, "<f4"},   {DType::kF64, "<f8"}, {DType::kC64, "<c8"},
                                                  {DType::kC128, "<c16"}, {DType::kI8, "|i1"},  {DType::kI16, "<i2"},
                                                  {DType::kI32, "<i4"},   {DType::kI64, "<i8"}, {DType::kU8, "|u1"},
                                                  {DType::kU16, "<u2"},   {DType::kU32, "<u4"}, {DType::kU64, "<u8"}};
  const Shape shapes[] = {{{}, 1, "()"}, {{3}, 3, "(3,)"}, {{3, 4}, 12, "(3, 4)"}, {{2, 1, 5}, 10, "(2, 1, 5)"}};
  for (const auto& [dtype, name] : dtypes) {
    for (const Shape& shape : shapes) {
      const std::vector<std::byte> bytes = counted_bytes(shape.entries * bytes_of(dtype));
      const std::string file = exported("npy", {.name = "x", .dtype = dtype, .shape = shape.extents}, bytes);
      const std::string dictionary =
          fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", name, shape.python);
      ASSERT_EQ(file.size(), 128 + bytes.size()) << dictionary;
      EXPECT_EQ(file.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));  // 118 bytes of header follow
      EXPECT_EQ(file.substr(10, 118), dictionary + std::string(117 - dictionary.size(), ' ') + "\n");
      EXPECT_EQ(file.substr(128), text_of_bytes(bytes)) << dictionary;
    }
  }
}

TEST(ExportFormatsTest, TheDataOfNpyBeginAtAMultipleOf64WhateverTheShape) {
  for (const std::uint64_t extent : {1u, 10u, 1000u, 100'000u}) {
    for (std::size_t dimensions = 1; dimensions <= 8; ++dimensions) {
      std::vector<std::uint64_t> shape(dimensions, 1);
      shape.back() = extent;
      const std::vector<std::uint8_t> values(extent, 1);
      const std::string file = exported("npy", {.name = "x", .dtype = DType::kU8, .shape = shape}, values);
      const std::size_t begin = file.size() - extent;
      ASSERT_EQ(begin % 64, 0u);
      const auto length = static_cast<unsigned char>(file[8]) + 256u * static_cast<unsigned char>(file[9]);
      EXPECT_EQ(10 + length, begin);
      EXPECT_EQ(file[begin - 1], '\n');
    }
  }
}

#ifdef RINGSIDE_PYTHON
TEST(ExportFormatsTest, NpzHoldsAnNpyOfEachVariable) {
  const Variable u{.name = "u", .dtype = DType::kF32, .shape = {3, 4}};
  const Variable p{.name = "p.old-1", .dtype = DType::kC128, .shape = {5}, .role = Role::kState};
  const Variable step{.name = "step", .dtype = DType::kI8};
  const std::vector<std::byte> bytes[] = {counted_bytes(48), counted_bytes(80), counted_bytes(1)};
  const std::vector<Given> variables = {{u, bytes[0]}, {p, bytes[1]}, {step, bytes[2]}};
  const TemporaryFolder folder;
  const std::string path = folder.write("x.npz", exported("npz", variables));

  std::string expected;
  for (const Given& variable : variables) {
    expected += variable.variable.name + ".npy 0 ";
    for (const char c : exported("npy", std::vector<Given>{variable}))
      expected += fmt::format("{:02x}", static_cast<unsigned char>(c));
    expected += "\n";
  }
  const std::string command = RINGSIDE_PYTHON " -I '" RINGSIDE_NPZ_ENTRIES "' '" + path + "' 2>&1";
  FILE* python = popen(command.c_str(), "r");
  ASSERT_NE(python, nullptr);
  std::string printed;
  char part[4096];
  while (const std::size_t got = fread(part, 1, sizeof part, python)) printed.append(part, got);
  EXPECT_EQ(pclose(python), 0);
  EXPECT_EQ(printed, expected);
}
#endif

TEST(ExportFormatsTest, NpzHoldsAVariableOfMoreThanTwoGiB) {
  if (testing::kSanitized) GTEST_SKIP() << "checksums of 2 GiB take too long with a sanitizer";
  // Pages that are only read take no memory. libarchive writes at most 2^31 - 1 bytes per call.
  constexpr std::size_t kBytes = (std::size_t{1} << 31) + 4096;
  void* zeros = mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(zeros, MAP_FAILED);
  const Variable x{.name = "x", .dtype = DType::kU8, .shape = {kBytes}};
  const std::vector<Given> given = {{x, {static_cast<const std::byte*>(zeros), kBytes}}};
  EXPECT_EQ(failure_line([&] { write_file("npz", "/dev/null", given); }, ExitCode::kSystem), "");
  munmap(zeros, kBytes);
}

TEST(ExportFormatsTest, CsvHasTheIndicesOfEachEntry) {
  const std::vector<float> values = {1, 0.1f, -2.5f, 1e-30f, 16777216, 3};
  EXPECT_EQ(exported("csv", {.name = "u", .dtype = DType::kF32, .shape = {2, 3}}, values),
            "row,column,value\n0,0,1\n0,1,0.1\n0,2,-2.5\n1,0,1e-30\n1,1,16777216\n1,2,3\n");
  EXPECT_EQ(exported("csv", {.name = "u", .dtype = DType::kF32, .shape = {6}}, values),
            "row,value\n0,1\n1,0.1\n2,-2.5\n3,1e-30\n4,16777216\n5,3\n");
  EXPECT_EQ(exported("csv", {.name = "alpha"}, std::vector<double>{0.1}), "row,value\n0,0.1\n");
}

TEST(ExportFormatsTest, TextFormatsHoldEveryInteger) {
  const std::vector<std::int64_t> signed_values = {-9223372036854775807 - 1, 9007199254740993, 0, 9223372036854775807};
  EXPECT_EQ(exported("csv", {.name = "n", .dtype = DType::kI64, .shape = {4}}, signed_values),
            "row,value\n0,-9223372036854775808\n1,9007199254740993\n2,0\n3,9223372036854775807\n");
  EXPECT_EQ(exported("mtx", {.name = "n", .dtype = DType::kI64, .shape = {2, 2}}, signed_values),
            "%%MatrixMarket matrix array integer general\n2 2\n-9223372036854775808\n0\n9007199254740993\n"
            "9223372036854775807\n");
  const std::vector<std::uint64_t> values = {18446744073709551615u};
  EXPECT_EQ(exported("csv", {.name = "n", .dtype = DType::kU64}, values), "row,value\n0,18446744073709551615\n");
  const std::vector<std::uint8_t> bytes = {65, 255};
  EXPECT_EQ(exported("csv", {.name = "n", .dtype = DType::kU8, .shape = {2}}, bytes), "row,value\n0,65\n1,255\n");
  EXPECT_EQ(exported("mtx", {.name = "n", .dtype = DType::kI8, .shape = {2}}, bytes),
            "%%MatrixMarket matrix array integer general\n2 1\n65\n-1\n");
}

// A slice of three dimensions keeps its place on each axis, even on an axis where it has only one index.
TEST(ExportFormatsTest, ASliceOnAVtkGridLiesWhereItWas) {
  const auto image_of = [](std::vector<std::uint64_t> shape, const std::string& slice) {
    ExportTarget target = target_for("x.vti", {{{.name = "u", .dtype = DType::kU8, .shape = std::move(shape)}, {}}});
    target.variables[0].region = Slice(slice).of(target.variables[0].variable);
    const std::string text = vtk_head(target, {}).text;
    const std::size_t begin = text.find("WholeExtent");
    return text.substr(begin, text.find('>', begin) - begin);
  };
  EXPECT_EQ(image_of({6, 5, 4}, "2"), R"(WholeExtent="0 3 0 4 0 0" Origin="0 0 2" Spacing="1 1 1")");
  EXPECT_EQ(image_of({6, 5, 4}, "1:6:2,3,2:"), R"(WholeExtent="0 1 0 0 0 2" Origin="2 3 1" Spacing="1 1 2")");
  EXPECT_EQ(image_of({6, 5, 4}, ":,:,1"), R"(WholeExtent="0 0 0 4 0 5" Origin="1 0 0" Spacing="1 1 1")");
  EXPECT_EQ(image_of({5, 4}, "3"), R"(WholeExtent="0 3 0 0 0 0" Origin="0 3 0" Spacing="1 1 1")");
  EXPECT_EQ(image_of({7, 6, 5, 4}, "1,2"), R"(WholeExtent="0 3 0 4 0 0" Origin="0 0 2" Spacing="1 1 1")");
  EXPECT_EQ(image_of({7, 6, 5, 4}, ":,2"), R"(WholeExtent="0 3 0 4 0 6" Origin="0 0 0" Spacing="1 1 1")");
}

TEST(ExportFormatsTest, MatrixMarketHasColumnAfterColumn) {
  const std::vector<float> values = {1, 0.1f, -2.5f, 1e-30f, 16777216, 3};
  const std::string banner = "%%MatrixMarket matrix array real general\n";
  EXPECT_EQ(exported("mtx", {.name = "u", .dtype = DType::kF32, .shape = {2, 3}}, values),
            banner + "2 3\n1\n1e-30\n0.1\n16777216\n-2.5\n3\n");
  EXPECT_EQ(exported("mtx", {.name = "u", .dtype = DType::kF32, .shape = {6, 1}}, values),
            banner + "6 1\n1\n0.1\n-2.5\n1e-30\n16777216\n3\n");
  EXPECT_EQ(exported("mtx", {.name = "u", .dtype = DType::kF32, .shape = {1, 6}}, values),
            banner + "1 6\n1\n0.1\n-2.5\n1e-30\n16777216\n3\n");
  EXPECT_EQ(exported("mtx", {.name = "x", .shape = {2}}, std::vector<double>{0.1, 1.0 / 3}),
            banner + "2 1\n0.1\n0.3333333333333333\n");
  EXPECT_EQ(exported("mtx", {.name = "alpha"}, std::vector<double>{0.1}), banner + "1 1\n0.1\n");
}

TEST(ExportFormatsTest, TextFormatsRefuseComplexNumbersAndMoreThanTwoDimensions) {
  const auto refusal = [](const char* format, const Variable& variable) {
    return failure_line([&] { format_named(format).check(target_for("x", {{variable, {}}})); });
  };
  for (const char* name : {"csv", "mtx"}) {
    EXPECT_EQ(refusal(name, {.name = "z", .dtype = DType::kC128, .shape = {4}}),
              "--format: csv and mtx hold real numbers and integers of at most two dimensions, but 'z' is z c128[4]; "
              "use npy or npz");
    EXPECT_EQ(refusal(name, {.name = "u", .dtype = DType::kF32, .shape = {2, 3, 4}}),
              "--format: csv and mtx hold real numbers and integers of at most two dimensions, but 'u' is u "
              "f32[2,3,4]; use npy or npz");
    EXPECT_EQ(refusal(name, {.name = "n", .dtype = DType::kI64, .shape = {4}}), "");
    EXPECT_EQ(refusal(name, {.name = "u", .dtype = DType::kF32, .shape = {2, 3}}), "");
    EXPECT_EQ(refusal(name, {.name = "alpha"}), "");
  }
  for (const char* name : {"npy", "npz"}) {
    EXPECT_EQ(refusal(name, {.name = "z", .dtype = DType::kC64, .shape = {2, 3, 4}}), "");
  }
}

}  // namespace
}  // namespace ringside
