// SPDX-License-Identifier: BSD-3-Clause
// Records and status as JSON, with the names and units of proto/ringside.proto. The JSON is generated from the
// descriptors of that file, so that a new field also appears here. Ids are hexadecimal, other whole numbers stay
// numbers, and NaN and infinity are null.
#pragma once

#include "common/json/json.hpp"
#include "common/records/result_names.hpp"
#include "proto/ringside.pb.h"

namespace ringside {

/// {"seq": 17, "unix_ns": …, "event": "step", then the fields of that kind}. An unknown kind of record has no event. A
/// step's `results` are {name: value}. The older keys of steps (`residual_l1`, `residual_linf`, `reductions`) have the
/// values of ShownFigures, null where they are absent.
Json to_json(const wire::Record& record, const ResultNames& names = {});

Json to_json(const wire::Status& status);

}  // namespace ringside
