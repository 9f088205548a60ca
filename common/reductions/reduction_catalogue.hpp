// SPDX-License-Identifier: BSD-3-Clause
// The reductions that this release computes, as descriptions by class of dtype (docs/publish/variables.md, section 3),
// and the catalogues made of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "common/reductions/kernels/reduction_table.hpp"
#include "common/results/catalogue.hpp"

namespace ringside {

/// Of all, in the order of the results of a field. One that differs in type between classes stands once for each type.
std::span<const ResultDescription> reduction_descriptions();

/// The results of a run with these variables: of every field every reduction of our own, then those of plug-ins
/// (PlugInSet::descriptions); then the scalars. Throws Error (exit code 2): a full name twice, for instance.
Catalogue catalogue_of(const Schema& schema, std::span<const Scalar> scalars = {},
                       std::span<const ResultDescription> plug_ins = {});

/// residual_l1 and residual_linf (f64): what the built-in solvers publish with each step.
std::span<const Scalar> residual_scalars();

/// The results that the record `Reductions` holds: of one f64 field `x` of `entries` entries; and residual_scalars. Runs
/// of the built-in solvers of older releases have these.
Catalogue x_only_catalogue(std::uint64_t entries);

/// What runs of the built-in solvers record, by this release or by older ones, if it has that hash: for a run whose
/// description is lost.
std::optional<Catalogue> usual_catalogue(const Schema& schema, std::uint64_t hash);

}  // namespace ringside
