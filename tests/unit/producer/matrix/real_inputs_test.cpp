// SPDX-License-Identifier: BSD-3-Clause
// For every file in the data folder, the expected outcome: the matrix that is read from it, or the text of the refusal.
// An independent reader (forty lines of Python with a dictionary of entries) computed the shapes and counts.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "producer/matrix/matrix_source.hpp"
#include "tests/unit/producer/matrix/matrix_testing.hpp"

namespace ringside {
namespace {

using testing::entries_of;

struct Readable {
  const char* file;
  std::uint64_t rows;
  std::uint64_t columns;
  std::uint64_t nonzeros;
  bool is_pattern;
};

struct Refused {
  const char* file;
  std::vector<std::string> fragments;
};

constexpr Readable kReadable[] = {
    {"bad/edgelist/cugraph_dolphins_multi_edge.csv", 62, 62, 318, false},
    {"bad/edgelist/cugraph_karate-disjoint-sequential.csv", 37, 37, 158, false},
    {"bad/edgelist/cugraph_karate_s_loop.csv", 34, 34, 160, false},
    {"bad/edgelist/cugraph_toy_graph_undirected.csv", 6, 6, 8, false},
    {"bad/edgelist/networkit_comments.edgelist", 10, 10, 20, true},
    {"bad/edgelist/networkit_spaceseparated_weighted.edgelist", 3, 3, 3, false},
    {"bad/edgelist/wild_roadNet-CA_excerpt.txt", 459, 459, 1000, true},
    {"bad/edgelist/wild_web-Stanford_excerpt_crlf.txt", 1054, 1054, 1980, true},
    {"bad/lagraph_mangled/empty.mtx", 3, 4, 0, false},
    {"bad/lagraph_mangled/mangled14.mtx", 3, 4, 2, false},
    {"bad/lagraph_mangled/mangled_int32.mtx", 7, 7, 11, false},
    {"bad/lagraph_mangled/mangled_skew.mtx", 6, 6, 18, false},
    {"bad/lagraph_mangled/mangled_uint32.mtx", 7, 7, 10, false},
    {"bad/mtx_permissive/permissive_banner_leading_spaces_eye3.mtx", 3, 3, 3, false},
    {"bad/mtx_permissive/permissive_lines_indented.mtx", 1, 1, 1, false},
    {"bad/mtx_permissive/windows_newlines.mtx", 3, 3, 3, false},
    {"graphs/cit-HepPh.txt.xz", 34546, 34546, 421578, true},
    {"graphs/cnr-2000-llp.txt.xz", 325557, 325557, 3216152, true},
    {"graphs/cnr-2000-url.txt.xz", 325557, 325557, 3216152, true},
    {"graphs/ego-Twitter-u.mtx.xz", 81306, 81306, 2684606, true},
    {"graphs/email-Enron.mtx.xz", 36692, 36692, 367662, true},
    {"graphs/luxembourg_osm.mtx", 114599, 114599, 239332, true},
    {"graphs/p2p-Gnutella31.txt", 62586, 62586, 147892, true},
    {"graphs/wb-cs-stanford.mtx", 9914, 9914, 36854, true},
    {"graphs/wiki-Vote.txt", 7115, 7115, 103689, true},
    {"matrices/add32.mtx", 4960, 4960, 19848, false},
    {"matrices/bcsstk01.mtx", 48, 48, 400, false},
    {"matrices/bcsstk13.mtx", 2003, 2003, 83883, false},
    {"matrices/cage10.mtx.xz", 11397, 11397, 150645, false},
    {"matrices/cage11.mtx.xz", 39082, 39082, 559722, false},
    {"matrices/cage8.mtx", 1015, 1015, 11003, false},
    {"matrices/ct2010_sddm.mtx.xz", 67578, 67578, 403930, false},
    {"matrices/fidapex6.mtx", 1651, 1651, 49062, false},
    {"matrices/lap2D_5pt_n100.mtx", 10000, 10000, 49600, false},
    {"matrices/lap3D_7pt_n20.mtx", 8000, 8000, 53600, false},
    {"small/494_bus.mtx", 494, 494, 1666, false},
    {"small/LFAT5.mtx", 14, 14, 46, false},
    {"small/ca-GrQc.mtx", 5242, 5242, 28980, true},
    {"small/cage5.mtx", 37, 37, 233, false},
    {"small/comments_west0067.mtx", 67, 67, 295, false},
    {"small/dolphins.csv", 62, 62, 318, false},
    {"small/full.mtx", 3, 3, 9, false},
    {"small/full_symmetric.mtx", 4, 4, 16, false},
    {"small/gapbs_4.el", 13, 13, 58, true},
    {"small/gapbs_4.mtx", 14, 14, 58, true},
    {"small/gapbs_4.wel", 13, 13, 58, false},
    {"small/gapbs_4w.mtx", 14, 14, 58, false},
    {"small/gr_30_30.mtx", 900, 900, 7744, false},
    {"small/harvard500.txt", 500, 500, 2636, true},
    {"small/jagmesh7.mtx", 1138, 1138, 7450, true},
    {"small/karate.mtx", 34, 34, 156, true},
    {"small/ldbc-directed-example.mtx", 10, 10, 17, false},
    {"small/lp_afiro.mtx", 27, 51, 102, false},
    {"small/symmetry/2col_array.mtx", 3, 2, 6, false},
    {"small/symmetry/array_skew-symmetric.mtx", 3, 3, 6, false},
    {"small/symmetry/array_skew-symmetric_general.mtx", 3, 3, 6, false},
    {"small/symmetry/array_symmetric.mtx", 3, 3, 9, false},
    {"small/symmetry/array_symmetric_general.mtx", 3, 3, 9, false},
    {"small/symmetry/coordinate_hermitian_real_row_general.mtx", 3, 3, 5, false},
    {"small/symmetry/coordinate_hermitian_real_row_general_dup.mtx", 3, 3, 5, false},
    {"small/symmetry/coordinate_hermitian_real_row_general_zero.mtx", 3, 3, 5, false},
    {"small/symmetry/coordinate_pattern_symmetric_row.mtx", 3, 3, 4, true},
    {"small/symmetry/coordinate_pattern_symmetric_row_general.mtx", 3, 3, 4, true},
    {"small/symmetry/coordinate_pattern_symmetric_row_general_dup.mtx", 3, 3, 4, true},
    {"small/symmetry/coordinate_pattern_symmetric_row_general_zero.mtx", 3, 3, 4, true},
    {"small/symmetry/coordinate_skew_symmetric_row.mtx", 3, 3, 4, false},
    {"small/symmetry/coordinate_skew_symmetric_row_general.mtx", 3, 3, 4, false},
    {"small/symmetry/coordinate_skew_symmetric_row_general_dup.mtx", 3, 3, 4, false},
    {"small/symmetry/coordinate_skew_symmetric_row_general_zero.mtx", 3, 3, 4, false},
    {"small/symmetry/coordinate_symmetric_row.mtx", 3, 3, 5, false},
    {"small/symmetry/coordinate_symmetric_row_general.mtx", 3, 3, 5, false},
    {"small/symmetry/coordinate_symmetric_row_general_dup.mtx", 3, 3, 5, false},
    {"small/symmetry/coordinate_symmetric_row_general_zero.mtx", 3, 3, 5, false},
    {"small/symmetry/eye3.mtx", 3, 3, 3, false},
    {"small/symmetry/eye3_array.mtx", 3, 3, 3, false},
    {"small/symmetry/eye3_pattern.mtx", 3, 3, 3, true},
    {"small/symmetry/eye3_str.mtx", 3, 3, 3, false},
    {"small/symmetry/kepner_gilbert_graph.mtx", 7, 7, 12, false},
    {"small/symmetry/nist_ex1.mtx", 5, 5, 8, false},
    {"small/symmetry/nist_ex1_freeformat.mtx", 5, 5, 8, false},
    {"small/symmetry/nist_ex1_more_freeformat.mtx", 5, 5, 8, false},
    {"small/symmetry/row_3by4.mtx", 3, 4, 4, false},
    {"small/types/matrix_bool.mtx", 7, 7, 7, false},
    {"small/types/matrix_fp32.mtx", 7, 7, 11, false},
    {"small/types/matrix_fp32_structure.mtx", 7, 7, 12, true},
    {"small/types/matrix_fp64.mtx", 7, 7, 11, false},
    {"small/types/matrix_int16.mtx", 7, 7, 11, false},
    {"small/types/matrix_int32.mtx", 7, 7, 11, false},
    {"small/types/matrix_int64.mtx", 7, 7, 11, false},
    {"small/types/matrix_int8.mtx", 7, 7, 11, false},
    {"small/types/matrix_uint16.mtx", 7, 7, 10, false},
    {"small/types/matrix_uint32.mtx", 7, 7, 10, false},
    {"small/types/matrix_uint64.mtx", 7, 7, 10, false},
    {"small/types/matrix_uint8.mtx", 7, 7, 10, false},
    {"small/types/skew_fp32.mtx", 6, 6, 20, false},
    {"small/types/skew_fp64.mtx", 6, 6, 20, false},
    {"small/types/skew_int16.mtx", 6, 6, 18, false},
    {"small/types/skew_int32.mtx", 6, 6, 18, false},
    {"small/types/skew_int64.mtx", 6, 6, 18, false},
    {"small/types/skew_int8.mtx", 6, 6, 18, false},
    {"small/west0067.mtx", 67, 67, 294, false},
};

const Refused kRefused[] = {
    {"bad/edgelist/cugraph_karate_mod.mtx", {"line 1", "'2 1'", "%%MatrixMarket"}},
    {"bad/edgelist/cugraph_negative-vertex-id.csv", {"line 1", "'-1'", "whole numbers from 0"}},
    {"bad/edgelist/networkit_tiny_04.graph", {"METIS", "an edge list"}},
    {"bad/lagraph_mangled/garbage.lagraph", {"line 1", "'{'", "a node id"}},
    {"bad/lagraph_mangled/mangled10.mtx", {"line 6", "after 2 entries", "the 3 entries that line 4"}},
    {"bad/lagraph_mangled/mangled12.mtx", {"line 5", "'1 1'", "row column value"}},
    {"bad/lagraph_mangled/mangled16.mtx", {"line 5", "'.959'", "one number per line"}},
    {"bad/lagraph_mangled/mangled3.mtx", {"line 1", "'mangled'", "'pattern'"}},
    {"bad/lagraph_mangled/mangled5.mtx", {"line 1", "'hermitian'", "'symmetric'"}},
    {"bad/lagraph_mangled/mangled7.mtx", {"line 5", "'1 1'", "row column value"}},
    {"bad/lagraph_mangled/mangled9.mtx", {"line 4", "3 rows and 4 columns", "as many rows as columns"}},
    {"bad/lagraph_mangled/mangled_format.mtx", {"line 1", "'pattern'", "in an array"}},
    {"bad/lagraph_mangled/west0067_noheader.mtx", {"line 1", "'67 67 294'", "%%MatrixMarket"}},
    {"bad/mtx_invalid/invalid_bad_banner.mtx", {"line 1", "__BadBanner", "%%MatrixMarket"}},
    {"bad/mtx_invalid/invalid_bad_field.mtx", {"line 1", "'____'", "'real'"}},
    {"bad/mtx_invalid/invalid_bad_object.mtx", {"line 1", "'___'", "'matrix'"}},
    {"bad/mtx_invalid/invalid_bad_value.mtx", {"line 3", "'not_a_double'", "a number"}},
    {"bad/mtx_invalid/invalid_bad_value_3.mtx", {"line 1", "'vector'", "'matrix'"}},
    {"bad/mtx_invalid/invalid_dimensions_out_of_range_1.mtx", {"line 3", "'-3'", "a whole number from 0"}},
    {"bad/mtx_invalid/invalid_dimensions_out_of_range_3.mtx", {"line 3", "'-3'", "a whole number from 0"}},
    {"bad/mtx_invalid/invalid_indices_out_of_range_2.mtx", {"line 6", "'2000'", "a column from 1 to 7"}},
    {"bad/mtx_invalid/invalid_indices_out_of_range_4.mtx", {"line 6", "'0'", "a column from 1 to 7"}},
    {"bad/mtx_invalid/invalid_indices_out_of_range_6.mtx", {"line 6", "'-2'", "a column from 1 to 7"}},
    {"bad/mtx_invalid/invalid_symmetry_vector.mtx", {"line 1", "'vector'", "'matrix'"}},
    {"bad/mtx_invalid/invalid_truncated_header_2.mtx",
     {"line 1", "'%%MatrixMarket matrix array real'", "general|symmetric"}},
    {"bad/mtx_invalid/invalid_truncated_line_2.mtx", {"line 5", "'5'", "row column value"}},
    {"bad/mtx_invalid/invalid_vector_array_too_long.mtx", {"line 1", "'vector'", "'matrix'"}},
    {"bad/mtx_invalid/invalid_vector_index_out_of_range_1.mtx", {"line 1", "'vector'", "'matrix'"}},
    {"bad/mtx_invalid/invalid_vector_negative_length.mtx", {"line 1", "'vector'", "'matrix'"}},
    {"bad/mtx_invalid/sprs_too_many_elems_in_entry.mm", {"line 5", "'4' after the entry", "row column value"}},
    {"bad/mtx_overflow/dim_over_32_bit.mtx",
     {"line 3", "'1099511627776 1099511627776 3'", "at most 8388608 rows and columns"}},
    {"bad/mtx_overflow/longcomplex_coordinate.mtx", {"line 1", "'complex'", "'real'"}},
    {"bad/mtx_overflow/longdouble_coordinate.mtx", {"line 4", "'1E310'", "a double's range"}},
    {"bad/mtx_overflow/overflow_index_gt_int64.mtx", {"line 6", "'19223372036854775808'", "a row from 1 to 1000"}},
    {"bad/mtx_overflow/overflow_value_gt_complex128.mtx", {"line 1", "'complex'", "'real'"}},
    {"bad/mtx_overflow/overflow_value_gt_float64.mtx", {"line 4", "'1E310'", "a double's range"}},
    {"bad/mtx_overflow/overflow_value_gt_int64.mtx", {"line 6", "'19223372036854775808'", "a whole number of 64 bits"}},
    {"bad/mtx_overflow/vector_coordinate_real_general.mtx", {"line 1", "'vector'", "'matrix'"}},
    {"graphs/wing.graph", {"METIS", "an edge list"}},
    {"small/polblogs.graph", {"METIS", "an edge list"}},
    {"small/symmetry/array_hermitian.mtx", {"line 1", "'complex'", "'real'"}},
    {"small/symmetry/array_hermitian_general.mtx", {"line 1", "'complex'", "'real'"}},
    {"small/symmetry/coordinate_hermitian_real_row.mtx", {"line 1", "'hermitian'", "'symmetric'"}},
    {"small/symmetry/coordinate_hermitian_row.mtx", {"line 1", "'complex'", "'real'"}},
    {"small/symmetry/coordinate_hermitian_row_general.mtx", {"line 1", "'complex'", "'real'"}},
    {"small/symmetry/coordinate_hermitian_row_general_dup.mtx", {"line 1", "'complex'", "'real'"}},
    {"small/symmetry/coordinate_hermitian_row_general_zero.mtx", {"line 1", "'complex'", "'real'"}},
    {"small/symmetry/eye3_complex.mtx", {"line 1", "'complex'", "'real'"}},
    {"small/symmetry/vector_array.mtx", {"line 1", "'vector'", "'matrix'"}},
    {"small/symmetry/vector_coordinate.mtx", {"line 1", "'vector'", "'matrix'"}},
    {"small/symmetry/vector_coordinate_complex.mtx", {"line 1", "'vector'", "'matrix'"}},
    {"small/symmetry/vector_coordinate_complex_dupes.mtx", {"line 1", "'vector'", "'matrix'"}},
    {"small/symmetry/vector_coordinate_dupes.mtx", {"line 1", "'vector'", "'matrix'"}},
    {"small/types/complex.mtx", {"line 1", "'complex'", "'real'"}},
};

class RealInputs : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* const folder = std::getenv("RINGSIDE_TEST_DATA");
    folder_ = folder != nullptr ? folder : RINGSIDE_SOURCE_DIR "/../shared/data";
    if (!std::filesystem::is_directory(folder_))
      GTEST_SKIP() << "no data folder at " << folder_ << " (RINGSIDE_TEST_DATA)";
  }
  std::string path(const std::string& file) const { return folder_ + '/' + file; }
  CsrMatrix load(const std::string& file, Orientation orientation = Orientation::kRows) const {
    return load_matrix({.matrix = path(file)}, orientation);
  }
  std::string folder_;
};

