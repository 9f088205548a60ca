/* SPDX-License-Identifier: BSD-3-Clause */
/* publish_boxes STEPS SPREAD: each entry's value contains its index, so that a test can check its place. SPREAD:
 *   cubes      8 ranks with a box each, 2 in each dimension
 *   backwards  the same boxes, the last one on the first rank
 *   rows       a block of rows for each rank
 *   reversed   the same in a communicator in which the last rank is the first
 *   late       rows, and the first rank publishes a step only after the others have read it as their previous step
 * The program itself checks what the library returns: the previous step, the kept step after a resume, and the state of
 * the whole run. Its last line has the iteration up to which all nodes have the steps on their media, according to
 * ringside_mpi_progress. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ringside_mpi.h"

enum { DIMS = 3, BASIS = 3 };

static const uint64_t shape[DIMS] = {6, 5, 7};
static ringside_mpi_part part = {.size = sizeof part};

static void die(const char* line) {
  fprintf(stderr, "publish_boxes: %s\n", line);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Extent i of `count` blocks of n entries, which need not be equal. */
static void block(uint64_t n, uint64_t i, uint64_t count, int dim) {
  part.offset[dim] = i * n / count;
  part.extent[dim] = (i + 1) * n / count - part.offset[dim];
}

/* Writes step k to p and id, or compares it with their content. */
static int each_entry(float* p, int64_t* id, uint64_t k, int compare) {
  int equal = 1;
  size_t at = 0;
  for (uint64_t a = 0; a < part.extent[0]; ++a)
    for (uint64_t b = 0; b < part.extent[1]; ++b)
      for (uint64_t c = 0; c < part.extent[2]; ++c, ++at) {
        const uint64_t index =
            ((part.offset[0] + a) * shape[1] + part.offset[1] + b) * shape[2] + part.offset[2] + c;
        const float value = (float)index + 0.5F * (float)k;
        const int64_t number = (int64_t)(index * 1000000000000000 + k);
        if (compare) {
          equal = equal && p[at] == value && id[at] == number;
        } else {
          p[at] = value;
          id[at] = number;
        }
      }
  return equal;
}

/* The state of the whole run. Checks that it did not go back, and that neither the media are ahead of the rings nor
 * the rings ahead of the ranks. */
static ringside_mpi_state progress(ringside_mpi_writer* run, uint64_t k, const ringside_mpi_state* before) {
  ringside_mpi_state now = {.size = sizeof now};
  if (ringside_mpi_progress(run, &now)) die("no progress");
  if (now.global_iteration > k || now.global_persisted > now.global_iteration) die("counters are ahead of the steps");
  if (now.global_iteration < before->global_iteration || now.global_persisted < before->global_persisted)
    die("counters went back");
  return now;
}

