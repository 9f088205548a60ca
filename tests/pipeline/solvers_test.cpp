// SPDX-License-Identifier: BSD-3-Clause
// The table of solvers is the only list of solvers: each solver in the table runs, has a cache, and is named by the
// help, the manual pages, the completions and the refusals of every command that takes --solver, and by the
// documentation.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "producer/solver/solver_table.hpp"
#include "tests/pipeline/pipeline_fixture.hpp"

namespace ringside {
namespace {

using namespace testing::names;

class SolversTest : public PipelineTest {
 protected:
  static std::string names(const char* separator) {
    return fmt::format("{}", fmt::join(names_of(solver_choices()), separator));
  }

  static void expect_output_with(const std::string& program, const Words& arguments, const Words& fragments) {
    const Finished ran = expect_exit(0, run(program, arguments));
    for (const std::string& fragment : fragments) {
      EXPECT_NE(ran.out.find(fragment), std::string::npos)
          << program << " " << fmt::format("{}", fmt::join(arguments, " ")) << ": '" << fragment << "'";
    }
  }

  // Every solver accepts this matrix: it is symmetric, positive definite and diagonally dominant, and has positive
  // weights.
  const std::string matrix_ = write_file("a.txt", "0 0 4\n0 1 1\n1 0 1\n1 1 3\n");
};

/// The commands that take --solver.
const std::vector<std::pair<std::string, Words>> kCommands = {{"ringside", {"run"}},
                                                              {"ringside", {"cache"}},
                                                              {"ringside", {"plan"}},
                                                              {"ringside", {"calibrate"}},
                                                              {"ringside-producer", {}}};

TEST_F(SolversTest, EachOneRuns) {
  for (const SolverEntry* solver : solvers()) {
    for (const char* mode : {"dram", "pipeline"}) {
      std::filesystem::remove(pool_);
      expect_exit(0, run_it(matrix_, {fmt::format("--mode={}", mode), "--iterations=3", "--quiet",
                                      fmt::format("--solver={}", solver->choice.name)}));
      EXPECT_EQ(summary()["solver"], solver->choice.name);
      EXPECT_GT(summary()["iterations"], 0);
    }
  }
}

TEST_F(SolversTest, EachOneHasTheCacheOfItsOrientation) {
  for (const SolverEntry* solver : solvers()) {
    const std::string cache = matrix_ + (solver->orientation == Orientation::kRows ? ".rows.rsm" : ".in-links.rsm");
    std::filesystem::remove(cache);
    expect_output_with("ringside", {"cache", matrix_, fmt::format("--solver={}", solver->choice.name)}, {cache});
    EXPECT_TRUE(std::filesystem::exists(cache)) << solver->choice.name;
  }
}

TEST_F(SolversTest, EveryCommandOffersAllOfThemInHelpAndManualAndRefusesOthers) {
  for (const auto& [program, subcommand] : kCommands) {
    const auto with = [&words = subcommand](const char* word) {
      Words arguments = words;
      arguments.emplace_back(word);
      return arguments;
    };
    expect_output_with(program, with("--help"), {"--solver " + names("|")});
    expect_output_with(program, with("--help-as=man"), {"\\fI" + names("|") + "\\fR"});
    const Finished refused = expect_exit(2, run(program, with("--solver=gauss")));
    expect_has(refused.err, {"--solver: found 'gauss', expected " + names("|")});
  }
}

TEST_F(SolversTest, TheHelpDescribesEachOneAndWhatItsToleranceBounds) {
  for (const SolverEntry* solver : solvers()) {
    const SolverChoice& choice = solver->choice;
    const Words fragments = {fmt::format("{} ({})", choice.name, choice.help),
                             fmt::format("the {} (", choice.criterion)};
    expect_output_with("ringside", {"run", "--help"}, fragments);
    expect_output_with("ringside-producer", {"--help"}, fragments);
  }
}

TEST_F(SolversTest, EveryCompletionOffersAllOfThem) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    std::size_t offered = 0;
    for (const char* program : {"ringside", "ringside-producer"}) {
      std::istringstream text(expect_exit(0, run(program, {std::string("--help-as=") + shell})).out);
      for (std::string line; std::getline(text, line);) {
        if (line.find("solver") != std::string::npos && line.find(names(" ")) != std::string::npos) ++offered;
      }
    }
    EXPECT_EQ(offered, kCommands.size()) << shell;
  }
}

TEST_F(SolversTest, TheDocumentationHasARowForEachOne) {
  const std::string page = content_of(RINGSIDE_SOURCE_DIR "/docs/use/run.md");
  for (const SolverEntry* solver : solvers()) {
    EXPECT_NE(page.find(fmt::format("\n| `{}` | ", solver->choice.name)), std::string::npos) << solver->choice.name;
  }
}

}  // namespace
}  // namespace ringside
