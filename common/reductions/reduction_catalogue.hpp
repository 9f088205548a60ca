// SPDX-License-Identifier: BSD-3-Clause
// The reductions that this release computes, as descriptions by class of dtype (docs/publish/variables.md, section 3),
// and the catalogues made of them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "common/reductions/kernels/reduction_table.hpp"
#include "common/results/catalogue.hpp"

namespace ringside {

/// The descriptions of all reductions, in the order of the results of a field. A reduction whose type depends on the
/// class of the dtype occurs once for each type.
std::span<const ResultDescription> reduction_descriptions();

/// The results of a run with these variables: for every field, our own reductions and then the reductions of plug-ins
/// (PlugInSet::descriptions); after all fields, the scalars. Throws Error (exit code 2), for instance if two results
/// have the same full name.
Catalogue catalogue_of(const Schema& schema, std::span<const Scalar> scalars = {},
                       std::span<const ResultDescription> plug_ins = {});

/// residual_l1 and residual_linf (f64), which the built-in solvers publish with each step.
std::span<const Scalar> residual_scalars();

/// The results that the record `Reductions` contains, for one f64 field `x` of `entries` entries, and also
/// residual_scalars. Runs of the built-in solvers of older releases have these results.
Catalogue x_only_catalogue(std::uint64_t entries);

/// For a run whose description is lost: the results that the built-in solvers of this release or of older ones record,
/// if their hash is `hash`.
std::optional<Catalogue> usual_catalogue(const Schema& schema, std::uint64_t hash);

}  // namespace ringside
