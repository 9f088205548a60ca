// SPDX-License-Identifier: BSD-3-Clause
// Records and status as JSON, under the names and units of proto/ringside.proto, generated from its descriptors: a
// field that is added there appears here. Ids are hexadecimal, other whole numbers stay numbers, NaN and infinity are
// null.
#pragma once

#include <nlohmann/json.hpp>

#include "proto/ringside.pb.h"

namespace ringside {

/// {"seq": 17, "unix_ns": …, "event": "step", then the fields of that kind}. An unknown kind of record has no event.
nlohmann::ordered_json to_json(const wire::Record& record);

nlohmann::ordered_json to_json(const wire::Status& status);

}  // namespace ringside
