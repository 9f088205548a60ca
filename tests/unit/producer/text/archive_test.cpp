// SPDX-License-Identifier: BSD-3-Clause
// Tar archives: which member is read, what is left out, what is refused, and the matrix that is read.
#include "producer/text/archive.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "producer/matrix/matrix_source.hpp"
#include "producer/text/matrix_text.hpp"
#include "tests/unit/expect_text.hpp"
#include "tests/unit/producer/matrix/matrix_testing.hpp"
#include "tests/unit/producer/text/archiving.hpp"
#include "tests/unit/producer/text/packing.hpp"

namespace ringside {
namespace {

using namespace testing;

const std::string kMatrix = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 3\n2 1 4\n";
const std::string kOther = "%%MatrixMarket matrix array real general\n2 1\n5\n6\n";

std::vector<Member> suite_sparse() {
  return {{.name = "web/", .kind = Member::Kind::kFolder},
          {.name = "web/web_b.mtx", .content = kOther},
          {.name = "web/web.mtx", .content = kMatrix},
          {.name = "web/web_coord.mtx", .content = kOther}};
}

/// The text that is taken from `archive`, or the error.
std::string text_in(const std::string& archive, const std::string& path = "/data/web.tar",
                    const std::string& member = "") {
  std::string text;
  const std::string error = failure_line([&] { text = matrix_text({nullptr, archive}, {path, member}).text.text; });
  EXPECT_TRUE(error.empty() || error.starts_with(path + ": ")) << error;
  return error.empty() ? text : error;
}

class Archive : public ::testing::Test {
 protected:
  Entries load(const std::string& name, const std::string& content) {
    return entries_of(load_matrix({.matrix = folder_.write(name, content)}, Orientation::kRows));
  }
  TemporaryFolder folder_;
};

TEST_F(Archive, TheMatrixNamedLikeItsFolderIsReadFromEveryPacking) {
  const Entries expected = {{0, 1, 3.0}, {1, 0, 4.0}};
  const std::string tar = tar_of(suite_sparse());
  EXPECT_EQ(load("renamed.tar", tar), expected);
  EXPECT_EQ(load("renamed.tar.gz", gzip_of(tar)), expected);
  EXPECT_EQ(load("renamed.tgz", gzip_of(tar)), expected);
  EXPECT_EQ(load("renamed.tar.xz", xz_of(tar)), expected);
  EXPECT_EQ(load("renamed.tar.bz2", bzip2_of(tar)), expected);
  EXPECT_EQ(load("renamed.tar.zst", zstd_of(tar)), expected);
  EXPECT_EQ(load("no_ending", gzip_of(tar)), expected);
}

TEST_F(Archive, EveryKindOfTarIsRead) {
  for (const TarFormat format : {TarFormat::kPax, TarFormat::kGnu, TarFormat::kUstar, TarFormat::kV7}) {
    EXPECT_EQ(text_in(tar_of(suite_sparse(), format)), kMatrix) << static_cast<int>(format);
  }
}

TEST_F(Archive, LongNamesAreRead) {
  const std::string name(150, 'n');
  for (const TarFormat format : {TarFormat::kPax, TarFormat::kGnu}) {
    EXPECT_EQ(text_in(tar_of({{.name = name + "/" + name + ".mtx", .content = kMatrix},
                              {.name = name + "/" + name + "_b.mtx", .content = kOther}},
                             format)),
              kMatrix);
  }
}

TEST_F(Archive, TheMatrixNamedLikeTheArchiveIsRead) {
  const std::string tar = tar_of({{.name = "a.mtx", .content = kOther}, {.name = "web.mtx", .content = kMatrix}});
  for (const char* path : {"web.tar", "/data/web.tar.gz", "web.tgz", "web.tar.zst"}) {
    EXPECT_EQ(text_in(tar, path), kMatrix) << path;
  }
}

TEST_F(Archive, TheOnlyMatrixMarketFileIsReadWhateverLiesBesideIt) {
  EXPECT_EQ(text_in(tar_of({{.name = "README", .content = "read me"},
                            {.name = "a/b/c.mtx", .content = kMatrix},
                            {.name = "a/b/._c.mtx", .content = "what a file manager adds"}})),
            kMatrix);
}

TEST_F(Archive, TheOnlyFileIsReadWhateverItsName) {
  EXPECT_EQ(text_in(tar_of({{.name = "./edges", .content = "0 1\n"}})), "0 1\n");
}

TEST_F(Archive, TwoMatricesAreRefusedAndListed) {
  const std::string tar = tar_of({{.name = "x/a.mtx", .content = kMatrix}, {.name = "x/b.mtx", .content = kOther}});
  EXPECT_EQ(text_in(tar),
            "/data/web.tar: found 2 .mtx files in the tar archive (x/a.mtx, x/b.mtx), expected one, or one named like "
            "its folder or the archive (NAME/NAME.mtx); name the intended file, as in /data/web.tar:x/a.mtx");
}

TEST_F(Archive, TwoMatricesNamedLikeTheirFoldersAreRefused) {
  const std::string tar = tar_of({{.name = "a/a.mtx", .content = kMatrix}, {.name = "b/b.mtx", .content = kOther}});
  expect_has(text_in(tar), {"found 2 .mtx files in the tar archive (a/a.mtx, b/b.mtx)"});
}

TEST_F(Archive, AMatrixThatLiesInTheArchiveTwiceIsRefused) {
  std::vector<Member> twice = suite_sparse();
  twice.push_back({.name = "web/web.mtx", .content = kOther});
  expect_has(text_in(tar_of(twice)), {"found 4 .mtx files"});
}

TEST_F(Archive, SeveralFilesWithoutAMatrixMarketNameAreRefusedAndSomeOfThemListed) {
  std::vector<Member> members;
  for (const char* name : {"a", "b\n", "c", "d", "e"}) members.push_back({.name = name, .content = "0 1\n"});
  expect_has(text_in(tar_of(members)), {"found 5 files in the tar archive (a, b\\n, c, d, ...), expected one"});
}

TEST_F(Archive, AnEmptyArchiveIsRefused) {
  const std::string expected = "found a tar archive without a regular file, expected one that holds a matrix";
  expect_has(text_in(tar_of({})), {expected});
  expect_has(text_in(gzip_of(std::string(10240, '\0'))), {expected});
}

TEST_F(Archive, OnlyRegularFilesAreRead) {
  const std::string expected = "found a tar archive without a regular file";
  for (const Member& member : {Member{.name = "web.mtx", .kind = Member::Kind::kSymbolicLink, .target = "/etc/passwd"},
                               Member{.name = "web.mtx", .kind = Member::Kind::kHardLink, .target = "/etc/passwd"},
                               Member{.name = "web.mtx", .kind = Member::Kind::kPipe},
                               Member{.name = "web.mtx/", .kind = Member::Kind::kFolder},
                               Member{.name = "web.mtx", .content = kMatrix, .kind = Member::Kind::kSparseFile}}) {
    SCOPED_TRACE(static_cast<int>(member.kind));
    expect_has(text_in(tar_of({member}, TarFormat::kPax)), {expected});
  }
  EXPECT_EQ(text_in(tar_of({{.name = "web/web.mtx", .kind = Member::Kind::kSymbolicLink, .target = "real.mtx"},
                            {.name = "web/real.mtx", .content = kMatrix}})),
            kMatrix);
}

TEST_F(Archive, AnAbsoluteOrClimbingPathIsOnlyAName) {
  EXPECT_EQ(text_in(tar_of({{.name = "/web/web.mtx", .content = kMatrix}, {.name = "b.mtx", .content = kOther}})),
            kMatrix);
  EXPECT_EQ(text_in(tar_of({{.name = "../../web/web.mtx", .content = kMatrix}, {.name = "b", .content = kOther}})),
            kMatrix);
}

TEST_F(Archive, EveryCutIsNoticedExceptWithinTheZerosAtTheEnd) {
  for (const TarFormat format : {TarFormat::kPax, TarFormat::kGnu, TarFormat::kUstar}) {
    const std::string tar = tar_of(suite_sparse(), format);
    const std::size_t end = (tar.find_last_not_of('\0') / 512 + 1) * 512;
    for (std::size_t bytes = 512; bytes < tar.size(); bytes += bytes % 512 == 0 ? std::size_t{1} : std::size_t{511}) {
      const std::string text = text_in(tar.substr(0, bytes));
      if (bytes >= end + 512) {
        EXPECT_EQ(text, kMatrix) << bytes;
      } else {
        EXPECT_EQ(text,
                  "/data/web.tar: found the end of the file within the tar data, expected a whole file (was it cut "
                  "short?)")
            << bytes;
      }
    }
  }
}

TEST_F(Archive, EveryFlippedBitOfAHeaderIsRefused) {
  const std::string tar = tar_of(suite_sparse());
  for (std::size_t bit = 0; bit < std::size_t{8} * 512; ++bit) {
    std::string damaged = tar;
    damaged[512 + bit / 8] ^= static_cast<char>(1 << bit % 8);
    const std::string text = text_in(damaged);
    // The field of the checksum ends with characters that have no effect.
    EXPECT_TRUE(text == kMatrix || text.find("found damaged tar data near byte") != std::string::npos ||
                text.find("found the end of the file within the tar data") != std::string::npos)
        << bit << ": " << text;
  }
}

TEST_F(Archive, BytesBehindTheEndAreRefusedAlsoIfTheyAreAnotherArchive) {
  const std::string tar = tar_of({{.name = "a.mtx", .content = kMatrix}});
  for (const std::string& behind : {std::string("x"), tar}) {
    expect_has(text_in(tar + behind), {"found bytes other than zeros after the end of the tar archive, which is at"});
  }
}

TEST_F(Archive, ADamagedPackingOfAnArchiveIsRefused) {
  std::string damaged = gzip_of(tar_of(suite_sparse()));
  damaged[damaged.size() - 8] ^= 1;
  expect_has(text_in(damaged), {"found damaged gzip data near byte"});
}

TEST_F(Archive, TextAndOtherBinaryFilesAreNotArchives) {
  EXPECT_FALSE(is_tar(""));
  EXPECT_FALSE(is_tar(std::string(600, '1')));
  EXPECT_FALSE(is_tar(std::string(257, '1') + "ustar" + std::string(600, '1'))) << "a text that holds the magic";
  EXPECT_FALSE(is_tar(std::string(512, '\0') + "x"));
  EXPECT_FALSE(is_tar(std::string(100, '\0') + std::string(600, '1')));
}

TEST_F(Archive, ErrorsNameTheMemberAndItsLine) {
  const std::string path = folder_.write(
      "a.tar.gz",
      gzip_of(tar_of({{.name = "x/x.mtx", .content = kMatrix + "1 2\n"}, {.name = "x/x_b.mtx", .content = kOther}})));
  const std::string error = failure_line([&] { load_matrix({.matrix = path}, Orientation::kRows); });
  EXPECT_TRUE(error.starts_with(path + ":x/x.mtx: line 5: found ")) << error;
}

TEST_F(Archive, TheEndingOfTheMemberDecidesNotThatOfTheArchive) {
  expect_has(failure_line([&] { load("x.tar.gz", gzip_of(tar_of({{.name = "a.mtx", .content = "0 1\n"}}))); }),
             {"expected '%%MatrixMarket"});
  EXPECT_EQ(load("x.mtx", gzip_of(tar_of({{.name = "a", .content = "0 1\n"}}))).size(), 1u);
}

TEST_F(Archive, AZipArchiveIsReadAsATarArchive) {
  const Entries expected = {{0, 1, 3.0}, {1, 0, 4.0}};
  EXPECT_EQ(load("renamed.zip", zip_of(suite_sparse())), expected);
  EXPECT_EQ(load("no_ending", zip_of({{.name = "a.mtx", .content = kMatrix}})), expected);
  EXPECT_EQ(text_in(zip_of({{.name = "a.mtx", .content = kOther}, {.name = "web.mtx", .content = kMatrix}}), "web.zip"),
            kMatrix);
  EXPECT_EQ(text_in(zip_of({{.name = "__MACOSX/._edges", .content = "x"}, {.name = "edges", .content = "0 1\n"}})),
            "0 1\n");
  EXPECT_EQ(text_in(zip_of({{.name = "empty", .content = ""}})), "");
  expect_has(text_in(zip_of({{.name = "x/a.mtx", .content = kMatrix}, {.name = "x/b.mtx", .content = kOther}})),
             {"found 2 .mtx files in the zip archive (x/a.mtx, x/b.mtx), expected one"});
  expect_has(text_in(zip_of({})), {"found no directory of members"});
}

TEST_F(Archive, ADamagedZipArchiveGivesTheSameTextOrAnError) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "0 1\n1 2\n" + std::string(1, static_cast<char>('0' + i % 10)) + " 3\n";
  const std::string zip = zip_of({{.name = "edges", .content = text}});
  for (std::size_t size = 4; size < zip.size(); ++size) {
    SCOPED_TRACE(size);
    expect_has(text_in(zip.substr(0, size)), {"found no directory of members at the end"});
  }
  for (std::size_t at = 4; at < zip.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = zip;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      const std::string found = text_in(damaged);
      EXPECT_TRUE(found == text || found.starts_with("/data/web.tar: found ")) << at << ' ' << bit << ": " << found;
    }
  }
}

