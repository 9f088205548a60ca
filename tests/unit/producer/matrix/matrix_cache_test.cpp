// SPDX-License-Identifier: BSD-3-Clause
// A cache returns the matrix that was written, or reports that it is damaged. A golden test fixes the bytes on disk.
#include "producer/matrix/matrix_cache.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>

#include "producer/matrix/edge_list.hpp"
#include "producer/matrix/grid.hpp"
#include "producer/matrix/matrix_checks.hpp"
#include "producer/matrix/matrix_market.hpp"
#include "producer/matrix/matrix_source.hpp"
#include "tests/unit/expect_text.hpp"
#include "tests/unit/producer/matrix/matrix_testing.hpp"

namespace ringside {
namespace {

using testing::content_of;

const char* const kWeighted = "%%MatrixMarket matrix coordinate real general\n4 4 4\n1 2 0.5\n2 1 3\n3 3 -1\n4 1 2\n";

CsrMatrix weighted() {
  return read_matrix_market(kWeighted, "a", Orientation::kRows);
}

CsrMatrix read_file(const std::string& path, Orientation orientation = Orientation::kRows) {
  return read_matrix_cache(map_file(path), path, orientation);
}

class MatrixCache : public ::testing::Test {
 protected:
  /// Writes a cache and returns its path.
  std::string cache_of(const CsrMatrix& matrix, const CacheSource& source = {.text = "a"}) const {
    write_matrix_cache(matrix, source, folder_.file("a.rsm"));
    return folder_.file("a.rsm");
  }
  const testing::TemporaryFolder folder_;
};

TEST_F(MatrixCache, GivesBackWhatWasWritten) {
  const CsrMatrix matrices[] = {weighted(), make_grid(40, Orientation::kRows), make_grid(1, Orientation::kRows),
                                read_edge_list("7 9 1\n9 7 2\n", "a", Orientation::kRows)};
  for (const CsrMatrix& matrix : matrices) {
    const CsrMatrix mapped = read_file(cache_of(matrix));
    testing::expect_same_matrix(mapped, matrix);
    EXPECT_EQ(mapped.is_pattern(), matrix.is_pattern());
  }
}

TEST_F(MatrixCache, BytesOnDiskAreThoseOfTheDocument) {
  const CacheSource source{.text = "e.txt", .bytes = 8, .hash = {12345, 67890}};
  const std::string bytes = content_of(cache_of(read_edge_list("7 9\n9 8\n", "a", Orientation::kInLinks), source));
  ASSERT_EQ(bytes.size(), 4u * 4096);
  const auto word = [&](std::size_t offset) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  };
  EXPECT_EQ(bytes.substr(0, 24), std::string("RSMATRIX\x02\0\0\0\x04\x03\x02\x01\x01\0\0\0\0\0\0\0", 24));
  EXPECT_EQ(word(24), 3u);      // rows
  EXPECT_EQ(word(32), 3u);      // columns
  EXPECT_EQ(word(40), 2u);      // nonzeros
  EXPECT_EQ(word(48), 4096u);   // row_begin
  EXPECT_EQ(word(56), 8192u);   // column
  EXPECT_EQ(word(64), 0u);      // no values
  EXPECT_EQ(word(72), 12288u);  // id
  EXPECT_EQ(word(80), 16384u);  // file
  EXPECT_EQ(word(88), 8u);      // source's size
  EXPECT_EQ(word(96), 12345u);  // source's hash
  EXPECT_EQ(word(104), 67890u);
  EXPECT_STREQ(bytes.data() + 128, "e.txt");
  // The edges are 7 -> 9 and 9 -> 8. The rows of 7, 8 and 9 list the nodes that link to them.
  EXPECT_EQ(word(4096), 0u);
  EXPECT_EQ(word(4104), 0u);
  EXPECT_EQ(word(4112), 1u);
  EXPECT_EQ(word(4120), 2u);
  EXPECT_EQ(bytes.substr(8192, 8), std::string("\x02\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(word(12288), 7u);
  EXPECT_EQ(word(12296), 8u);
  EXPECT_EQ(word(12304), 9u);
  // The two hashes that this version computes.
  EXPECT_EQ(to_string(Id128{word(112), word(120)}), "251789e41099a75cb9dd6fa6c2d8bfa6");
  EXPECT_EQ(to_string(Id128{word(496), word(504)}), "024def3f8f11ac728820b4ef2cf57310");
}

TEST_F(MatrixCache, BelongsToItsOwner) {
  struct stat status {};
  ASSERT_EQ(stat(cache_of(weighted()).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(MatrixCache, EveryFlippedBitOfTheContentIsDamage) {
  const std::string bytes = content_of(cache_of(weighted()));
  const CsrMatrix matrix = weighted();
  const std::pair<std::size_t, std::size_t> sections[] = {{16, 512},
                                                          {4096, 4096 + matrix.row_begin.bytes()},
                                                          {8192, 8192 + matrix.column.bytes()},
                                                          {12288, 12288 + matrix.value.bytes()}};
  for (const auto& [first, last] : sections) {
    for (std::size_t at = first; at < last; ++at) {
      std::string damaged = bytes;
      damaged[at] ^= 4;
      const std::string path = folder_.write("b.rsm", damaged);
      SCOPED_TRACE(at);
      expect_has(failure_line([&] { read_file(path); }, ExitCode::kDamaged), {"b.rsm: the matrix cache's "});
    }
  }
}

TEST_F(MatrixCache, EveryCutIsDamage) {
  const std::string bytes = content_of(cache_of(weighted()));
  for (const std::size_t size : {8u, 100u, 511u, 512u, 4095u, 4096u, 5000u, 12289u, 16383u, 16385u}) {
    std::string cut = bytes;
    cut.resize(size);
    const std::string path = folder_.write("b.rsm", cut);
    SCOPED_TRACE(size);
    expect_has(failure_line([&] { read_file(path); }, ExitCode::kDamaged), {"b.rsm: found "});
  }
}

// A changed cache with corrected hashes must not make a solver access memory outside its arrays.
TEST_F(MatrixCache, AForgedMatrixIsRefused) {
  const auto forge = [&](const auto& change) {
    CsrMatrix matrix = weighted();
    change(matrix);
    matrix.content_id = hash_content(matrix);
    return failure_line([&] { read_file(cache_of(matrix)); }, ExitCode::kDamaged);
  };
  expect_has(forge([](CsrMatrix& m) { m.column[3] = 4; }), {"do not form a matrix"});
  expect_has(forge([](CsrMatrix& m) { m.row_begin[2] = 5; }), {"do not form a matrix"});
  expect_has(forge([](CsrMatrix& m) { m.row_begin[4] = 3; }), {"do not form a matrix"});
  expect_has(forge([](CsrMatrix& m) { m.row_begin[0] = 1; }), {"do not form a matrix"});
  EXPECT_EQ(forge([](CsrMatrix&) {}), "");
}

TEST_F(MatrixCache, AForgedHeaderIsRefused) {
  const std::string bytes = content_of(cache_of(weighted()));
  const auto forge = [&](const std::function<void(CacheHeader&)>& change) {
    std::string forged = bytes;
    CacheHeader header;
    std::memcpy(&header, forged.data(), sizeof header);
    change(header);
    header.header_hash = hash128(&header, offsetof(CacheHeader, header_hash));
    std::memcpy(forged.data(), &header, sizeof header);
    return folder_.write("b.rsm", forged);
  };
  const std::function<void(CacheHeader&)> lies[] = {[](CacheHeader& h) { h.rows = ~std::uint64_t{0}; },
                                                    [](CacheHeader& h) { h.rows = 0; },
                                                    [](CacheHeader& h) { h.columns = 0; },
                                                    [](CacheHeader& h) { h.nonzeros = std::uint64_t{1} << 62; },
                                                    [](CacheHeader& h) { h.column_offset = 4096; },
                                                    [](CacheHeader& h) { h.value_offset = 1; },
                                                    [](CacheHeader& h) { h.id_offset = 4096; },
                                                    [](CacheHeader& h) { h.file_bytes += 4096; },
                                                    [](CacheHeader& h) { h.orientation = 7; },
                                                    [](CacheHeader& h) { h.row_begin_offset = ~std::uint64_t{4095}; }};
  for (const auto& lie : lies) {
    const std::string path = forge(lie);
    EXPECT_NE(failure_line([&] { read_file(path); }, ExitCode::kDamaged), "");
  }
  const std::string newer = forge([](CacheHeader& h) { h.version = 3; });
  expect_has(failure_line([&] { read_file(newer); }), {"version 3, expected version 2"});
  const std::string foreign = forge([](CacheHeader& h) { h.byte_order = 0x04030201; });
  expect_has(failure_line([&] { read_file(foreign); }), {"another byte order"});
  expect_has(failure_line([&] { read_file(folder_.file("a.rsm"), Orientation::kInLinks); }),
             {"that stores rows, expected one that stores in-links"});
}

TEST_F(MatrixCache, AFolderThatCannotBeWrittenIsNamedWithTheWayOut) {
  const auto write = [] { write_matrix_cache(weighted(), {.text = "a"}, "/proc/nowhere/a.rsm"); };
  const std::string error = failure_line(write, ExitCode::kSystem);
  expect_has(error, {"/proc/nowhere/a.rsm: the matrix cache cannot be created", "--cache-dir"});
}

TEST_F(MatrixCache, WhenTheDiskIsFullWhatWasThereStaysAndNothingIsLeftBehind) {
  cache_of(weighted());
  // A limit on the size of files simulates a full disk.
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit limited{65536, before.rlim_max};
  const auto signal_before = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &limited);
  const auto write = [&] {
    write_matrix_cache(make_grid(100, Orientation::kRows), {.text = "g"}, folder_.file("a.rsm"));
  };
  const std::string error = failure_line(write, ExitCode::kSystem);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, signal_before);
  expect_has(error, {"a.rsm: the matrix cache cannot "});
  testing::expect_same_matrix(read_file(folder_.file("a.rsm")), weighted());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
}

class MatrixSource : public ::testing::Test {
 protected:
  CsrMatrix load(const std::string& matrix, bool cache = false, const std::string& cache_dir = "") const {
    return load_matrix({.matrix = matrix, .cache = cache, .cache_dir = cache_dir}, Orientation::kRows);
  }
  // Shows whether a cache was used or written again, because `ino` changes whenever the cache is written.
  static ino_t inode(const std::string& path) {
    struct stat status {};
    return stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
  }
  testing::TemporaryFolder folder_;
  const std::string path_ = folder_.write("a.mtx", kWeighted);
  const std::string cache_ = path_ + ".rows.rsm";
};

TEST_F(MatrixSource, TellsTheKindsOfInputApart) {
  EXPECT_EQ(load("grid:3").nonzeros(), 40u);
  EXPECT_EQ(load("rmat:4").rows, 16u);
  EXPECT_EQ(load("rmat:4:2").content_id, load("rmat:4:2:1").content_id);
  EXPECT_EQ(load(folder_.write("a.txt", kWeighted)).value.size(), 4u);
  EXPECT_EQ(load(folder_.write("b.mtx", std::string("\xef\xbb\xbf") + kWeighted)).value.size(), 4u);
  EXPECT_EQ(load(folder_.write("c", "0 1\n")).rows, 2u);
}

TEST_F(MatrixSource, ACacheFileCanBeNamedAsTheMatrix) {
  EXPECT_EQ(write_cache({.matrix = path_}, Orientation::kRows), cache_);
  testing::expect_same_matrix(load(cache_), load(path_));
  testing::expect_same_matrix(load(cache_, true), load(path_));
  EXPECT_EQ(write_cache({.matrix = path_}, Orientation::kInLinks), path_ + ".in-links.rsm");
}

TEST_F(MatrixSource, ACacheIsUsedWhileTheFileIsUnchangedAndWrittenAnewAfterwards) {
  const CsrMatrix first = load(path_, true);
  const ino_t written = inode(cache_);
  ASSERT_NE(written, 0u);
  // The old file is held open, so that a new file cannot get its number.
  const std::ifstream keep_first(cache_);
  testing::expect_same_matrix(load(path_, true), first);
  EXPECT_EQ(inode(cache_), written);

  folder_.write("a.mtx", std::string(kWeighted) + "\n");
  testing::expect_same_matrix(load(path_, true), first);
  EXPECT_NE(inode(cache_), written);
}

// Disk images, package stores and some archives give all files the same time. A file that is overwritten in place also
// keeps its inode number.
TEST_F(MatrixSource, AFileOfTheSameSizeAndTimeButOtherContentIsAnother) {
  const auto written = std::filesystem::last_write_time(path_);
  load(path_, true);
  std::string other = kWeighted;
  other[other.size() - 2] = '7';  // the last entry's 2
  folder_.write("a.mtx", other);
  std::filesystem::last_write_time(path_, written);
  const CsrMatrix loaded = load(path_, true);
  testing::expect_same_matrix(loaded, load(path_));
  EXPECT_NE(loaded.content_id, weighted().content_id);
}

TEST_F(MatrixSource, ACopyUnderTheSameNameUsesTheCacheThatCameWithIt) {
  load(path_, true);
  const std::string copy = folder_.file("copy");
  std::filesystem::create_directory(copy);
  for (const char* const file : {"/a.mtx", "/a.mtx.rows.rsm"}) {
    std::filesystem::copy(folder_.path() + file, copy + file);
  }
  const ino_t copied = inode(copy + "/a.mtx.rows.rsm");
  const std::ifstream keep_it(copy + "/a.mtx.rows.rsm");
  testing::expect_same_matrix(load(copy + "/a.mtx", true), weighted());
  EXPECT_EQ(inode(copy + "/a.mtx.rows.rsm"), copied);
}

TEST_F(MatrixSource, ACacheOfOtherColumnsIsAnother) {
  const std::string path = folder_.write("a.txt", "0 1 5\n1 0 7\n");
  const auto read = [&](const std::string& columns) {
    return load_matrix({.matrix = path, .cache = true, .columns = columns}, Orientation::kRows);
  };
  EXPECT_FALSE(read("").is_pattern());
  EXPECT_TRUE(read("from,to,skip").is_pattern());
  EXPECT_FALSE(read("from,to,weight").is_pattern());
}

TEST_F(MatrixSource, ColumnsAreRefusedWhereThereIsNoEdgeList) {
  const std::string cache = write_cache({.matrix = path_}, Orientation::kRows);
  for (const std::string& matrix : {path_, cache, std::string("grid:3")}) {
    const MatrixOptions options{.matrix = matrix, .columns = "from,to"};
    const std::string error = failure_line([&] { load_matrix(options, Orientation::kRows); });
    EXPECT_EQ(error.find("--columns: found with " + matrix), 0u) << error;
  }
}

TEST_F(MatrixSource, ACacheOfAnotherVersionIsWrittenAnew) {
  load(path_, true);
  std::string bytes = content_of(cache_);
  for (const char version : {'\x01', '\x09'}) {
    bytes[8] = version;
    folder_.write("a.mtx.rows.rsm", bytes);
    EXPECT_EQ(load(path_, true).nonzeros(), 4u);
    EXPECT_EQ(content_of(cache_)[8], kCacheVersion);
  }
}

TEST_F(MatrixSource, ADamagedCacheIsReportedNotUsed) {
  load(path_, true);
  std::string bytes = content_of(cache_);
  bytes[8192] ^= 1;
  folder_.write("a.mtx.rows.rsm", bytes);
  expect_has(failure_line([&] { load(path_, true); }, ExitCode::kDamaged), {"content is damaged"});
}

TEST_F(MatrixSource, AFileThatIsNoCacheIsNeverOverwritten) {
  folder_.write("a.mtx.rows.rsm", "my notes");
  EXPECT_NE(failure_line([&] { load(path_, true); }), "");
  EXPECT_NE(failure_line([&] { write_cache({.matrix = path_, .cache = true}, Orientation::kRows); }), "");
  EXPECT_EQ(content_of(cache_), "my notes");
}

TEST_F(MatrixSource, TheCacheFolderCanBeChosen) {
  const std::string folder = folder_.file("caches");
  std::filesystem::create_directory(folder);
  load("grid:5", true, folder);
  EXPECT_NE(inode(folder + "/grid-5.rows.rsm"), 0u);
  load(folder_.write("a.mtx", kWeighted), true, folder);
  EXPECT_NE(inode(folder + "/a.mtx.rows.rsm"), 0u);
  EXPECT_EQ(inode(folder_.file("a.mtx.rows.rsm")), 0u);
}

TEST_F(MatrixSource, WhatCannotBeAMatrixIsRefused) {
  const std::pair<std::string, std::string> wrong[] = {
      {"", "expected FILE, grid:SIDE or rmat:SCALE"},
      {"grid:", "found ''"},
      {"grid:0", "from 1 to 65535"},
      {"grid:65536", "from 1 to 65535"},
      {"grid:12x", "found '12x'"},
      {"grid:-1", "found '-1'"},
      {"rmat:0", "scale from 1 to 31"},
      {"rmat:99", "scale from 1 to 31"},
      {"rmat:4:", "found ''"},
      {"rmat:4:0", "factor from 1 to 1024"},
      {"rmat:4:1:1:1", "found 4 numbers"},
      {folder_.file("absent.mtx"), "No such file"},
      {folder_.path(), "found a folder"},
      {folder_.write("empty.mtx", ""), "line 1: found the end of the file"},
      {folder_.write("empty.txt", ""), "found no edge"},
      {folder_.write("a.graph", "3 2\n2\n1 3\n2\n"), "METIS"},
      {folder_.write("a.bin", std::string("\177ELF\0\0\0", 7)), "found a binary file"},
      {folder_.write("noheader.mtx", "3 3 1\n1 1 1\n"), "line 1: found '3 3 1', expected '%%MatrixMarket"}};
  for (const auto& [matrix, message] : wrong) {
    SCOPED_TRACE(matrix);
    for (const bool cache : {false, true}) {
      expect_has(failure_line([&, name = matrix] { load(name, cache); }), {message});
    }
  }
}

}  // namespace
}  // namespace ringside