TEST_F(RealInputs, ReadableFilesHaveTheExpectedShapeInBothOrientations) {
  for (const Readable& expected : kReadable) {
    SCOPED_TRACE(expected.file);
    const CsrMatrix rows = load(expected.file);
    EXPECT_EQ(rows.rows, expected.rows);
    EXPECT_EQ(rows.columns, expected.columns);
    EXPECT_EQ(rows.nonzeros(), expected.nonzeros);
    EXPECT_EQ(rows.is_pattern(), expected.is_pattern);
    const CsrMatrix in_links = load(expected.file, Orientation::kInLinks);
    EXPECT_EQ(in_links.rows, expected.columns);
    EXPECT_EQ(in_links.columns, expected.rows);
    EXPECT_EQ(in_links.nonzeros(), expected.nonzeros);
  }
}

TEST_F(RealInputs, RefusedFilesSayLineWhatWasFoundAndWhatIsAccepted) {
  for (const Refused& expected : kRefused) {
    const std::string error = failure_line([&] { load(expected.file); });
    EXPECT_TRUE(error.starts_with(path(expected.file))) << error;
    expect_has(error, expected.fragments);
  }
}

TEST_F(RealInputs, NoFileIsWithoutAnExpectedOutcome) {
  std::set<std::string> expected;
  for (const Readable& readable : kReadable) expected.insert(readable.file);
  for (const Refused& refused : kRefused) expected.insert(refused.file);
  for (const char* part : {"bad", "small", "graphs", "matrices"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path(part))) {
      if (!entry.is_regular_file()) continue;
      EXPECT_EQ(expected.count(std::filesystem::relative(entry.path(), folder_).string()), 1u) << entry.path();
    }
  }
}

