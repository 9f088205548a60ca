/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A solver in C that keeps every step. Against an installed library, in any folder:
 *     cc -O2 -o publish publish.c $(pkg-config --cflags --libs ringside)
 *     ringside run --pool heat.pool -- ./publish 2000
 *     ringside run --pool heat.pool --resume -- ./publish 3000
 * The solver is explicit heat conduction on a rod. It has its own array x; the lines with "ringside" are added to keep
 * every step.
 */
#include <ringside.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 10000 };

static double x[POINTS];

static void heat_step(void) {
  double left = x[0];
  for (size_t i = 1; i + 1 < POINTS; ++i) {
    const double here = x[i];
    x[i] += 0.25 * (left - 2 * here + x[i + 1]);
    left = here;
  }
}

static int fail(const ringside_error* error) {
  fprintf(stderr, "%s\n", error->line);
  return error->status;
}

int main(int argc, char** argv) {
  const uint64_t iterations = argc > 1 ? strtoull(argv[1], NULL, 10) : 200;
  uint64_t k = 0;
  x[0] = 100;

  ringside_variable rod = {.size = sizeof rod, .dtype = RINGSIDE_F64, .name = "x", .unit = "K", .dims = 1, .shape = {POINTS}};
  ringside_error error = {.size = sizeof error};
  ringside_writer* run;
  if (ringside_writer_attach(NULL, &rod, 1, NULL, 0, &run, &error)) return fail(&error);
  const void* kept;
  if (!ringside_writer_kept(run, &k) && !ringside_writer_kept_variable(run, 0, &kept, NULL)) memcpy(x, kept, sizeof x);
  while (k < iterations) {  // your loop
    heat_step();          // your solver
    if (ringside_writer_put(run, ++k, (const void*[]){x}, NULL, 0)) return fail(ringside_writer_error(run));
  }
  if (ringside_writer_detach(run, RINGSIDE_OUTCOME_FINISHED)) return fail(ringside_writer_error(run));
  ringside_writer_free(run);
  return 0;
}
