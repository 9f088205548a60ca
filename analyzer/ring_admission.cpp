#include "analyzer/ring_admission.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "analyzer/ring_reader.hpp"
#include "analyzer/ring_recovery.hpp"
#include "common/error.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

void refuse_iterates_in(const RingView& ring, const std::string& path) {
  const Recovery kept = recover(ring);
  if (kept.kept.empty()) return;
  const SlotHeader& newest = kept.kept.back().header;
  const auto run = ring.run(newest.run_id);
  throw usage_error(
      "{}: the pool holds {} iterates of another run ({}, newest iteration {}); give --overwrite to let them go, or "
      "another --pool",
      path, kept.kept.size(), run ? text_of(run->matrix) : "of an unknown matrix", newest.iteration);
}

/// A place that may not be looked at counts as there: opening the pool then says why not.
bool is_missing(const fs::path& path) {
  std::error_code error;
  return fs::status(path, error).type() == fs::file_type::not_found;
}

}  // namespace

void refuse_foreign_iterates(const std::string& path) {
  if (is_missing(path)) return;
  refuse_iterates_in(RingReader::open(path).ring(), path);
}

void check_pool(const std::string& path) {
  if (is_missing(path)) return;
  try {
    RingPool::open(path);
  } catch (const UnfinishedPoolError&) {
  } catch (const UnownablePoolError&) {
  }
}

RingPool admit(const RingOptions& options, std::uint64_t rows, bool may_overwrite) {
  if (is_missing(options.pool)) return RingPool::create(options.pool, rows, options.slots);

  std::optional<RingPool> pool;
  try {
    pool = RingPool::open(options.pool);
  } catch (const UnfinishedPoolError&) {
    if (!may_overwrite) throw;
    return RingPool::replace_unfinished(options.pool, rows, options.slots);
  } catch (const UnownablePoolError&) {
    if (!may_overwrite) throw;
    return RingPool::replace_unownable(options.pool, rows, options.slots);
  }
  const RingGeometry& shape = pool->ring().geometry();
  if (!may_overwrite) refuse_iterates_in(pool->ring(), options.pool);
  const bool fits = shape.rows == rows && (!options.slots_given || shape.slot_count() == options.slots);
  if (fits) return std::move(*pool);
  if (!may_overwrite) {
    throw usage_error(
        "{}: the pool has {} slots of {} rows, this run needs {} of {}; give --overwrite, or another --pool",
        options.pool, shape.slot_count(), shape.rows, options.slots, rows);
  }
  return RingPool::replace(options.pool, std::move(*pool), rows, options.slots);
}

}  // namespace ringside
