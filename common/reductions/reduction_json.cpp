// SPDX-License-Identifier: BSD-3-Clause
#include "common/reductions/reduction_json.hpp"

#include <nlohmann/json.hpp>

namespace ringside {

nlohmann::json to_json_in_full(const Reductions& r, std::uint64_t iteration) {
  nlohmann::json json = to_json(r, iteration);
  json["rows"] = r.rows;
  json["sum"] = r.sum;
  json["non_finite"] = r.non_finite;
  const auto change = [&r](double value) { return r.has_change == 1 ? nlohmann::json(value) : nlohmann::json(); };
  json["change_l1"] = change(r.change_l1);
  json["change_l2"] = change(r.change_l2);
  json["change_linf"] = change(r.change_linf);
  json["top"] = nlohmann::json::array();
  for (std::uint64_t i = 0; i < r.top_count && i < kTopEntries; ++i) {
    json["top"].push_back({{"row", r.top[i].row}, {"value", r.top[i].value}});
  }
  json["histogram"] = r.histogram;
  return json;
}

}  // namespace ringside
