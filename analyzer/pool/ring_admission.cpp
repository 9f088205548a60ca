// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/pool/ring_admission.hpp"

#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/pool/dax.hpp"
#include "analyzer/pool/foreign_file.hpp"
#include "analyzer/pool/pool_file.hpp"
#include "analyzer/ring/kept_results.hpp"
#include "common/files/new_file.hpp"
#include "common/platform/error.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "common/reductions/reduction_catalogue.hpp"
#include "common/results/catalogue.hpp"
#include "common/ring/ring_recovery.hpp"
#include "common/ring/storage.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

/// A text such as "pagerank of web.mtx"; or only the solver, because a program need not name its problem.
std::string problem_of(const RunDescription& run) {
  const std::string problem(text_of(run.matrix));
  return problem.empty() ? std::string(text_of(run.solver)) : fmt::format("{} of {}", text_of(run.solver), problem);
}

void refuse_iterates_in(const RingView& ring, const std::string& path) {
  const Recovery found = recover(ring);
  if (found.kept.empty()) return;
  const SlotHeader& newest = found.kept.back().header;
  const auto run = ring.run(newest.run_id);
  throw usage_error(
      "{}: the pool holds {} iterates of another run ({}, newest iteration {}); give --resume to continue from there, "
      "--overwrite to discard them, or another --pool",
      path, found.kept.size(), run ? problem_of(*run) : "of an unknown problem", newest.iteration);
}

/// The differences between the problems of two runs, such as "solver jacobi instead of pagerank" (`here` instead of
/// `kept`).
std::string differences(const RunDescription& kept, const RunDescription& here) {
  std::vector<std::string> found;
  const auto compare = [&found](std::string_view what, const auto& in_pool, const auto& given) {
    if (in_pool != given) found.push_back(fmt::format("{} {} instead of {}", what, given, in_pool));
  };
  const auto compare_texts = [&compare](std::string_view what, std::string_view in_pool, std::string_view given) {
    compare(what, in_pool.empty() ? "none" : in_pool, given.empty() ? "none" : given);
  };
  compare_texts("solver", text_of(kept.solver), text_of(here.solver));
  compare_texts("parameters", text_of(kept.parameters), text_of(here.parameters));
  compare("rows", kept.entries, here.entries);
  compare("nonzeros", kept.nonzeros, here.nonzeros);
  // The file may have another path, or its content may have changed.
  if (found.empty()) compare_texts("problem", text_of(kept.matrix), text_of(here.matrix));
  if (found.empty()) {
    const std::string_view problem = text_of(here.matrix);
    found.push_back(problem.empty() ? std::string("different content of the problem (problem_bytes)")
                                    : fmt::format("different content of {} (its file or problem_bytes differs), or a "
                                                  "release that adds the numbers in another order",
                                                  problem));
  }
  return fmt::format("{}", fmt::join(found, ", "));
}

/// The scalars of a run's steps, in order.
std::vector<Scalar> scalars_of(const RunReading& reading, const Schema& schema, const std::string& pool) {
  try {
    const Catalogue catalogue = Catalogue::decode(schema, reading.catalogue, pool + ": damaged pool: its run table");
    return {catalogue.scalars().begin(), catalogue.scalars().end()};
  } catch (const Error& error) {
    throw Error(ExitCode::kDamaged, error.what());
  }
}

/// Throws Error unless the scalars that both runs have are the same, in the same order. This is necessary because a
/// step stores the values of scalars without their names.
void check_scalars(const std::vector<Scalar>& kept, const std::vector<Scalar>& here, const RingGeometry& geometry,
                   const std::string& pool) {
  const auto describe = [](const Scalar& scalar) {
    return fmt::format("'{}' ({})", scalar.name, to_string(scalar.type));
  };
  for (std::size_t s = 0; s < std::min(kept.size(), here.size()); ++s) {
    if (kept[s].name == here[s].name && kept[s].type == here[s].type) continue;
    throw usage_error(
        "{}: --resume: this run has {} instead of {} as scalar {}; keep the order of the scalars and add further ones "
        "at the end, or give --overwrite to begin anew",
        pool, describe(here[s]), describe(kept[s]), s);
  }
  if (here.size() > geometry.shape.scalar_words) {
    throw usage_error(
        "{}: --resume: this run has {} scalars, but the pool has room for {}; publish fewer, or give --overwrite to "
        "begin anew",
        pool, here.size(), geometry.shape.scalar_words);
  }
}

