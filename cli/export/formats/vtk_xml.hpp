// SPDX-License-Identifier: BSD-3-Clause
// The text of one VTK XML file: its head with all arrays, whose raw bytes are appended after it.
// Specification: https://docs.vtk.org/en/latest/vtk_file_formats/vtkxml_file_format.html
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/export/formats/export_format.hpp"

namespace ringside {

/// The file's head, up to the appended data. The appended data are blocks; each block is its length as a 64-bit number,
/// followed by its bytes. `figures` contains the blocks with the step's figures; `block_bytes` has the lengths of all
/// later blocks. The later blocks contain the variables and, in an unstructured file, the arrays of its points and
/// cells: coordinates, connectivity, offsets, types.
struct VtkHead {
  std::string text;
  std::string figures;
  std::vector<std::uint64_t> block_bytes;
};

VtkHead vtk_head(const ExportTarget& target, const ExportedStep& step);

/// The text after the last block.
extern const char* const kVtkTail;

/// The text of the .pvd file of a series: the name of each file, with the file's iteration as the time.
struct VtkPart {
  std::uint64_t iteration = 0;
  std::string file;
};
std::string vtk_collection(const std::vector<VtkPart>& parts);

/// Escapes & < > and quotes as XML requires.
std::string xml_text(const std::string& text);

}  // namespace ringside
