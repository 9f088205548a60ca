/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost of keeping each step of a solver of several MPI ranks: Jacobi's iteration on a plate, of which each rank has
 * a block of rows (as examples/publish_mpi.c), with several sweeps a step. `none` keeps nothing, `one` is one process
 * that keeps each step with libringside, `ranks` keeps each step with libringside_mpi. Prints the seconds per step of
 * the slowest rank.
 *     bench_ranks none|one|ranks COLUMNS ROWS_OF_RANK SWEEPS STEPS
 */
#include <mpi.h>
#include <ringside.h>
#include <ringside_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum way { NONE, ONE, RANKS };

struct plate {
  size_t columns, rows;
  int above, below; /* ranks */
  double *row_above, *row_below;
};

static void die(const char* what, const char* line) {
  fprintf(stderr, "bench_ranks: %s: %s\n", what, line);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static double* zeros(size_t entries) {
  double* made = calloc(entries, sizeof(double));
  if (made == NULL) die("memory", "there is not enough");
  return made;
}

static void sweep(const struct plate* plate, const double* x, double* next) {
  const int n = (int)plate->columns;
  const double* last = x + (plate->rows - 1) * plate->columns;
  MPI_Sendrecv(x, n, MPI_DOUBLE, plate->above, 0, plate->row_below, n, MPI_DOUBLE, plate->below, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(last, n, MPI_DOUBLE, plate->below, 0, plate->row_above, n, MPI_DOUBLE, plate->above, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  for (size_t i = 0; i < plate->rows; ++i) {
    const double* row = x + i * plate->columns;
    const double* up = i > 0 ? row - plate->columns : plate->row_above;
    const double* down = i + 1 < plate->rows ? row + plate->columns : plate->row_below;
    double* to = next + i * plate->columns;
    to[0] = 0.25 * (up[0] + down[0] + row[1]);
    for (size_t j = 1; j + 1 < plate->columns; ++j) to[j] = 0.25 * (up[j] + down[j] + row[j - 1] + row[j + 1]);
    to[n - 1] = 0.25 * (up[n - 1] + down[n - 1] + row[n - 2]);
  }
}

int main(int argc, char** argv) {
  int provided, rank, ranks;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 6) die("arguments", "expected none|one|ranks COLUMNS ROWS_OF_RANK SWEEPS STEPS");
  const enum way way = strcmp(argv[1], "none") == 0 ? NONE : strcmp(argv[1], "one") == 0 ? ONE : RANKS;
  struct plate plate = {.columns = strtoul(argv[2], NULL, 10), .rows = strtoul(argv[3], NULL, 10),
                        .above = rank > 0 ? rank - 1 : MPI_PROC_NULL, .below = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL};
  const int sweeps = atoi(argv[4]);
  const int steps = atoi(argv[5]);
  plate.row_above = zeros(plate.columns);
  plate.row_below = zeros(plate.columns);
  for (size_t j = 0; rank == 0 && j < plate.columns; ++j) plate.row_above[j] = 100;
  double* own[2] = {zeros(plate.rows * plate.columns), zeros(plate.rows * plate.columns)};

  ringside_error error = {.size = sizeof error};
  ringside_variable u = {.size = sizeof u, .dtype = RINGSIDE_F64, .name = "u", .dims = 2,
                         .shape = {plate.rows * (uint64_t)ranks, plate.columns}};
  ringside_mpi_part part = {.size = sizeof part, .offset = {plate.rows * (uint64_t)rank, 0},
                            .extent = {plate.rows, plate.columns}};
  ringside_writer* writer = NULL;
  ringside_mpi_writer* part_writer = NULL;
  if (way == ONE && ringside_writer_attach(NULL, &u, 1, NULL, 0, &writer, &error)) die("attach", error.line);
  if (way == RANKS && ringside_mpi_attach(MPI_COMM_WORLD, NULL, &u, &part, 1, NULL, 0, &part_writer, &error)) {
    die("attach", error.line);
  }

  const double* x = own[0];
  double begun = 0;
  for (int k = 0; k <= steps; ++k) {
    if (k == 1) { /* the first step touches the memory */
      MPI_Barrier(MPI_COMM_WORLD);
      begun = MPI_Wtime();
    }
    double* last = own[k % 2];
    if (way == ONE) {
      if (ringside_writer_claim(writer)) die("claim", ringside_writer_error(writer)->line);
      last = ringside_writer_buffer(writer, 0);
    } else if (way == RANKS) {
      if (ringside_mpi_claim(part_writer)) die("claim", ringside_mpi_error(part_writer)->line);
      last = ringside_mpi_buffer(part_writer, 0);
    }
    /* The sweeps before the last one use the rank's own memory; with NONE, all sweeps do. */
    for (int s = 1; s < sweeps; ++s) {
      double* to = own[0] == x ? own[1] : own[0];
      sweep(&plate, x, to);
      x = to;
    }
    if (x == last) last = own[0] == x ? own[1] : own[0];
    sweep(&plate, x, last);
    x = last;
    if (way == ONE) ringside_writer_publish(writer, (uint64_t)k + 1, NULL, 0);
    if (way == RANKS) ringside_mpi_publish(part_writer, (uint64_t)k + 1, NULL, 0);
  }
  double seconds = (MPI_Wtime() - begun) / steps;
  double slowest = 0;
  MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (way == ONE && ringside_writer_detach(writer, RINGSIDE_OUTCOME_FINISHED)) die("detach", ringside_writer_error(writer)->line);
  if (way == RANKS && ringside_mpi_detach(part_writer, RINGSIDE_OUTCOME_FINISHED)) die("detach", ringside_mpi_error(part_writer)->line);
  ringside_writer_free(writer);
  ringside_mpi_free(part_writer);
  if (rank == 0) printf("%.9f\n", slowest);
  MPI_Finalize();
  return 0;
}
