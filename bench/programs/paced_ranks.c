/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A solver of several MPI ranks whose iterations take a given time: each rank sleeps, so that ranks of several nodes
 * and their analyzers fit a machine with few cores. Each step is kept with libringside_mpi. Prints one JSON object: the
 * time of a message between ranks 0 and 1, and for each rank the mean and the standard deviation of its iterations, the
 * mean time that a collective call, a claim and a publish took, the time of a step, and the median of its publishes.
 * bench_paced_ranks all|none MS SPREAD STEPS ENTRIES_OF_RANK
 */
#include <math.h>
#include <mpi.h>
#include <ringside.h>
#include <ringside_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MESSAGES = 200, FIGURES = 7 };

static void die(const char* what, const char* line) {
  fprintf(stderr, "bench_paced_ranks: %s: %s\n", what, line);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static int by_value(const void* a, const void* b) {
  const double one = *(const double*)a;
  const double other = *(const double*)b;
  return (one > other) - (one < other);
}

/* Exponentially distributed, with the mean 1. */
static double drawn(unsigned* seed) {
  return -log(((double)rand_r(seed) + 0.5) / ((double)RAND_MAX + 1));
}

static void pause_for(double seconds) {
  struct timespec length = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - floor(seconds)) * 1e9)};
  nanosleep(&length, NULL);
}

/* Half of a round trip between ranks 0 and 1, on average; 0 without rank 1. */
static double message_s(int rank, int ranks) {
  if (ranks == 1) return 0;
  double all = 0;
  char bytes[24] = {0};
  for (int i = 0; i < MESSAGES; ++i) {
    const double begun = MPI_Wtime();
    if (rank == 0) {
      MPI_Send(bytes, sizeof bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
      MPI_Recv(bytes, sizeof bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
      MPI_Recv(bytes, sizeof bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(bytes, sizeof bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
    all += (MPI_Wtime() - begun) / 2;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return all / MESSAGES;
}

int main(int argc, char** argv) {
  int provided, rank, ranks;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 6) die("arguments", "expected all|none MS SPREAD STEPS ENTRIES_OF_RANK");
  const int is_coupled = strcmp(argv[1], "all") == 0;
  const double mean = atof(argv[2]) * 1e-3;
  const double spread = atof(argv[3]);
  const int steps = atoi(argv[4]);
  const uint64_t entries = strtoull(argv[5], NULL, 10);
  unsigned seed = (unsigned)rank + 1;

  ringside_error error = {.size = sizeof error};
  ringside_variable x = {
      .size = sizeof x, .dtype = RINGSIDE_F64, .name = "x", .dims = 2, .shape = {(uint64_t)ranks, entries}};
  ringside_mpi_part part = {.size = sizeof part, .offset = {(uint64_t)rank, 0}, .extent = {1, entries}};
  ringside_mpi_writer* writer = NULL;
  if (ringside_mpi_attach(MPI_COMM_WORLD, NULL, &x, &part, 1, NULL, 0, &writer, &error)) die("attach", error.line);
  const double alpha = message_s(rank, ranks);

  /* In the order in which they are printed: the sums of the iterations, of their squares, and of the collective calls,
   * claims, publishes and whole steps; the median of a publish. */
  double sums[FIGURES] = {0};
  double* publishes = malloc((size_t)steps * sizeof(double));
  if (publishes == NULL) die("memory", "there is not enough for the publishes' times");
  const double begun = MPI_Wtime();
  for (int k = 0; k < steps; ++k) {
    const double at_claim = MPI_Wtime();
    if (ringside_mpi_claim(writer)) die("claim", ringside_mpi_error(writer)->line);
    const double at_work = MPI_Wtime();
    double* own = ringside_mpi_buffer(writer, 0);
    for (uint64_t i = 0; i < entries; ++i) own[i] = k;
    pause_for(mean * (1 - spread + spread * drawn(&seed)));
    const double at_call = MPI_Wtime();
    double largest = k;
    if (is_coupled) MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    const double at_publish = MPI_Wtime();
    if (ringside_mpi_publish(writer, (uint64_t)k + 1, NULL, 0)) die("publish", ringside_mpi_error(writer)->line);
    const double iteration = at_call - at_work;
    sums[0] += iteration;
    sums[1] += iteration * iteration;
    sums[2] += at_publish - at_call;
    sums[3] += at_work - at_claim;
    publishes[k] = MPI_Wtime() - at_publish;
    sums[4] += publishes[k];
  }
  sums[5] = MPI_Wtime() - begun;
  qsort(publishes, (size_t)steps, sizeof(double), by_value);
  sums[6] = publishes[steps / 2];
  free(publishes);
  if (ringside_mpi_detach(writer, RINGSIDE_OUTCOME_FINISHED)) die("detach", ringside_mpi_error(writer)->line);
  ringside_mpi_free(writer);

  double* all = malloc((size_t)ranks * sizeof sums);
  if (all == NULL) die("memory", "there is not enough for the ranks' figures");
  MPI_Gather(sums, FIGURES, MPI_DOUBLE, all, FIGURES, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("{\"alpha_s\": %.9f, \"ranks\": [", alpha);
    for (int r = 0; r < ranks; ++r) {
      const double* of = all + FIGURES * r;
      const double middle = of[0] / steps;
      const double square = of[1] / steps - middle * middle;
      printf("%s{\"iteration_s\": %.9f, \"deviation_s\": %.9f, \"coupling_s\": %.9f, \"claim_s\": %.9f, ",
             r > 0 ? ", " : "", middle, sqrt(square > 0 ? square : 0), of[2] / steps, of[3] / steps);
      printf("\"publish_s\": %.9f, \"step_s\": %.9f, \"median_publish_s\": %.9f}", of[4] / steps, of[5] / steps, of[6]);
    }
    printf("]}\n");
  }
  free(all);
  MPI_Finalize();
  return 0;
}