/// The newest description of the run to which `newest` belongs. Throws Error if the offered run may not continue that
/// run.
RunReading resumable(const RingView& ring, const SlotHeader& newest, const OfferedRun& offered,
                     const RingOptions& options) {
  const RunDescription& run = offered.run;
  std::optional<RunReading> kept;
  for (RunReading& reading : ring.runs()) {
    if (reading.run.run_id == newest.run_id) kept = std::move(reading);
  }
  if (!kept) {
    throw damage_error(
        "{}: --resume: the description of the run of iteration {} is damaged, so its problem is unknown; `ringside "
        "export` can read the iterate",
        options.pool, newest.iteration);
  }
  const Schema& schema = ring.geometry().schema();
  if (kept->run.schema_id != run.schema_id && !(schema.is_x_only() && offered.schema.is_x_only())) {
    throw usage_error(
        "{}: --resume: the steps in the pool have different variables: this run has {}; give the options of the pool's "
        "run, --overwrite (pool_use in a program) to begin anew, or another --pool",
        options.pool, difference(schema, offered.schema));
  }
  if (kept->run.problem_id != run.problem_id || kept->run.schema_id != run.schema_id) {
    throw usage_error(
        "{}: --resume: the iterates in the pool belong to another problem: this run has {}; give the options of the "
        "pool's run, --overwrite (pool_use in a program) to begin anew, or another --pool",
        options.pool, differences(kept->run, run));
  }
  check_scalars(scalars_of(*kept, schema, options.pool), offered.scalars, ring.geometry(), options.pool);
  if (options.slots_given && options.slots != ring.geometry().slot_count()) {
    throw usage_error("{}: --slots: found {} with --resume, expected the pool's {}", options.pool, options.slots,
                      ring.geometry().slot_count());
  }
  return *kept;
}

Error cannot_resume_older(const std::string& pool) {
  const std::uint32_t version = RingReader::open(pool).ring().geometry().version;
  return usage_error(
      "{}: --resume: the pool has format {}, but this release writes format {}; the pool can be read (ringside info, "
      "verify, replay, export); continue its run with release 0.2, or give another --pool",
      pool, version, kRingVersion);
}

/// Whether the newest iterate of the ring at `path` belongs to run `run_id`, even if no analyzer can own the ring.
bool holds_iterates_of(const Id128& run_id, const std::string& path) {
  const Recovery found = RingReader::open(path).recover();
  return !found.kept.empty() && found.kept.back().header.run_id == run_id;
}

Foreign foreign_of(const RingOptions& options) {
  return options.foreign_pool ? Foreign::kAllowed : Foreign::kRefused;
}

void refuse_foreign_place(const RingOptions& options) {
  if (!options.foreign_pool) refuse_foreign_links(options.pool);
}

/// A path that may not be inspected counts as existing. The reason is then reported when the pool is opened.
bool is_missing(const fs::path& path) {
  std::error_code error;
  return fs::status(path, error).type() == fs::file_type::not_found;
}

Error dangling(const std::string& path) {
  std::error_code error;
  const fs::path target = fs::read_symlink(path, error);
  return usage_error("{}: is a symbolic link to '{}', which does not exist; expected a pool, or a path with no file",
                     path, target.string());
}

/// Throws Error if no pool can be made at `path`.
void check_folder_of(const fs::path& path) {
  const std::string folder = folder_of(path.string());
  if (access(folder.c_str(), W_OK | X_OK) == 0) return;
  const int error = errno;
  throw system_error("--pool: cannot make '{}': {}{}; expected a file in a writable folder", path.string(),
                     errno_text(error), owner_and_mode(folder));
}

}  // namespace

void refuse_foreign_iterates(const RingOptions& options) {
  const std::string& path = options.pool;
  refuse_foreign_place(options);
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 && is_missing(path)) {
    if (fs::is_symlink(path)) throw dangling(path);
    return;
  }
  if (!options.foreign_pool && S_ISREG(status.st_mode)) refuse_foreign_file(status, path);
  if (has_owner(path)) throw in_use(path);  // neither --resume nor --overwrite would help
  const RingReader reader = RingReader::open(path, std::chrono::milliseconds(0));
  if (reader.ring().geometry().version != kRingVersion) throw older_pool(reader.ring().geometry().version, path);
  refuse_iterates_in(reader.ring(), path);
}

void check_pool(const RingOptions& options) {
  refuse_foreign_place(options);
  if (is_missing(options.pool)) {
    if (fs::is_symlink(options.pool)) throw dangling(options.pool);
    return check_folder_of(options.pool);
  }
  try {
    RingPool::open(options.pool, foreign_of(options));
  } catch (const UnfinishedPoolError&) {
  } catch (const UnownablePoolError&) {
  } catch (const OlderPoolError&) {
  }
}

