// SPDX-License-Identifier: BSD-3-Clause
// How accurate are predictions of the published measurements that `ringside plan` does not cover? The program measures
// nothing; bench/plan.py uses it.
//   competitions  both groups' rates (S. G. Fagerheim's thesis, Tables 3 to 5), predicted from STREAM in the node file
//   placement     the formula's best number of NVDIMM threads, compared with the times that the thesis measured for
//                 both versions of the stencil (Tables 11 to 14)
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "bench/programs/bench_program.hpp"
#include "common/platform/error.hpp"
#include "node/file/node_file.hpp"
#include "node/model/predicted_copies.hpp"
#include "node/workloads/placement.hpp"

namespace ringside::bench {
namespace {

Json competitions_of(const Node& node) {
  const PredictedCopies copies(node, "nvdimm");
  Json found = Json::array();
  for (const Competition& competition : node.competitions) {
    const int accesses = (competition.second_from == "nvdimm" ? 1 : 0) + (competition.second_to == "nvdimm" ? 1 : 0);
    const std::vector<double> errors = copies.errors(competition, accesses);
    double sum = 0;
    double largest = 0;
    for (const double error : errors) {
      sum += std::abs(error);
      largest = std::max(largest, std::abs(error));
    }
    found.push_back({{"first", competition.first_from + " to " + competition.first_to},
                     {"second", competition.second_from + " to " + competition.second_to},
                     {"splits", competition.rows.size()},
                     {"mean_error", sum / static_cast<double>(errors.size())},
                     {"largest_error", largest},
                     {"errors_first_and_second", errors}});
  }
  return found;
}

/// The seconds per sweep with 16 threads, of which 1 to 5 work on NVDIMM.
struct PublishedStencil {
  int version;
  const char* table;
  double side;
  std::array<double, 5> total_s;
};
constexpr PublishedStencil kStencils[] = {{1, "11", 31'623, {0.3457, 0.3427, 0.3542, 0.3578, 0.3512}},
                                          {1, "12", 100'000, {6.1124, 7.1181, 7.8412, 7.3231, 7.7681}},
                                          {2, "13", 31'623, {0.3138, 0.3135, 0.3196, 0.3367, 0.3205}},
                                          {2, "14", 100'000, {4.9889, 6.0841, 6.6954, 6.5336, 6.7233}}};

template <typename Figures>
std::size_t least_of(const Figures& figures) {
  return static_cast<std::size_t>(std::min_element(figures.begin(), figures.end()) - figures.begin());
}

bool has_placements(const Competition& competition) {
  return std::any_of(competition.rows.begin(), competition.rows.end(),
                     [](const CompetitionRow& row) { return row.second_threads <= 5; });
}

/// rates: the competition within NVDIMM, by the number of NVDIMM threads; it has placements.
Json placement_of(const Competition& rates) {
  Json found = Json::array();
  for (const PublishedStencil& stencil : kStencils) {
    std::array<double, 5> predicted_s{};
    predicted_s.fill(std::numeric_limits<double>::infinity());  // a split that is missing in the file is never chosen
    for (const CompetitionRow& row : rates.rows) {
      if (row.second_threads > 5) continue;
      const double bytes = 16 * stencil.side * stencil.side;
      predicted_s[static_cast<std::size_t>(row.second_threads - 1)] =
          place(bytes, row.first_gb_s.value, row.second_gb_s.value).seconds;
    }
    const std::size_t chosen = least_of(predicted_s);
    const std::size_t best = least_of(stencil.total_s);
    found.push_back({{"version", stencil.version},
                     {"table", stencil.table},
                     {"side", stencil.side},
                     {"predicted_s", predicted_s},
                     {"published_s", stencil.total_s},
                     {"chosen_nvdimm_threads", chosen + 1},
                     {"published_best_nvdimm_threads", best + 1},
                     {"published_best_found", chosen == best},
                     {"loss", stencil.total_s[chosen] / stencil.total_s[best] - 1}});
  }
  return found;
}

}  // namespace
}  // namespace ringside::bench

int main(int argc, char** argv) {
  using namespace ringside;
  using namespace ringside::bench;
  BenchProgram program(
      "published",
      "Predicts published competitions and placements, and compares the predictions with the published measurements");
  std::string node_file;
  program.line.option("--node", node_file, "the published node").required().value_name("FILE");
  return program.run(argc, argv, [&](Json& report) {
    const Node node = read_node(node_file);
    const auto within = std::find_if(node.competitions.begin(), node.competitions.end(), [](const Competition& c) {
      return c.second_from == "nvdimm" && c.second_to == "nvdimm" && has_placements(c);
    });
    if (within == node.competitions.end()) {
      throw usage_error(
          "--node: {}: found no competition within nvdimm with 1 to 5 threads, expected the published one", node_file);
    }
    report["competitions"] = competitions_of(node);
    report["placement"] = placement_of(*within);
  });
}
