// SPDX-License-Identifier: BSD-3-Clause
#include "common/reductions/reduction_json.hpp"

#include "common/json/json.hpp"

namespace ringside {

Json to_json_in_full(const Reductions& r, std::uint64_t iteration) {
  Json json = to_json(r, iteration);
  json["rows"] = r.rows;
  json["sum"] = r.sum;
  json["non_finite"] = r.non_finite;
  const auto change = [&r](double value) { return r.has_change == 1 ? Json(value) : Json(); };
  json["change_l1"] = change(r.change_l1);
  json["change_l2"] = change(r.change_l2);
  json["change_linf"] = change(r.change_linf);
  json["top"] = Json::array();
  for (std::uint64_t i = 0; i < r.top_count && i < kTopEntries; ++i) {
    json["top"].push_back({{"row", r.top[i].row}, {"value", r.top[i].value}});
  }
  json["histogram"] = r.histogram;
  return json.sorted();
}

}  // namespace ringside