int main(int argc, char** argv) {
  int provided, rank, ranks;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  if (argc != 3) die("expected STEPS and how the entries are spread");
  const uint64_t steps = strtoull(argv[1], NULL, 10);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm all;
  MPI_Comm_split(MPI_COMM_WORLD, 0, strcmp(argv[2], "reversed") == 0 ? -rank : rank, &all);
  MPI_Comm_rank(all, &rank);
  MPI_Comm_size(all, &ranks);

  if (strcmp(argv[2], "cubes") == 0 || strcmp(argv[2], "backwards") == 0) {
    const int cube = argv[2][0] == 'c' ? rank : ranks - 1 - rank;
    if (ranks != 8) die("expected 8 ranks");
    for (int dim = 0; dim < DIMS; ++dim) block(shape[dim], (uint64_t)(cube >> (2 - dim) & 1), 2, dim);
  } else {
    for (int dim = 0; dim < DIMS; ++dim) block(shape[dim], dim ? 0 : (uint64_t)rank, dim ? 1 : (uint64_t)ranks, dim);
  }

  ringside_variable variables[3] = {
      {.size = sizeof variables[0], .dtype = RINGSIDE_F32, .name = "p", .dims = DIMS, .shape = {6, 5, 7}},
      {.size = sizeof variables[0], .dtype = RINGSIDE_I64, .name = "id", .dims = DIMS, .shape = {6, 5, 7}},
      {.size = sizeof variables[0], .dtype = RINGSIDE_F64, .role = RINGSIDE_ROLE_STATE, .name = "basis", .dims = 1,
       .shape = {BASIS}}};
  ringside_mpi_part parts[3] = {part, part, {.size = sizeof part, .distribution = RINGSIDE_MPI_REPLICATED}};
  ringside_scalar sweeps = {.size = sizeof sweeps, .type = RINGSIDE_VALUE_I64, .name = "sweeps"};
  ringside_writer_options options = {.size = sizeof options, .solver = "boxes"};
  ringside_error error = {.size = sizeof error};
  ringside_mpi_writer* run;
  if (ringside_mpi_attach(all, &options, variables, parts, 3, &sweeps, 1, &run, &error)) die(error.line);

  uint64_t k = 0;
  const void* kept[3];
  size_t bytes[3];
  if (ringside_mpi_kept(run, &k) == RINGSIDE_OK) {
    for (uint32_t v = 0; v < 3; ++v)
      if (ringside_mpi_kept_variable(run, v, &kept[v], &bytes[v])) die("a kept variable is missing");
    ringside_value value;
    if (!each_entry((float*)kept[0], (int64_t*)kept[1], k, 1)) die("the kept step differs");
    if (bytes[2] != BASIS * sizeof(double) || *(const double*)kept[2] != (double)k) die("the kept basis differs");
    if (ringside_mpi_kept_scalar(run, 0, &value) || value.i64 != (int64_t)(2 * k)) die("the kept scalar differs");
  }
  ringside_mpi_state state = {.size = sizeof state};
  while (k < steps) {
    if (ringside_mpi_claim(run)) die(ringside_mpi_error(run)->line);
    const void* p = ringside_mpi_previous(run, 0);
    const void* id = ringside_mpi_previous(run, 1);
    const double* before = ringside_mpi_previous(run, 2);
    if (k > 0 && (!p || !id || !before || before[0] != (double)k || !each_entry((float*)p, (int64_t*)id, k, 1)))
      die("the step before differs");
    ++k;
    if (strcmp(argv[2], "late") == 0 && rank > 0 && k > 1) MPI_Send(NULL, 0, MPI_INT, 0, 0, all);
    for (int other = 1; strcmp(argv[2], "late") == 0 && rank == 0 && k < steps && other < ranks; ++other)
      MPI_Recv(NULL, 0, MPI_INT, other, 0, all, MPI_STATUS_IGNORE);
    each_entry(ringside_mpi_buffer(run, 0), ringside_mpi_buffer(run, 1), k, 0);
    double* basis = ringside_mpi_buffer(run, 2);
    for (int i = 0; i < BASIS; ++i) basis[i] = (double)k + i;
    const ringside_value value = {.i64 = (int64_t)(2 * k)};
    if (ringside_mpi_publish(run, k, &value, 1)) die(ringside_mpi_error(run)->line);
    state = progress(run, k, &state);
    uint64_t none;
    if (ringside_mpi_kept(run, &none) != RINGSIDE_ABSENT) die("a step is kept after the first publish");
  }
  if (ringside_mpi_detach(run, RINGSIDE_OUTCOME_FINISHED)) die(ringside_mpi_error(run)->line);
  state = progress(run, k, &state);
  if (state.global_iteration != k) die("not all is committed after the detach");
  ringside_mpi_free(run);
  uint64_t persisted = state.global_persisted;
  MPI_Bcast(&persisted, 1, MPI_UINT64_T, 0, all);
  if (persisted != state.global_persisted) die("the ranks differ in what is persisted");
  if (rank == 0) printf("publish_boxes: %llu steps, persisted up to %llu\n", (unsigned long long)k, (unsigned long long)persisted);
  MPI_Comm_free(&all);
  MPI_Finalize();
  return 0;
}