namespace {

Admission find_ring(const RingOptions& options, const OfferedRun& offered, PoolUse use) {
  const RunDescription& run = offered.run;
  const auto fresh = [&run](RingPool pool) { return Admission{std::move(pool), RunStart::kEmpty, run, {}}; };
  const auto replaced = [&run](RingPool pool, std::vector<RecordedStep> replaced_steps) {
    return Admission{std::move(pool), RunStart::kEmpty, run, std::move(replaced_steps)};
  };
  refuse_foreign_place(options);
  const Foreign foreign = foreign_of(options);
  const Catalogue catalogue = catalogue_of(offered.schema, offered.scalars, offered.plug_ins);
  const RingShape wanted = RingShape::of(offered.schema, catalogue);
  const auto replaced_unownable = [&] {
    std::vector<RecordedStep> replaced_steps = kept_steps(RingReader::open(options.pool).ring());
    return replaced(RingPool::replace_unownable(options.pool, wanted, options.slots, foreign),
                    std::move(replaced_steps));
  };
  if (is_missing(options.pool)) {
    try {
      return fresh(RingPool::create(options.pool, wanted, options.slots, foreign));
    } catch (const PoolExistsError&) {  // another process has made one first: it is treated like any other
      if (fs::is_symlink(options.pool) && is_missing(options.pool)) throw dangling(options.pool);
    }
  }
  std::optional<RingPool> pool;
  try {
    pool = RingPool::open(options.pool, foreign);
  } catch (const UnfinishedPoolError&) {
    if (use == PoolUse::kFresh) throw;
    return fresh(RingPool::replace_unfinished(options.pool, wanted, options.slots, foreign));
  } catch (const UnownablePoolError&) {
    // When a run attaches again after its analyzer was lost, it repeats --overwrite. The run must not overwrite its own
    // iterates.
    if (use != PoolUse::kOverwrite || holds_iterates_of(run.run_id, options.pool)) throw;
    return replaced_unownable();
  } catch (const OlderPoolError&) {
    if (use == PoolUse::kResume) throw cannot_resume_older(options.pool);
    if (use != PoolUse::kOverwrite) throw;
    return replaced_unownable();
  }

  const bool may_replace = use == PoolUse::kOverwrite || use == PoolUse::kResume;
  const Recovery found = recover(pool->ring());
  if (!found.kept.empty()) {
    const SlotHeader& newest = found.kept.back().header;
    const auto own = newest.run_id == run.run_id ? pool->ring().run(run.run_id) : std::nullopt;
    if (own && own->problem_id == run.problem_id && own->schema_id == run.schema_id)
      return {std::move(*pool), RunStart::kTakeover, *own, {}};
    if (use == PoolUse::kResume) {
      const RunDescription resumed = resumable(pool->ring(), newest, offered, options).run;
      return {std::move(*pool), RunStart::kResume, resumed, {}};
    }
    if (!may_replace) refuse_iterates_in(pool->ring(), options.pool);
  }

  const RingGeometry& shape = pool->ring().geometry();
  const std::string lacks = shape.lacks_room_for(catalogue);
  const bool fits =
      shape.schema() == wanted.schema && lacks.empty() && (!options.slots_given || shape.slot_count() == options.slots);
  if (fits) return {std::move(*pool), found.kept.empty() ? RunStart::kEmpty : RunStart::kCleared, run, {}};
  if (!may_replace && shape.schema() == wanted.schema && !lacks.empty()) {
    throw usage_error("{}: the pool has {}; give --overwrite, or another --pool", options.pool, lacks);
  }
  if (!may_replace) {
    throw usage_error("{}: the pool has {} slots for {}, this run needs {} for {}; give --overwrite, or another --pool",
                      options.pool, shape.slot_count(), to_text(shape.schema()), options.slots, to_text(wanted.schema));
  }
  std::vector<RecordedStep> replaced_steps = kept_steps(pool->ring());
  return replaced(RingPool::replace(options.pool, std::move(*pool), wanted, options.slots, foreign),
                  std::move(replaced_steps));
}

}  // namespace

Admission admit(const RingOptions& options, const OfferedRun& offered, PoolUse use) {
  // This is checked for each run, because the file system may have been unmounted since the service began, so that its
  // mount point is now a plain folder.
  if (options.require_dax) require_dax(options.pool);
  Admission admission = find_ring(options, offered, use);
  if (options.require_dax && !persists_in_place(admission.pool.storage())) {
    throw system_error(
        "{}: --require-dax: libpmemobj mapped the pool without MAP_SYNC, although an earlier mapping had MAP_SYNC; "
        "expected MAP_SYNC in both (`ringside doctor` reports what this node offers)",
        options.pool);
  }
  return admission;
}

}  // namespace ringside