TEST_F(RealInputs, SymmetricFilesEqualTheirGeneralTwins) {
  const std::vector<std::vector<std::string>> twins = {
      {"array_skew-symmetric", "array_skew-symmetric_general"},
      {"array_symmetric", "array_symmetric_general"},
      {"coordinate_symmetric_row", "coordinate_symmetric_row_general", "coordinate_symmetric_row_general_zero"},
      {"coordinate_skew_symmetric_row", "coordinate_skew_symmetric_row_general",
       "coordinate_skew_symmetric_row_general_dup", "coordinate_skew_symmetric_row_general_zero"},
      {"coordinate_pattern_symmetric_row", "coordinate_pattern_symmetric_row_general",
       "coordinate_pattern_symmetric_row_general_dup"},
      {"eye3", "eye3_array", "eye3_str"},
      {"nist_ex1", "nist_ex1_freeformat", "nist_ex1_more_freeformat"}};
  for (const std::vector<std::string>& group : twins) {
    const CsrMatrix first = load("small/symmetry/" + group[0] + ".mtx");
    for (std::size_t i = 1; i < group.size(); ++i) {
      SCOPED_TRACE(group[i]);
      testing::expect_same_matrix(load("small/symmetry/" + group[i] + ".mtx"), first);
    }
  }
}