TEST_F(Archive, AnEncryptedMemberOfAZipArchiveIsNamed) {
  expect_has(text_in(zip_of({{.name = "a.mtx", .content = kMatrix}}, "secret")),
             {"found the encrypted member 'a.mtx' in the zip archive, expected one that is not"});
}

TEST_F(Archive, AMemberIsNamedByItsPathOrTheLastPartsOfIt) {
  for (const std::string& archive : {tar_of(suite_sparse()), gzip_of(tar_of(suite_sparse())), zip_of(suite_sparse())}) {
    EXPECT_EQ(text_in(archive, "web", "web/web_b.mtx"), kOther);
    EXPECT_EQ(text_in(archive, "web", "web_b.mtx"), kOther);
    expect_has(text_in(archive, "web", "b.mtx"),
               {"found no 'b.mtx' in the ", "expected the path of one of these files: web/web_b.mtx, web/web.mtx"});
  }
  const std::string two = tar_of({{.name = "./x/a", .content = "0 1\n"}, {.name = "y/a", .content = "1 0\n"}});
  EXPECT_EQ(text_in(two, "two", "x/a"), "0 1\n");
  EXPECT_EQ(text_in(two, "two", "y/a"), "1 0\n");
  const std::string deep = tar_of({{.name = "job/x/a", .content = "0 1\n"}, {.name = "job/y/a", .content = "1 0\n"}});
  EXPECT_EQ(text_in(deep, "deep", "x/a"), "0 1\n");
  EXPECT_EQ(text_in(deep, "deep", "y/a"), "1 0\n");
  expect_has(text_in(two, "two", "a"),
             {"found more than one 'a' in the tar archive, expected the path of one of these files: ./x/a"});
  expect_has(text_in("0 1\n", "plain", "a"), {"found no archive of which 'a' could be a member"});
}

