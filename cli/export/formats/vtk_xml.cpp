// SPDX-License-Identifier: BSD-3-Clause
#include "cli/export/formats/vtk_xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>

#include "cli/export/formats/result_columns.hpp"

namespace ringside {
namespace {

std::string vtk_type(DType dtype) {
  constexpr const char* kNames[] = {"Float32", "Float64", "Float32", "Float64", "Int8",   "Int16",
                                    "Int32",   "Int64",   "UInt8",   "UInt16",  "UInt32", "UInt64"};
  return kNames[static_cast<std::uint16_t>(dtype) - 1];
}

/// VTK has no complex numbers: a complex number becomes two components.
std::string components_of(DType dtype) {
  if (class_of(dtype) != DTypeClass::kComplex) return {};
  return R"( NumberOfComponents="2" ComponentName0="real" ComponentName1="imag")";
}

/// The attribute in which VTK expects the unit of an array.
std::string unit_of(const std::string& unit) {
  return unit.empty() ? std::string()
                      : fmt::format(R"(<InformationKey name="UNITS_LABEL" location="vtkDataArray">{}</InformationKey>)",
                                    xml_text(unit));
}

std::string text_figure(const std::string& name, const std::string& text) {
  std::string codes;
  for (const char c : text) codes += fmt::format("{} ", static_cast<int>(static_cast<unsigned char>(c)));
  return fmt::format(R"(   <Array type="String" Name="{}" NumberOfTuples="1" format="ascii">{}0</Array>)"
                     "\n",
                     name, codes);
}

/// Origin, spacing and extent of a variable's grid; x is the last dimension. A slice keeps its position: a dimension
/// with a single index keeps its axis, unless the variable has more dimensions than VTK has axes.
struct Grid {
  std::uint64_t extents[3] = {1, 1, 1};
  std::uint64_t origin[3] = {0, 0, 0};
  std::uint64_t spacing[3] = {1, 1, 1};
};

Grid grid_of(const Region& region) {
  std::vector<IndexRange> ranges = region.ranges;
  while (ranges.size() > std::size(Grid().extents)) {
    ranges.erase(std::find_if(ranges.begin(), ranges.end(), [](const IndexRange& range) { return range.dropped; }));
  }
  Grid grid;
  std::size_t axis = 0;
  for (std::size_t d = ranges.size(); d-- > 0;) {
    const IndexRange& range = ranges[d];
    grid.extents[axis] = range.count;
    grid.origin[axis] = range.first;
    grid.spacing[axis] = range.step;
    ++axis;
  }
  return grid;
}

std::string three(const std::uint64_t (&values)[3]) {
  return fmt::format("{} {} {}", values[0], values[1], values[2]);
}

/// Declares an appended array and counts its bytes.
void declare(VtkHead& head, std::uint64_t& offset, const std::string& attributes, std::uint64_t bytes,
             const std::string& inside = {}) {
  head.text += fmt::format(R"(    <DataArray {} format="appended" offset="{}">{}</DataArray>)"
                           "\n",
                           attributes, offset, inside);
  offset += sizeof(std::uint64_t) + bytes;
}

void declare_block(VtkHead& head, std::uint64_t& offset, const std::string& attributes, std::uint64_t bytes,
                   const std::string& inside = {}) {
  declare(head, offset, attributes, bytes, inside);
  head.block_bytes.push_back(bytes);
}

/// Adds a number that belongs to the whole step. The number is stored as raw bytes, because VTK can read neither a NaN
/// nor an array with a unit from text.
template <class T>
void add_figure(VtkHead& head, std::uint64_t& offset, const char* type, const std::string& name, T value,
                const std::string& unit = {}) {
  static_assert(sizeof value == sizeof(std::uint64_t));
  declare(head, offset, fmt::format(R"(type="{}" Name="{}" NumberOfTuples="1")", type, xml_text(name)), sizeof value,
          unit_of(unit));
  const std::uint64_t block[] = {sizeof value, std::bit_cast<std::uint64_t>(value)};
  head.figures.append(reinterpret_cast<const char*>(block), sizeof block);
}

/// Adds the numbers that belong to the whole step. ParaView uses TimeValue as the file's time.
void add_field_data(VtkHead& head, std::uint64_t& offset, const ExportedStep& step) {
  head.text += "  <FieldData>\n";
  add_figure(head, offset, "Float64", "TimeValue", static_cast<double>(step.iteration));
  add_figure(head, offset, "UInt64", "iteration", step.iteration);
  add_figure(head, offset, "UInt64", "step", step.step);
  head.text += text_figure("run_id", step.run_id);
  ExportColumns results;
  results.add(step.results);
  for (const ResultColumn& column : results.columns()) {
    if (!column.values[0].present) continue;
    if (column.is_integer()) {
      add_figure(head, offset, "Int64", column.name, column.i64()[0], column.unit);
    } else {
      add_figure(head, offset, "Float64", column.name, column.f64()[0], column.unit);
    }
  }
  head.text += "  </FieldData>\n";
}

}  // namespace

const char* const kVtkTail = "\n </AppendedData>\n</VTKFile>\n";

VtkHead vtk_head(const ExportTarget& target, const ExportedStep& step) {
  const bool points = !target.points.empty();
  const char* kind = points ? "UnstructuredGrid" : "ImageData";
  const std::uint64_t entries = target.variables.at(0).region.entries();
  VtkHead head;
  std::uint64_t offset = 0;
  head.text = fmt::format(R"(<?xml version="1.0"?>
<VTKFile type="{}" version="1.0" byte_order="LittleEndian" header_type="UInt64">
)",
                          kind);
  if (points) {
    head.text += " <UnstructuredGrid>\n";
    add_field_data(head, offset, step);
    head.text += fmt::format("  <Piece NumberOfPoints=\"{0}\" NumberOfCells=\"{0}\">\n", entries);
  } else {
    const Grid grid = grid_of(target.variables[0].region);
    const std::string extent =
        fmt::format("0 {} 0 {} 0 {}", grid.extents[0] - 1, grid.extents[1] - 1, grid.extents[2] - 1);
    head.text += fmt::format(" <ImageData WholeExtent=\"{}\" Origin=\"{}\" Spacing=\"{}\">\n", extent,
                             three(grid.origin), three(grid.spacing));
    add_field_data(head, offset, step);
    head.text += fmt::format("  <Piece Extent=\"{}\">\n", extent);
  }
  head.text += "   <PointData>\n";
  for (const ExportedVariable& one : target.variables) {
    const Variable& variable = one.variable;
    declare_block(
        head, offset,
        fmt::format(R"(type="{}" Name="{}"{})", vtk_type(variable.dtype), variable.name, components_of(variable.dtype)),
        entries * bytes_of(variable.dtype), unit_of(variable.unit));
  }
  head.text += "   </PointData>\n";
  if (points) {
    head.text += "   <Points>\n";
    declare_block(head, offset, R"(type="Float64" Name="points" NumberOfComponents="3")", entries * 3 * sizeof(double));
    head.text += "   </Points>\n   <Cells>\n";
    declare_block(head, offset, R"(type="Int64" Name="connectivity")", entries * sizeof(std::int64_t));
    declare_block(head, offset, R"(type="Int64" Name="offsets")", entries * sizeof(std::int64_t));
    declare_block(head, offset, R"(type="UInt8" Name="types")", entries);
    head.text += "   </Cells>\n";
  }
  head.text += fmt::format("  </Piece>\n </{}>\n <AppendedData encoding=\"raw\">\n  _", kind);
  return head;
}

std::string vtk_collection(const std::vector<VtkPart>& parts) {
  std::string text = R"(<?xml version="1.0"?>
<VTKFile type="Collection" version="1.0" byte_order="LittleEndian" header_type="UInt64">
 <Collection>
)";
  for (const VtkPart& part : parts) {
    text += fmt::format("  <DataSet timestep=\"{}\" part=\"0\" file=\"{}\"/>\n", part.iteration, xml_text(part.file));
  }
  return text + " </Collection>\n</VTKFile>\n";
}

std::string xml_text(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

}  // namespace ringside