TEST_F(RealInputs, ADuplicatedDiagonalEntryIsAddedUp) {
  const CsrMatrix matrix = load("small/symmetry/coordinate_symmetric_row_general_dup.mtx");
  EXPECT_EQ(entries_of(matrix).back(), std::make_tuple(2u, 2u, 60.0));
}

TEST_F(RealInputs, NodeOrdersOfOneGraphHaveTheSameDegrees) {
  const auto degrees = [](const CsrMatrix& matrix) {
    std::multiset<std::uint64_t> lengths;
    for (std::uint64_t row = 0; row < matrix.rows; ++row)
      lengths.insert(matrix.row_begin[row + 1] - matrix.row_begin[row]);
    return lengths;
  };
  const CsrMatrix llp = load("graphs/cnr-2000-llp.txt.xz");
  const CsrMatrix url = load("graphs/cnr-2000-url.txt.xz");
  EXPECT_NE(llp.content_id, url.content_id);
  EXPECT_EQ(degrees(llp), degrees(url));
  EXPECT_EQ(degrees(llp).count(0), 78056u);
}

TEST_F(RealInputs, IdsWithGapsAreKeptAsNames) {
  const CsrMatrix votes = load("graphs/wiki-Vote.txt");
  ASSERT_EQ(votes.id.size(), 7115u);
  EXPECT_EQ(votes.id[0], 3u);
  EXPECT_EQ(votes.id[7114], 8297u);
  EXPECT_TRUE(load("graphs/p2p-Gnutella31.txt").id.empty());
}

}  // namespace
}  // namespace ringside
