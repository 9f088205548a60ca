// SPDX-License-Identifier: BSD-3-Clause
// Golden bytes of a schema, computed by a separate script from docs/publish/variables.md and the packaged libxxhash,
// and the bytes from a peer or a file that are refused.
#include "common/schema/schema_layout.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "common/schema/schema.hpp"
#include "tests/unit/expect_text.hpp"
#include "tests/unit/failure_line.hpp"

namespace ringside {
namespace {

Schema golden_schema() {
  return Schema::of({{.name = "x", .dtype = DType::kF64, .shape = {1000}},
                     {.name = "flux.u", .dtype = DType::kC64, .shape = {2, 3}, .role = Role::kState, .unit = "m s-1"}});
}

TEST(SchemaLayoutTest, ADescriptionHasItsGoldenBytes) {
  const std::vector<VariableDescription> descriptions = golden_schema().encode();
  const auto* bytes = reinterpret_cast<const unsigned char*>(&descriptions[1]);
  const auto hex = [&](std::size_t begin, std::size_t end) {
    std::string text;
    for (std::size_t i = begin; i < end; ++i) text += fmt::format("{:02x}", bytes[i]);
    return text;
  };
  EXPECT_EQ(hex(0, 64), "666c75782e75" + std::string(2 * 58, '0'));
  EXPECT_EQ(hex(64, 96), "6d20732d31" + std::string(2 * 27, '0'));
  EXPECT_EQ(hex(96, 104), "0300020002000000");
  EXPECT_EQ(hex(104, 168), "02000000000000000300000000000000" + std::string(2 * 48, '0'));
}

TEST(SchemaLayoutTest, ASchemaHasItsGoldenId) {
  EXPECT_EQ(to_string(Schema::x_only(1000).id()), "4178a3f206f9b87a680c5f14e78273c7");
  EXPECT_EQ(to_string(golden_schema().id()), "73050ce9bbca4307c3f5f817f84bade5");
}

TEST(SchemaLayoutTest, DecodingGivesTheSchemaAgain) {
  const Schema schema = golden_schema();
  const Schema again = Schema::decode(schema.encode(), "attach request");
  EXPECT_EQ(to_text(again), to_text(schema));
  EXPECT_EQ(again, schema);
}

TEST(SchemaLayoutTest, BytesThatNoSchemaHasAreRefused) {
  struct Case {
    std::function<void(VariableDescription&)> change;
    const char* line;
  };
  const Case cases[] = {
      {[](auto& v) { v.name[10] = 'y'; }, "variable 1: bytes after its name are not 0"},
      {[](auto& v) { v.unit[31] = 'y'; }, "variable 1: bytes after its unit are not 0"},
      {[](auto& v) { std::memset(v.name, 'n', sizeof v.name); },
       "variable 1: found a name of 64 bytes ('nnnnnnnnnnnnnnnn...'); expected 1 to 63 of A-Z a-z 0-9 _ . -, beginning "
       "with a letter or _"},
      {[](auto& v) { std::memset(v.unit, 'm', sizeof v.unit); },
       "variable 'flux.u': found a unit of 32 bytes; expected at most 31 printable ASCII characters"},
      {[](auto& v) { v.shape[2] = 1; }, "variable 1: numbers after its shape are not 0"},
      {[](auto& v) { v.dims = 9; }, "variable 1: found 9 dimensions; expected 0 to 8"},
      {[](auto& v) { v.dims = 3; }, "variable 'flux.u': shape (2, 3, 0): dimension 2 is 0; expected at least 1"},
      {[](auto& v) { v.dtype = 0; },
       "variable 'flux.u': dtype 0; expected one of f32, f64, c64, c128, i8, i16, i32, i64, u8, u16, u32, u64"},
      {[](auto& v) { v.role = 0; }, "variable 'flux.u': role 0; expected field or state"},
  };
  for (const Case& wrong : cases) {
    std::vector<VariableDescription> descriptions = golden_schema().encode();
    wrong.change(descriptions[1]);
    const std::string line = failure_line([&] { Schema::decode(descriptions, "attach request"); });
    EXPECT_EQ(between("attach request: ", line, ""), wrong.line);
  }
}

}  // namespace
}  // namespace ringside
