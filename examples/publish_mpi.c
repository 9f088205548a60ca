/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A solver of several MPI ranks that keeps every step (docs/publish/mpi.md). Against an installed library, in any folder:
 *     mpicc -o publish_mpi publish_mpi.c $(pkg-config --cflags --libs ringside-mpi)
 *     ringside run --ranks 4 --pool heat.pool -- ./publish_mpi 500 2000
 *     ringside run --ranks 4 --pool heat.pool --resume -- ./publish_mpi 500 3000
 * The solver is Jacobi's iteration for Laplace's equation on a square plate: each point becomes the mean of its four
 * neighbours. The temperature is 100 K above the plate, and 0 K at its other edges. Each rank has a block of rows, and
 * needs one row of the rank above it and one of the rank below. No rank has its own array: it computes each iterate in
 * a buffer of the library, from the previous iterate.
 */
#include <mpi.h>
#include <ringside_mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* A row of the next iterate from three of this one; the largest change of a point. */
static double relax_row(int n, const double* above, const double* row, const double* below, double* next) {
  double change = 0;
  for (int j = 0; j < n; ++j) {
    const double left = j > 0 ? row[j - 1] : 0;
    const double right = j + 1 < n ? row[j + 1] : 0;
    next[j] = 0.25 * (above[j] + below[j] + left + right);
    const double by = next[j] > row[j] ? next[j] - row[j] : row[j] - next[j];
    if (by > change) change = by;
  }
  return change;
}

/* Ends the job because of an error of one rank, for which the other ranks would wait in MPI. */
static void abort_job(const ringside_error* error) {
  fprintf(stderr, "%s\n", error->line);
  MPI_Abort(MPI_COMM_WORLD, error->status);
}

/* Ends this rank because of an error that all ranks have. */
static int fail(int rank, const ringside_error* error) {
  if (rank == 0) fprintf(stderr, "%s\n", error->line);
  MPI_Finalize();
  return error->status;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 200;
  const uint64_t iterations = argc > 2 ? strtoull(argv[2], NULL, 10) : 200;
  int provided, rank, ranks;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  /* If the rows are no multiple of the ranks, the first ranks have one more. With few rows, some ranks have none. */
  const int rows = n / ranks + (rank < n % ranks);
  const int first = n / ranks * rank + (rank < n % ranks ? rank : n % ranks);
  const int rank_above = rows > 0 && first > 0 ? rank - 1 : MPI_PROC_NULL;
  const int rank_below = rows > 0 && first + rows < n ? rank + 1 : MPI_PROC_NULL;
  double* zeros = calloc((size_t)rows * (size_t)n + 1, sizeof(double)); /* the iterate before the first one */
  double* above = calloc((size_t)n + 1, sizeof(double));                /* the row above the rank's own */
  double* below = calloc((size_t)n + 1, sizeof(double));
  for (int j = 0; rank == 0 && j < n; ++j) above[j] = 100;

  ringside_variable u = {.size = sizeof u, .dtype = RINGSIDE_F64, .name = "u", .unit = "K", .dims = 2,
                         .shape = {(uint64_t)n, (uint64_t)n}};
  ringside_mpi_part part = {.size = sizeof part, .offset = {(uint64_t)first, 0},
                            .extent = {(uint64_t)rows, (uint64_t)n}};
  ringside_scalar largest = {.size = sizeof largest, .name = "residual", .unit = "K"};
  ringside_error error = {.size = sizeof error};
  ringside_mpi_writer* run;
  if (ringside_mpi_attach(MPI_COMM_WORLD, NULL, &u, &part, 1, &largest, 1, &run, &error)) return fail(rank, &error);

  uint64_t k = 0;
  ringside_value residual = {.f64 = 0};
  const void* kept = zeros;
  if (ringside_mpi_kept(run, &k) == RINGSIDE_OK) {
    ringside_mpi_kept_variable(run, 0, &kept, NULL);
    ringside_mpi_kept_scalar(run, 0, &residual);
  }
  const uint64_t begun_after = k;

  while (k < iterations) {
    if (ringside_mpi_claim(run)) abort_job(ringside_mpi_error(run));
    const double* x = k > begun_after ? ringside_mpi_previous(run, 0) : kept;
    double* next = ringside_mpi_buffer(run, 0);
    const double* last = rows > 0 ? x + (size_t)(rows - 1) * (size_t)n : x;
    MPI_Sendrecv(x, n, MPI_DOUBLE, rank_above, 0, below, n, MPI_DOUBLE, rank_below, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(last, n, MPI_DOUBLE, rank_below, 0, above, n, MPI_DOUBLE, rank_above, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    double most = 0;
    for (int i = 0; i < rows; ++i, x += n, next += n) {
      const double by = relax_row(n, i > 0 ? x - n : above, x, i + 1 < rows ? x + n : below, next);
      if (by > most) most = by;
    }
    /* A maximum, unlike a sum, has the same bits for any number of ranks. */
    MPI_Allreduce(&most, &residual.f64, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (ringside_mpi_publish(run, ++k, &residual, 1)) abort_job(ringside_mpi_error(run));
  }

  if (ringside_mpi_detach(run, RINGSIDE_OUTCOME_FINISHED)) return fail(rank, ringside_mpi_error(run));
  ringside_mpi_free(run);
  if (rank == 0) {
    printf("publish_mpi: iteration %llu, residual %.17g K, ", (unsigned long long)k, residual.f64);
    if (begun_after > 0) printf("resumed from iteration %llu\n", (unsigned long long)begun_after);
    else printf("begun anew\n");
  }
  free(zeros);
  free(above);
  free(below);
  MPI_Finalize();
  return 0;
}
