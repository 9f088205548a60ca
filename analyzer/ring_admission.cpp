#include "analyzer/ring_admission.hpp"

#include <filesystem>

#include "analyzer/ring_reader.hpp"
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

}  // namespace

void refuse_foreign_iterates(const std::string& path) {
  if (!fs::exists(path)) return;
  refuse_iterates_in(RingReader::open(path).ring(), path);
}

RingPool admit(const RingOptions& options, std::uint64_t rows, bool may_overwrite) {
  if (!fs::exists(options.pool)) return RingPool::create(options.pool, rows, options.slots);

  RingPool pool = RingPool::open(options.pool);
  const RingGeometry& shape = pool.ring().geometry();
  if (!may_overwrite) refuse_iterates_in(pool.ring(), options.pool);
  const bool fits = shape.rows == rows && (!options.slots_given || shape.slot_count() == options.slots);
  if (fits) return pool;
  if (!may_overwrite) {
    throw usage_error("{}: the pool has {} slots of {} rows, this run needs {} of {}; give --overwrite, or another --pool",
                      options.pool, shape.slot_count(), shape.rows, options.slots, rows);
  }
  { const RingPool closed = std::move(pool); }  // its lock goes before its file does
  fs::remove(options.pool);
  return RingPool::create(options.pool, rows, options.slots);
}

}  // namespace ringside