TEST_F(Archive, AColonNamesAMemberUnlessThereIsAFileOfTheWholeName) {
  const std::string archive = folder_.write("a:b.tar", tar_of(suite_sparse()));
  const auto loaded = [](const std::string& matrix) { return load_matrix({.matrix = matrix}, Orientation::kRows); };
  EXPECT_EQ(loaded(archive).columns, 2u);
  EXPECT_EQ(loaded(archive + ":web_b.mtx").columns, 1u);
  EXPECT_EQ(named_input(archive + ":x:y").member, "x:y");
  folder_.write("a:b.tar:edges", "0 1\n1 2\n");
  EXPECT_EQ(loaded(archive + ":edges").rows, 3u);
  expect_has(failure_line([&] { loaded(folder_.file("none.tar:a")); }), {"none.tar:a: cannot be opened"});
}

TEST_F(Archive, EachMemberHasACacheOfItsOwn) {
  const std::string archive = folder_.write("web.tar", tar_of(suite_sparse()));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(load_matrix({.matrix = archive, .cache = true}, Orientation::kRows).columns, 2u);
    EXPECT_EQ(load_matrix({.matrix = archive + ":web/web_b.mtx", .cache = true}, Orientation::kRows).columns, 1u);
  }
  EXPECT_TRUE(std::filesystem::exists(folder_.file("web.tar:web_b.mtx.rows.rsm")));
  EXPECT_TRUE(std::filesystem::exists(folder_.file("web.tar.rows.rsm")));
}

TEST_F(Archive, ACacheIsNamedAfterTheArchiveAndUsedAgain) {
  const MatrixOptions options = {.matrix = folder_.write("web.tar.gz", gzip_of(tar_of(suite_sparse()))), .cache = true};
  const Id128 id = load_matrix(options, Orientation::kRows).content_id;
  EXPECT_TRUE(std::filesystem::exists(folder_.file("web.tar.gz.rows.rsm")));
  EXPECT_EQ(load_matrix(options, Orientation::kRows).content_id, id);
}

}  // namespace
}  // namespace ringside
